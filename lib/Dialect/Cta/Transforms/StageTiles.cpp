//===- StageTiles.cpp - Shared loads of loops into rings ------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/GpuModules.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_STAGETILES
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

/// The operations after which `user` has no more to do with its tile: itself,
/// or the waits for the product that it starts.
static SmallVector<Operation *> findEnds(Operation *user) {
  auto mma = dyn_cast<cta::MmaOp>(user);
  if (!mma)
    return {user};
  return llvm::to_vector(mma.getFlight().getUsers());
}

/// Finds the first use of `load`'s tile in its block, and the last operation
/// that a use ends with.
static LogicalResult findLifetime(cta::LoadOp load, Operation *&first,
                                  Operation *&last, std::string &reason) {
  Block *block = load->getBlock();
  auto widen = [&](Operation *op) {
    Operation *inBlock = block->findAncestorOpInBlock(*op);
    if (!inBlock || inBlock == block->getTerminator()) {
      reason = "a use of the tile does not end in the loop's body";
      return failure();
    }
    if (!first || inBlock->isBeforeInBlock(first))
      first = inBlock;
    if (!last || last->isBeforeInBlock(inBlock))
      last = inBlock;
    return LogicalResult::success();
  };
  for (Operation *user : load.getTile().getUsers()) {
    if (failed(widen(user)))
      return failure();
    SmallVector<Operation *> ends = findEnds(user);
    for (Operation *end : ends)
      if (failed(widen(end)))
        return failure();
    if (ends.empty() || !llvm::all_of(ends, [&](Operation *end) {
          return end == user || isa<cta::WaitOp>(end);
        })) {
      reason = "a product that reads the tile is not waited for";
      return failure();
    }
  }
  if (!first) {
    reason = "the tile is not used";
    return failure();
  }
  return success();
}

LogicalResult fa::stageLoad(RewriterBase &rewriter, cta::LoadOp load,
                            Value ring, std::string &reason) {
  Operation *first = nullptr, *last = nullptr;
  if (failed(findLifetime(load, first, last, reason)))
    return failure();
  Location loc = load.getLoc();
  rewriter.setInsertionPoint(load);
  Value team;
  if (ring.getDefiningOp<cta::RingOp>().getTeams())
    team = load->getParentOfType<cta::RoleOp>().getTeam();
  Value empty = cta::AcquireOp::create(rewriter, loc, load.getTile().getType(),
                                       ring, team);
  cta::CopyOp::create(rewriter, loc, load.getSource(), load.getIndices(),
                      load.getRowEnd(), empty);
  rewriter.setInsertionPointAfter(last);
  auto release = cta::ReleaseOp::create(rewriter, loc, load.getTile());
  rewriter.setInsertionPoint(first);
  Value full =
      cta::ConsumeOp::create(rewriter, loc, load.getTile().getType(), ring);
  release.getTileMutable().assign(full);
  rewriter.replaceOp(load, full);
  return success();
}

/// The stages of a ring where nobody says how many: one to read, one to fill.
static constexpr int64_t kDefaultStages = 2;

namespace {
struct StageTiles : public fa::impl::StageTilesBase<StageTiles> {
  using Base::Base;

  void runOnOperation() override {
    if (stages < 0) {
      emitError(getOperation()->getLoc())
          << "expects at least one stage, but found " << stages.getValue();
      return signalPassFailure();
    }
    for (gpu::GPUFuncOp func : findKernels(getOperation(), "--stage-tiles"))
      stage(func);
  }

private:
  void stage(gpu::GPUFuncOp func) {
    SmallVector<cta::LoadOp> loads;
    func.walk([&](cta::LoadOp load) {
      if (load.getKind() == cta::LoadKind::Once &&
          isa<scf::ForOp>(load->getParentOp()))
        loads.push_back(load);
    });
    if (loads.empty() && !readsNoTile(func))
      emitWarning(func.getLoc())
          << "stage-tiles finds no shared load in a loop of '" << func.getName()
          << "'";
    int64_t ringStages = stages;
    if (ringStages == 0) {
      auto attr = func->getAttrOfType<IntegerAttr>(cta::kStagesAttr);
      ringStages = attr ? attr.getInt() : kDefaultStages;
    }
    IRRewriter rewriter(func.getContext());
    llvm::MapVector<std::pair<Value, Type>, Value> rings;
    for (cta::LoadOp load : loads)
      stage(func, rewriter, load, ringStages, rings);
    for (auto &[key, ring] : rings)
      if (ring.use_empty()) {
        rewriter.eraseOp(ring.getDefiningOp());
        --numRings;
      }
  }

  /// Stages one load, in the ring of its tensor and tile type.
  void stage(gpu::GPUFuncOp func, IRRewriter &rewriter, cta::LoadOp load,
             int64_t ringStages,
             llvm::MapVector<std::pair<Value, Type>, Value> &rings) {
    cta::TileType tile = load.getTile().getType();
    Value &ring = rings[{load.getSource(), tile}];
    if (!ring) {
      Block &body = func.getBody().front();
      Operation *after = body.empty() ? nullptr : &body.front();
      while (after && isa<cta::RingOp>(after))
        after = after->getNextNode();
      rewriter.setInsertionPoint(after);
      ring = cta::RingOp::create(rewriter, load.getLoc(),
                                 cta::RingType::get(ringStages, tile));
      ++numRings;
    }
    Location loc = load.getLoc();
    std::string reason;
    if (succeeded(stageLoad(rewriter, load, ring, reason)))
      ++numLoads;
    else
      emitWarning(loc) << "stage-tiles leaves this load: " << reason;
  }
};
} // namespace
