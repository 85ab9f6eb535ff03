//===- SkipMaskedBlocks.cpp - Cut and split the KV loop by the mask -------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockLists.h"
#include "Simplify.h"

#include "fa/Dialect/Attn/Transforms/MaskAnalysis.h"
#include "fa/Dialect/Attn/Transforms/PassOrder.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_SKIPMASKEDBLOCKS
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

namespace {
/// Index arithmetic before the loop.
struct IndexBuilder {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value min(Value lhs, Value rhs) {
    return arith::MinSIOp::create(builder, loc, lhs, rhs);
  }
  Value max(Value lhs, Value rhs) {
    return arith::MaxSIOp::create(builder, loc, lhs, rhs);
  }
  Value add(Value lhs, int64_t rhs) { return add(lhs, constant(rhs)); }
  Value add(Value lhs, Value rhs) {
    return isConstantIntValue(lhs, 0)
               ? rhs
               : arith::AddIOp::create(builder, loc, lhs, rhs).getResult();
  }
  Value sub(Value lhs, Value rhs) {
    return isConstantIntValue(rhs, 0)
               ? lhs
               : arith::SubIOp::create(builder, loc, lhs, rhs).getResult();
  }
  /// The multiple of `block` at or below `value`, which is not negative.
  Value alignDown(Value value, int64_t block) {
    Value size = constant(block);
    Value count = arith::DivUIOp::create(builder, loc, value, size);
    return arith::MulIOp::create(builder, loc, count, size);
  }
};

/// Where the blocks of one Q block are: partial in [begin, fullBegin), full in
/// [fullBegin, fullEnd), partial in [fullEnd, end).
struct BlockRanges {
  Value begin, fullBegin, fullEnd, end;
  bool hasLowerPart; ///< whether [begin, fullBegin) can be other than empty
};
} // namespace

/// Cuts the blocks of `loop`, which count from its lower bound, by the keys.
static BlockRanges buildRanges(IndexBuilder &index, const VisibleKeys &keys,
                               scf::ForOp loop, int64_t block) {
  Value first = loop.getLowerBound(), last = loop.getUpperBound();
  // The block boundary at or below `key`, which is not before the first.
  auto alignDown = [&](Value key) {
    return index.add(first, index.alignDown(index.sub(key, first), block));
  };

  // 1. Blocks that any row touches.
  BlockRanges ranges;
  ranges.begin = first;
  if (keys.some.begin)
    ranges.begin = alignDown(index.max(keys.some.begin, first));
  ranges.end = keys.some.end ? index.min(keys.some.end, last) : last;
  ranges.end = index.max(ranges.end, ranges.begin);

  // 2. Whole blocks between the keys that all rows see.
  ranges.fullBegin = ranges.fullEnd = ranges.begin;
  ranges.hasLowerPart = false;
  if (!keys.all)
    return ranges;
  if (keys.all->begin) {
    ranges.hasLowerPart = true;
    Value past = index.add(index.max(keys.all->begin, ranges.begin), block - 1);
    ranges.fullBegin = index.min(alignDown(past), ranges.end);
  }
  Value fullEnd =
      keys.all->end ? index.min(keys.all->end, ranges.end) : ranges.end;
  ranges.fullEnd = alignDown(index.max(fullEnd, first));
  if (ranges.fullBegin != first)
    ranges.fullEnd = index.max(ranges.fullEnd, ranges.fullBegin);
  return ranges;
}

/// The extract_slice that makes `tile`, with a static row count.
static Value makeRowsStatic(OpBuilder &builder, Value tile, int64_t rows) {
  auto slice = tile.getDefiningOp<tensor::ExtractSliceOp>();
  RankedTensorType type = slice.getType();
  if (!type.isDynamicDim(0))
    return tile;
  SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
  sizes[sizes.size() - 2] = builder.getIndexAttr(rows);
  auto staticType =
      RankedTensorType::get({rows, type.getDimSize(1)}, type.getElementType());
  return tensor::ExtractSliceOp::create(
      builder, slice.getLoc(), staticType, slice.getSource(),
      slice.getMixedOffsets(), sizes, slice.getMixedStrides());
}

/// Makes the update in `loop` one over full blocks: no mask, static sizes.
void fa::attn::makeFullBlock(RewriterBase &rewriter, UpdateOp update,
                             int64_t block) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(update);
  Value k = makeRowsStatic(rewriter, update.getK(), block);
  Value v = makeRowsStatic(rewriter, update.getV(), block);
  rewriter.modifyOpInPlace(update, [&] {
    update.getKMutable().assign(k);
    update.getVMutable().assign(v);
    update.getMaskRegion().getBlocks().clear();
  });
}

/// Why the KV loop around `update` cannot be split; empty where it can.
static Obstacle findObstacle(UpdateOp update) {
  auto loop = dyn_cast<scf::ForOp>(update->getParentOp());
  if (!update.isTile() || !loop)
    return {"the update is not directly in a loop over its keys"};
  if (update.getRowPosition() == loop.getInductionVar())
    return {"the Q block changes inside the KV loop: run --interchange first",
            /*isOrder=*/true};
  if (update.getKeyPosition() != loop.getInductionVar())
    return {"the update's loop is not over its keys"};
  auto outside = [&](Value value) {
    return !loop->isAncestor(value.getParentBlock()->getParentOp());
  };
  if (!outside(update.getRowPosition()) || !outside(update.getQ()) ||
      !outside(update.getBatchPosition()) || !outside(update.getHeadPosition()))
    return {"the Q block changes inside the KV loop: run --interchange first",
            /*isOrder=*/true};
  if (!getConstantIntValue(loop.getStep()))
    return {"the KV loop has no constant step"};
  for (Value tile : {update.getK(), update.getV()}) {
    if (tile.getDefiningOp<tensor::PadOp>())
      return {"K and V are padded: run it before --pad-tiles",
              /*isOrder=*/true};
    auto slice = tile.getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || slice->getBlock() != loop.getBody())
      return {"K and V are not slices taken in the loop"};
  }
  return {};
}

/// Whether the blocks at the upper edge come before all others, the last one
/// first. Where a row's first maximum serves all its blocks, the first block
/// that it sees has to be one with large scores: a score that depends on the
/// key's place is taken to favour the keys nearest to the row, as ALiBi's do.
/// One that does not is right all the same, but slow, since its rows outgrow
/// their first maximum.
static bool beginsAtUpperEdge(UpdateOp update, const VisibleKeys &keys) {
  auto function = update->getParentOfType<FunctionOpInterface>();
  std::optional<Schedule> schedule = getSchedule(function);
  return schedule && schedule->rescale == fa::Rescale::FirstMax && keys.all &&
         keys.all->end && dependsOnPlace(update.getScoreRegion());
}

/// Goes through the blocks of `loop` from the last one to the first.
static void reverseBlocks(RewriterBase &rewriter, scf::ForOp loop,
                          int64_t block) {
  Location loc = loop.getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  IndexBuilder index{rewriter, loc};
  Value begin = loop.getLowerBound();
  Value most = index.sub(loop.getUpperBound(), index.constant(1));
  Value last = index.alignDown(
      index.max(index.sub(most, begin), index.constant(0)), block);
  Value bounds = index.add(index.add(begin, begin), last);
  rewriter.setInsertionPointToStart(loop.getBody());
  auto key =
      arith::SubIOp::create(rewriter, loc, bounds, loop.getInductionVar());
  rewriter.replaceAllUsesExcept(loop.getInductionVar(), key, key);
}

/// Cuts and splits `loop` by `keys`.
static void splitLoop(RewriterBase &rewriter, scf::ForOp loop, UpdateOp update,
                      const VisibleKeys &keys) {
  // 1. The ranges of blocks.
  IndexBuilder index{rewriter, update.getLoc()};
  int64_t block = *getConstantIntValue(loop.getStep());
  BlockRanges ranges = buildRanges(index, keys, loop, block);

  // 2. A loop for each range, chained through the state.
  SmallVector<Value> state(loop.getInitArgs());
  auto addLoop = [&](Value begin, Value end, bool isFull) {
    IRMapping mapping;
    auto copy = cast<scf::ForOp>(rewriter.clone(*loop, mapping));
    rewriter.modifyOpInPlace(copy, [&] {
      copy.setLowerBound(begin);
      copy.setUpperBound(end);
      copy.getInitArgsMutable().assign(state);
    });
    if (isFull)
      makeFullBlock(rewriter,
                    cast<UpdateOp>(mapping.lookup(update.getOperation())),
                    block);
    else
      copy->setAttr(kPartialAttrName, rewriter.getUnitAttr());
    state.assign(copy.getResults().begin(), copy.getResults().end());
    return copy;
  };
  const bool upperFirst = beginsAtUpperEdge(update, keys);
  if (upperFirst)
    reverseBlocks(rewriter,
                  addLoop(ranges.fullEnd, ranges.end, /*isFull=*/false), block);
  if (ranges.hasLowerPart)
    addLoop(ranges.begin, ranges.fullBegin, /*isFull=*/false);
  if (keys.all)
    addLoop(ranges.fullBegin, ranges.fullEnd, /*isFull=*/true);
  if (!upperFirst)
    addLoop(ranges.fullEnd, ranges.end, /*isFull=*/false);
  rewriter.replaceOp(loop, state);
}

LogicalResult fa::attn::skipMaskedBlocks(RewriterBase &rewriter,
                                         UpdateOp update, bool blockLists,
                                         Obstacle &obstacle) {
  obstacle = findObstacle(update);
  if (!obstacle.reason.empty())
    return failure();
  auto loop = cast<scf::ForOp>(update->getParentOp());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  Value numRows =
      tensor::DimOp::create(rewriter, update.getLoc(), update.getQ(), 0);
  RowBlock rows{update.getBatchPosition(), update.getHeadPosition(),
                update.getRowPosition(), numRows};
  VisibleKeys keys =
      analyzeMask(rewriter, update.getLoc(), update.getMaskRegion(), rows);
  // Lists know the full blocks of any mask; bounds alone are for masks that
  // they describe.
  if (!keys.all && blockLists) {
    Operation *function = update->getParentOfType<FunctionOpInterface>();
    if (succeeded(listBlocks(rewriter, loop, update, obstacle.reason))) {
      remarkDecision(function, "skip-masked-blocks", "loops")
          << remark::reason("the mask leaves no full block known: a list of "
                            "blocks, made at run time");
      return success();
    }
    if (keys.isUnknown())
      return failure();
    obstacle.reason.clear();
  }
  if (keys.isUnknown()) {
    obstacle.reason =
        "the mask bounds no keys by affine comparisons of i and j";
    return failure();
  }
  remarkDecision(update, "skip-masked-blocks", "loops")
      << remark::metric("hasFullBlocks", keys.all.has_value())
      << remark::reason("affine bounds of the mask at the first and last row");
  splitLoop(rewriter, loop, update, keys);
  return success();
}

namespace {
struct SkipMaskedBlocksPass
    : public fa::attn::impl::SkipMaskedBlocksBase<SkipMaskedBlocksPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<UpdateOp> updates;
    getOperation()->walk([&](UpdateOp op) { updates.push_back(op); });
    if (updates.empty() &&
        failed(reportNothingFound(getOperation(), "skip-masked-blocks",
                                  PassLevel::Blocks, "attn.update")))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (UpdateOp update : updates) {
      Obstacle obstacle;
      if (succeeded(skipMaskedBlocks(rewriter, update, blockLists, obstacle)))
        ++numSplit;
      else if (failed(reportObstacle(update, "skip-masked-blocks", obstacle)))
        return signalPassFailure();
    }
    removeRedundancy(rewriter, getOperation());
  }
};
} // namespace
