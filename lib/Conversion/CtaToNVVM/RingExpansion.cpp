//===- RingExpansion.cpp - Rings to stage addresses and barriers ----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads, through the program, the place of the stage that each ring consumes
// next (its cursor, a byte offset), and replaces acquires and consumes by the
// addresses of their stages, waits and barriers. The stage to acquire is a
// known number of stages further on, so it needs no cursor of its own.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace fa;

namespace {
/// The cursors of rings of more than one stage.
using Cursors = llvm::MapVector<Value, Value>;

class RingExpansion {
public:
  RingExpansion(Kernel &kernel, const RingActions &actions)
      : kernel(kernel), actions(actions), rewriter(kernel.func.getContext()) {}

  void run();

private:
  void expandBlock(Block &block, Cursors &cursors);
  void expand(Operation *op, Cursors &cursors);
  void expandAcquire(cta::AcquireOp op, Cursors &cursors);
  void expandConsume(cta::ConsumeOp op, Cursors &cursors);
  void expandLoop(scf::ForOp loop, Cursors &cursors);
  void expandBranch(Operation *op, Cursors &cursors);

  /// The cursor `stages` stages further on, all stages being in a circle.
  Value advance(ImplicitLocOpBuilder &b, Value ring, Value cursor,
                int64_t stages);
  /// Replaces `op`'s tile by the one at `cursor` in its ring.
  void replaceTile(ImplicitLocOpBuilder &b, Operation *op, Value ring,
                   Value cursor);
  /// The rings of more than one stage that are consumed from inside `op`.
  SmallVector<Value> findMoved(Operation *op);

  Kernel &kernel;
  const RingActions &actions;
  IRRewriter rewriter;
};
} // namespace

static cta::TileType getTile(Value ring) {
  return cast<cta::RingType>(ring.getType()).getTile();
}

static int64_t getStages(Value ring) {
  return cast<cta::RingType>(ring.getType()).getStages();
}

static int64_t getStageBytes(Value ring) {
  return llvm::alignTo(getTile(ring).getByteSize(), kTileAlignment);
}

Value RingExpansion::advance(ImplicitLocOpBuilder &b, Value ring, Value cursor,
                             int64_t stages) {
  I32Builder i{b};
  int64_t bytes = getStageBytes(ring), end = getStages(ring) * bytes;
  stages %= getStages(ring);
  if (!stages)
    return cursor;
  if (getStages(ring) == 2)
    return b.createOrFold<arith::SubIOp>(i.constant(bytes), cursor);
  Value next = i.add(cursor, stages * bytes);
  Value wraps = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::uge, next,
                                              i.constant(end));
  return b.createOrFold<arith::SelectOp>(wraps, i.add(next, -end), next);
}

void RingExpansion::replaceTile(ImplicitLocOpBuilder &b, Operation *op,
                                Value ring, Value cursor) {
  I32Builder i{b};
  int64_t offset = kernel.sharedOffset.lookup(ring.getDefiningOp());
  Value address = i.add(kernel.shared, offset);
  if (cursor)
    address = i.add(address, cursor);
  auto cast = UnrealizedConversionCastOp::create(b, getTile(ring), address);
  rewriter.replaceOp(op, cast.getResult(0));
}

void RingExpansion::expandAcquire(cta::AcquireOp op, Cursors &cursors) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  RingAction action = actions.lookup(op);
  if (action.barrier)
    NVVM::BarrierOp::create(b);
  Value ring = op.getRing(), cursor = cursors.lookup(ring);
  if (cursor)
    cursor = advance(b, ring, cursor, action.distance);
  replaceTile(b, op, ring, cursor);
}

void RingExpansion::expandConsume(cta::ConsumeOp op, Cursors &cursors) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  RingAction action = actions.lookup(op);
  if (action.wait)
    NVVM::CpAsyncWaitGroupOp::create(b, static_cast<uint32_t>(*action.wait));
  if (action.barrier)
    NVVM::BarrierOp::create(b);
  Value ring = op.getRing(), cursor = cursors.lookup(ring);
  if (cursor)
    cursors[ring] = advance(b, ring, cursor, 1);
  replaceTile(b, op, ring, cursor);
}

SmallVector<Value> RingExpansion::findMoved(Operation *op) {
  llvm::SetVector<Value> rings;
  op->walk([&](cta::ConsumeOp consume) {
    if (getStages(consume.getRing()) > 1)
      rings.insert(consume.getRing());
  });
  return rings.takeVector();
}

void RingExpansion::expandLoop(scf::ForOp loop, Cursors &cursors) {
  SmallVector<Value> moved = findMoved(loop);
  SmallVector<Value> inits;
  for (Value ring : moved)
    inits.push_back(cursors[ring]);
  auto yieldSame = [](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
    return SmallVector<Value>(args);
  };
  size_t first = loop.getNumResults();
  if (!moved.empty())
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, yieldSame));

  Cursors inside = cursors;
  for (auto [n, ring] : llvm::enumerate(moved))
    inside[ring] = loop.getRegionIterArg(first + n);
  expandBlock(*loop.getBody(), inside);
  for (auto [n, ring] : llvm::enumerate(moved)) {
    loop.getBody()->getTerminator()->setOperand(first + n, inside[ring]);
    cursors[ring] = loop.getResult(first + n);
  }
}

void RingExpansion::expandBranch(Operation *op, Cursors &cursors) {
  SmallVector<Value> moved = findMoved(op);
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    Cursors inside = cursors;
    expandBlock(region.front(), inside);
    for (Value ring : moved) {
      Operation *yield = region.front().getTerminator();
      yield->insertOperands(yield->getNumOperands(), inside[ring]);
    }
  }
  if (moved.empty())
    return;
  SmallVector<Value> unchanged =
      llvm::map_to_vector(moved, [&](Value ring) { return cursors[ring]; });
  size_t first = op->getNumResults();
  Operation *branch = growBranch(rewriter, op, unchanged);
  for (auto [n, ring] : llvm::enumerate(moved))
    cursors[ring] = branch->getResult(first + n);
}

void RingExpansion::expand(Operation *op, Cursors &cursors) {
  if (auto ring = dyn_cast<cta::RingOp>(op)) {
    if (getStages(ring.getRing()) == 1)
      return;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    cursors[ring.getRing()] = I32Builder{b}.constant(0);
  } else if (auto acquire = dyn_cast<cta::AcquireOp>(op)) {
    expandAcquire(acquire, cursors);
  } else if (auto consume = dyn_cast<cta::ConsumeOp>(op)) {
    expandConsume(consume, cursors);
  } else if (isa<cta::ReleaseOp>(op)) {
    rewriter.eraseOp(op);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    expandLoop(loop, cursors);
  } else if (isa<scf::IfOp, cta::IfAnyOp>(op)) {
    expandBranch(op, cursors);
  }
}

void RingExpansion::expandBlock(Block &block, Cursors &cursors) {
  for (Operation &op : llvm::make_early_inc_range(block))
    expand(&op, cursors);
}

void RingExpansion::run() {
  Cursors cursors;
  SmallVector<Operation *> rings;
  expandBlock(kernel.func.getBody().front(), cursors);
  kernel.func.walk([&](cta::RingOp ring) { rings.push_back(ring); });
  for (Operation *ring : rings)
    rewriter.eraseOp(ring);
}

void fa::expandRings(Kernel &kernel, const RingActions &actions) {
  RingExpansion(kernel, actions).run();
}
