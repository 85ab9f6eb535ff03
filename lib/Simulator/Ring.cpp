//===- Ring.cpp - The protocol of a ring -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ring.h"

#include "llvm/ADT/STLExtras.h"

using namespace fa::sim;

Ring::Ring(int64_t stageCount, unsigned producers, unsigned consumers)
    : stages(stageCount), acquires(producers), consumes(consumers) {
  for (Stage &stage : stages) {
    stage.producers.resize(producers);
    stage.consumers.resize(consumers);
  }
}

bool Ring::Stage::isFull() const {
  return use >= 0 && llvm::all_of(producers, [](auto &p) { return p.done; });
}

bool Ring::Stage::isFree() const {
  return use < 0 ||
         (isFull() && !consumers.empty() &&
          llvm::all_of(consumers, [](auto &c) { return c.released; }));
}

//===----------------------------------------------------------------------===//
// Filling
//===----------------------------------------------------------------------===//

bool Ring::canAcquire(unsigned producer) const {
  int64_t use = acquires[producer];
  return stageOf(use).use == use || stageOf(use).isFree();
}

int64_t Ring::acquire(unsigned producer, bool &isFirst) {
  int64_t use = acquires[producer]++;
  Stage &stage = stageOf(use);
  isFirst = stage.use != use;
  if (isFirst) {
    stage.use = use;
    llvm::fill(stage.producers, Producer());
    llvm::fill(stage.consumers, Consumer());
  }
  stage.producers[producer].acquired = true;
  return use;
}

std::string Ring::startCopy(int64_t use, unsigned producer) {
  Stage &stage = stageOf(use);
  if (stage.use != use)
    return "copies into a stage that it has not acquired: another block of the "
           "ring is there by now";
  if (stage.producers[producer].started)
    return "copies into a stage that it has filled already: each acquired "
           "stage takes one copy";
  stage.producers[producer].started = true;
  return "";
}

void Ring::finishCopy(int64_t use, unsigned producer) {
  stageOf(use).producers[producer].done = true;
}

bool Ring::isCopyStarted(int64_t use, unsigned producer) const {
  const Stage &stage = stageOf(use);
  return stage.use == use && stage.producers[producer].started;
}

llvm::SmallVector<unsigned> Ring::getMissingCopies(int64_t use) const {
  llvm::SmallVector<unsigned> missing;
  const Stage &stage = stageOf(use);
  for (unsigned producer = 0; producer < acquires.size(); ++producer)
    if (stage.use != use || !stage.producers[producer].done)
      missing.push_back(producer);
  return missing;
}

llvm::SmallVector<unsigned> Ring::getHolders(int64_t use) const {
  llvm::SmallVector<unsigned> holders;
  const Stage &stage = stageOf(use);
  if (stage.isFull() && stage.use == use)
    for (unsigned consumer = 0; consumer < consumes.size(); ++consumer)
      if (!stage.consumers[consumer].released)
        holders.push_back(consumer);
  return holders;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

bool Ring::canConsume(unsigned consumer) const {
  int64_t use = consumes[consumer];
  return stageOf(use).use == use && stageOf(use).isFull();
}

int64_t Ring::consume(unsigned consumer) {
  int64_t use = consumes[consumer]++;
  stageOf(use).consumers[consumer].consumed = true;
  return use;
}

bool Ring::isConsumed(int64_t use, unsigned consumer) const {
  const Stage &stage = stageOf(use);
  return stage.use == use && stage.consumers[consumer].consumed;
}

std::string Ring::checkRead(int64_t use, unsigned consumer) const {
  const Stage &stage = stageOf(use);
  if (stage.use != use || stage.consumers[consumer].released)
    return "reads a stage that it has released";
  if (!stage.consumers[consumer].consumed)
    return "reads a stage that is not full: it has not consumed it";
  return "";
}

std::string Ring::release(int64_t use, unsigned consumer, bool &isLast) {
  Stage &stage = stageOf(use);
  if (stage.use != use || stage.consumers[consumer].released)
    return "releases a stage twice";
  stage.consumers[consumer].released = true;
  isLast = stage.isFree();
  return "";
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

llvm::SmallVector<int64_t> Ring::getOpenUses() const {
  llvm::SmallVector<int64_t> uses;
  for (const Stage &stage : stages)
    if (!stage.isFree())
      uses.push_back(stage.use);
  return uses;
}

Ring::Open Ring::getState(int64_t use) const {
  const Stage &stage = stageOf(use);
  if (!stage.isFull())
    return Open::NotCopied;
  bool consumed =
      !stage.consumers.empty() &&
      llvm::all_of(stage.consumers, [](auto &c) { return c.consumed; });
  return consumed ? Open::NotReleased : Open::NotConsumed;
}
