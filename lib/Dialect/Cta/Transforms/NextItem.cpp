//===- NextItem.cpp - Loading ahead of an item's end ----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NextItem.h"

#include "fa/Dialect/Cta/IR/SharedMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fa;

//===----------------------------------------------------------------------===//
// Stages for the next item
//===----------------------------------------------------------------------===//

/// Whether `ring` has one stage and is filled once an item.
static bool isFilledOnceAnItem(cta::RingOp ring) {
  bool isFilled = false;
  for (Operation *user : ring->getUsers()) {
    auto acquire = dyn_cast<cta::AcquireOp>(user);
    if (acquire && !isa<cta::WorkOp>(acquire->getParentOp()))
      return false;
    isFilled |= !!acquire;
  }
  return isFilled && ring.getRing().getType().getStages() == 1;
}

/// The shared memory that `func` names, with the tiles by which its 16-bit
/// matrices go out (those of one type follow one another) and the barriers.
static int64_t countSharedBytes(gpu::GPUFuncOp func) {
  int64_t bytes = cta::kTileAlignment;
  SetVector<std::pair<Operation *, Type>> stored;
  func.walk([&](Operation *op) {
    bytes += cta::getSharedBytes(op);
    auto store = dyn_cast<cta::StoreOp>(op);
    auto type =
        store ? dyn_cast<VectorType>(store.getValue().getType()) : VectorType();
    auto role = op->getParentOfType<cta::RoleOp>();
    if (type && type.getRank() == 2 && type.getElementTypeBitWidth() == 16 &&
        stored.insert({role, type}))
      bytes += role.getTeams() *
               llvm::alignTo(type.getNumElements() * 2, cta::kTileAlignment);
  });
  return bytes;
}

int64_t fa::stageNextItem(gpu::GPUFuncOp func, int64_t sharedBytes) {
  int64_t numRings = 0;
  int64_t taken = countSharedBytes(func);
  func.walk([&](cta::RingOp ring) {
    int64_t more = cta::getSharedBytes(ring);
    if (!isFilledOnceAnItem(ring) || taken + more > sharedBytes)
      return;
    taken += more;
    cta::TileType tile = ring.getRing().getType().getTile();
    ring.getRing().setType(cta::RingType::get(/*stages=*/2, tile));
    ++numRings;
  });
  return numRings;
}

//===----------------------------------------------------------------------===//
// Order of loads
//===----------------------------------------------------------------------===//

/// The ring that `op` takes a stage of, or copies into a stage of; null where
/// it does neither.
static Value getFilledRing(Operation *op) {
  if (auto copy = dyn_cast<cta::CopyOp>(op))
    op = copy.getTile().getDefiningOp();
  auto acquire = dyn_cast_or_null<cta::AcquireOp>(op);
  return acquire ? acquire.getRing() : Value();
}

/// `op` as a loop whose rounds copy tiles, else null: other loops look up where
/// an item's tiles are.
static scf::ForOp findCopyingLoop(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  bool copies = loop && !loop.getBody()->getOps<cta::CopyOp>().empty();
  return copies ? loop : scf::ForOp();
}

static bool hasOneStage(Value ring) {
  return cast<cta::RingType>(ring.getType()).getStages() == 1;
}

/// Runs the first round of `loop`, of which `skips` leaves operations out,
/// before it where `b` stands, if there is one.
static void buildFirstRound(ImplicitLocOpBuilder &b, scf::ForOp loop,
                            Value isThere,
                            function_ref<bool(Operation &)> skips) {
  auto branch = scf::IfOp::create(b, isThere, /*withElseRegion=*/false);
  OpBuilder inner = branch.getThenBodyBuilder();
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), loop.getLowerBound());
  for (Operation &op : loop.getBody()->without_terminator())
    if (!skips(op))
      inner.clone(op, mapping);
}

bool fa::putFirstTileFirst(cta::WorkOp work) {
  // 1. What is loaded once an item, and the loop behind it.
  SmallVector<Operation *> once;
  scf::ForOp loop;
  for (Operation &op : work.getBody().front()) {
    if ((loop = findCopyingLoop(&op)))
      break;
    Value ring = getFilledRing(&op);
    if (ring && hasOneStage(ring))
      once.push_back(&op);
  }
  if (once.empty() || !loop || loop.getNumResults() != 0)
    return false;
  auto copies = loop.getBody()->getOps<cta::CopyOp>();
  Operation *first = *copies.begin();
  Value ring = getFilledRing(first);
  // What stands before the first copy is done in both parts of its round.
  for (Operation &op : *loop.getBody())
    if (op.isBeforeInBlock(first) && !getFilledRing(&op) &&
        !isa<memref::LoadOp>(op) && !isMemoryEffectFree(&op))
      return false;

  // 2. The loop's first round in two parts, around what is loaded once. Those
  //    need nothing that the operations between them and the loop make.
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  for (Operation *op : once)
    op->moveBefore(loop);
  b.setInsertionPoint(once.front());
  Value isThere = arith::CmpIOp::create(
      b, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  buildFirstRound(b, loop, isThere, [&](Operation &op) {
    Value filled = getFilledRing(&op);
    return first->isBeforeInBlock(&op) || (filled && filled != ring);
  });
  b.setInsertionPoint(loop);
  buildFirstRound(b, loop, isThere, [&](Operation &op) {
    return !first->isBeforeInBlock(&op) && getFilledRing(&op) == ring;
  });
  loop.setLowerBound(
      b.createOrFold<arith::AddIOp>(loop.getLowerBound(), loop.getStep()));
  return true;
}
