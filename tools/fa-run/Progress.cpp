//===- Progress.cpp - Where a long run stands -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace fa::run;

/// Shorter phases are not worth a line.
static constexpr double kQuietSeconds = 2;

Progress::Progress(llvm::StringRef phase, bool isAsked)
    : phase(phase), isAsked(isAsked), isTerminal(llvm::errs().is_displayed()),
      start(std::chrono::steady_clock::now()) {
  if (isAsked || isTerminal)
    watcher = std::thread([this] { watch(); });
}

Progress::~Progress() {
  if (!watcher.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    isOver = true;
  }
  over.notify_one();
  watcher.join();
  if (isAsked || hasPrinted)
    print("\n");
}

void Progress::update(int64_t newDone, int64_t newTotal) {
  total = newTotal;
  // Threads may come in another order than their parts were counted.
  int64_t old = done;
  while (old < newDone && !done.compare_exchange_weak(old, newDone))
    ;
}

double Progress::getSeconds() const {
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  return taken.count();
}

/// A line, which the next one overwrites on a terminal.
void Progress::print(const char *end) {
  llvm::raw_ostream &stream = llvm::errs();
  stream << (isTerminal && hasPrinted ? "\r" : "") << "fa-run: " << phase;
  if (total > 0)
    stream << ", " << done << " of " << total << " parts";
  stream << llvm::format(", %.1f s", getSeconds()) << end;
  hasPrinted = true;
}

void Progress::watch() {
  std::unique_lock<std::mutex> lock(mutex);
  if (isAsked)
    print(isTerminal ? "" : "\n");
  while (!over.wait_for(lock, std::chrono::seconds(1), [&] { return isOver; }))
    if (isAsked || getSeconds() >= kQuietSeconds)
      print(isTerminal ? "" : "\n");
}
