//===- RingAnalysis.cpp - Counting cp.async groups and stages -------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On sm_80, a copy's completion is known by the number of groups committed
// after it, and a stage may be overwritten once a block barrier stands between
// its release and the next copy. Both are counted here along the program. The
// state at a loop's head is what entry and back edge have in common; apart
// from which released stages a barrier has made safe, they must be the same.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fa;

namespace {
/// Where the stages of one ring are.
struct StageCounts {
  int64_t safe = 0;     ///< free, and a barrier has passed since the release
  int64_t released = 0; ///< free, but no barrier has passed yet
  int64_t open = 0;     ///< acquired, not copied into yet
  int64_t ready = 0;    ///< full and visible to all threads
  int64_t held = 0;     ///< consumed, not released yet

  int64_t free() const { return safe + released; }
};

/// What is known at one point of the program.
struct State {
  llvm::MapVector<Value, StageCounts> rings;
  /// The rings of the groups committed and not waited for, oldest first.
  SmallVector<Value> pending;

  /// A block barrier: released stages become safe.
  void passBarrier() {
    for (auto &[ring, counts] : rings) {
      counts.safe += counts.released;
      counts.released = 0;
    }
  }

  /// The `count` oldest groups are complete and visible.
  void popPending(size_t count) {
    for (Value ring : ArrayRef<Value>(pending).take_front(count))
      ++rings[ring].ready;
    pending.erase(pending.begin(), pending.begin() + count);
  }
};

/// Walks the program in order.
class RingAnalysis {
public:
  LogicalResult run(gpu::GPUFuncOp func);
  RingActions takeActions() { return std::move(actions); }

private:
  LogicalResult visitBlock(Block &block, State &state);
  LogicalResult visit(Operation *op, State &state);
  LogicalResult visitLoop(scf::ForOp loop, State &state);
  LogicalResult visitBranch(Operation *op, State &state);
  LogicalResult visitAcquire(cta::AcquireOp op, State &state);
  LogicalResult visitConsume(cta::ConsumeOp op, State &state);
  void visitLoad(cta::LoadOp op, State &state);

  RingActions actions;
};
} // namespace

/// The first ring of which `a` and `b` differ otherwise than in safe stages, or
/// null.
static Value findDifference(const State &a, const State &b) {
  for (auto &[ring, counts] : a.rings) {
    const StageCounts &other = b.rings.find(ring)->second;
    if (counts.open != other.open || counts.ready != other.ready ||
        counts.held != other.held || counts.free() != other.free())
      return ring;
  }
  size_t shared = std::min(a.pending.size(), b.pending.size());
  for (size_t n = 0; n < shared; ++n)
    if (a.pending[n] != b.pending[n])
      return a.pending[n];
  return nullptr;
}

/// Joins `other` into `state`, reporting at `op` where they do not agree.
static LogicalResult join(Operation *op, State &state, const State &other) {
  if (Value ring = findDifference(state, other))
    return op->emitOpError("must leave each ring as it finds it, but does not "
                           "do so for ")
           << ring;
  for (auto &[ring, counts] : state.rings) {
    int64_t safe = std::min(counts.safe, other.rings.find(ring)->second.safe);
    counts.released += counts.safe - safe;
    counts.safe = safe;
  }
  return success();
}

LogicalResult RingAnalysis::visitAcquire(cta::AcquireOp op, State &state) {
  StageCounts &counts = state.rings[op.getRing()];
  if (!counts.free())
    return op.emitOpError("would wait forever: no stage of its ring is free");
  RingAction &action = actions[op] = RingAction();
  action.distance =
      counts.open + counts.ready + llvm::count(state.pending, op.getRing());
  if (!counts.safe) {
    action.barrier = true;
    state.passBarrier();
  }
  --counts.safe;
  ++counts.open;
  return success();
}

LogicalResult RingAnalysis::visitConsume(cta::ConsumeOp op, State &state) {
  StageCounts &counts = state.rings[op.getRing()];
  RingAction &action = actions[op] = RingAction();
  if (!counts.ready) {
    auto *oldest = llvm::find(state.pending, op.getRing());
    if (oldest == state.pending.end())
      return op.emitOpError("would wait forever: no copy into its ring is "
                            "under way");
    size_t done = std::distance(state.pending.begin(), oldest) + 1;
    action.wait = state.pending.size() - done;
    action.barrier = true;
    state.popPending(done);
    state.passBarrier();
  }
  --counts.ready;
  ++counts.held;
  return success();
}

/// A load waits for all groups, its own being the last; a shared one meets all
/// threads too.
void RingAnalysis::visitLoad(cta::LoadOp op, State &state) {
  if (op.getKind() != cta::LoadKind::Once)
    return;
  state.popPending(state.pending.size());
  state.passBarrier();
}

/// Repeats the body until the state at the loop's head holds.
LogicalResult RingAnalysis::visitLoop(scf::ForOp loop, State &state) {
  while (true) {
    State end = state;
    if (failed(visitBlock(*loop.getBody(), end)))
      return failure();
    State head = state;
    if (failed(join(loop, head, end)))
      return failure();
    bool stable = llvm::all_of(state.rings, [&](auto &entry) {
      return head.rings.find(entry.first)->second.safe == entry.second.safe;
    });
    state = std::move(head);
    if (stable)
      return success();
  }
}

LogicalResult RingAnalysis::visitBranch(Operation *op, State &state) {
  std::optional<State> joined;
  for (Region &region : op->getRegions()) {
    State branch = state;
    if (!region.empty() && failed(visitBlock(region.front(), branch)))
      return failure();
    if (!joined)
      joined = std::move(branch);
    else if (failed(join(op, *joined, branch)))
      return failure();
  }
  state = std::move(*joined);
  return success();
}

LogicalResult RingAnalysis::visit(Operation *op, State &state) {
  if (auto ring = dyn_cast<cta::RingOp>(op)) {
    state.rings[ring.getRing()].safe = ring.getRing().getType().getStages();
    return success();
  }
  if (auto acquire = dyn_cast<cta::AcquireOp>(op))
    return visitAcquire(acquire, state);
  if (auto copy = dyn_cast<cta::CopyOp>(op)) {
    Value ring = copy.getTile().getDefiningOp<cta::AcquireOp>().getRing();
    --state.rings[ring].open;
    state.pending.push_back(ring);
    return success();
  }
  if (auto consume = dyn_cast<cta::ConsumeOp>(op))
    return visitConsume(consume, state);
  if (auto release = dyn_cast<cta::ReleaseOp>(op)) {
    StageCounts &counts =
        state
            .rings[release.getTile().getDefiningOp<cta::ConsumeOp>().getRing()];
    --counts.held;
    ++counts.released;
    return success();
  }
  if (auto load = dyn_cast<cta::LoadOp>(op)) {
    visitLoad(load, state);
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop, state);
  if (isa<cta::WorkOp, cta::RoleOp>(op))
    return visitBlock(op->getRegion(0).front(), state);
  if (isa<scf::IfOp, cta::IfAnyOp>(op))
    return visitBranch(op, state);
  return success();
}

LogicalResult RingAnalysis::visitBlock(Block &block, State &state) {
  for (Operation &op : block)
    if (failed(visit(&op, state)))
      return failure();
  return success();
}

LogicalResult RingAnalysis::run(gpu::GPUFuncOp func) {
  State state;
  if (failed(visitBlock(func.getBody().front(), state)))
    return failure();
  for (auto &[ring, counts] : state.rings)
    if (counts.free() != cast<cta::RingType>(ring.getType()).getStages())
      return ring.getDefiningOp()->emitOpError(
                 "must have all its stages free at the end, but has ")
             << counts.free();
  return success();
}

FailureOr<RingActions> fa::analyseRings(gpu::GPUFuncOp func) {
  RingAnalysis analysis;
  if (failed(analysis.run(func)))
    return failure();
  return analysis.takeActions();
}
