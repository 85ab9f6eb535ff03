//===- SkipMaskedBlocks.cpp - Cut and split the KV loop by the mask -------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskAnalysis.h"
#include "Simplify.h"

#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
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
  Value add(Value lhs, int64_t rhs) {
    return arith::AddIOp::create(builder, loc, lhs, constant(rhs));
  }
  /// The multiple of `block` at or below `value`, which is not negative.
  Value alignDown(Value value, int64_t block) {
    Value size = constant(block);
    Value count = arith::DivUIOp::create(builder, loc, value, size);
    return arith::MulIOp::create(builder, loc, count, size);
  }
  Value alignUp(Value value, int64_t block) {
    return alignDown(add(value, block - 1), block);
  }
};

/// Where the blocks of one Q block are: partial in [begin, fullBegin), full in
/// [fullBegin, fullEnd), partial in [fullEnd, end).
struct BlockRanges {
  Value begin, fullBegin, fullEnd, end;
  bool hasLowerPart; ///< whether [begin, fullBegin) can be other than empty
};
} // namespace

/// Computes the ranges for the rows [firstRow, lastRow] of a Q block.
static BlockRanges buildRanges(IndexBuilder &index, const MaskBounds &mask,
                               Value firstRow, Value lastRow, Value seqKV,
                               int64_t block) {
  Value zero = index.constant(0);
  auto bound = [&](const AffineBound &b, Value row) {
    return b.build(index.builder, index.loc, row);
  };

  // 1. Keys that some row sees: [begin, end). Bounds grow with the row.
  Value end = seqKV, fullEnd = seqKV;
  for (const AffineBound &upper : mask.upper) {
    end = index.min(end, index.add(bound(upper, lastRow), 1));
    fullEnd = index.min(fullEnd, index.add(bound(upper, firstRow), 1));
  }
  Value begin = zero, fullBegin = zero;
  for (const AffineBound &lower : mask.lower) {
    begin = index.max(begin, bound(lower, firstRow));
    fullBegin = index.max(fullBegin, bound(lower, lastRow));
  }

  // 2. Blocks: whole ones for the full range, any touched for the others.
  BlockRanges ranges;
  ranges.hasLowerPart = !mask.lower.empty();
  ranges.begin = ranges.hasLowerPart ? index.alignDown(begin, block) : zero;
  ranges.end = index.max(end, ranges.begin);
  if (!mask.isExact) {
    ranges.hasLowerPart = false;
    ranges.fullBegin = ranges.fullEnd = ranges.begin;
    return ranges;
  }
  ranges.fullBegin = ranges.begin;
  if (ranges.hasLowerPart)
    ranges.fullBegin = index.min(index.alignUp(fullBegin, block), ranges.end);
  ranges.fullEnd = index.max(index.alignDown(index.max(fullEnd, zero), block),
                             ranges.fullBegin);
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
static void makeFull(RewriterBase &rewriter, UpdateOp update, int64_t block) {
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
static std::string findObstacle(UpdateOp update) {
  auto loop = dyn_cast<scf::ForOp>(update->getParentOp());
  if (!update.isTile() || !loop ||
      update.getKeyPosition() != loop.getInductionVar())
    return "the update is not directly in a loop over its keys";
  auto outside = [&](Value value) {
    return !loop->isAncestor(value.getParentBlock()->getParentOp());
  };
  if (!outside(update.getRowPosition()) || !outside(update.getQ()) ||
      !outside(update.getBatchPosition()) || !outside(update.getHeadPosition()))
    return "the Q block changes inside the KV loop (run --interchange first)";
  if (!getConstantIntValue(loop.getStep()) ||
      !isConstantIntValue(loop.getLowerBound(), 0))
    return "the KV loop does not start at zero with a constant step";
  for (Value tile : {update.getK(), update.getV()}) {
    auto slice = tile.getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || slice->getBlock() != loop.getBody())
      return "K and V are not slices taken in the loop";
  }
  return "";
}

LogicalResult fa::attn::skipMaskedBlocks(RewriterBase &rewriter,
                                         UpdateOp update, std::string &reason) {
  reason = findObstacle(update);
  if (!reason.empty())
    return failure();
  auto loop = cast<scf::ForOp>(update->getParentOp());
  MaskBounds mask =
      analyzeMask(update.getMaskRegion(), update.getBatchPosition(),
                  update.getHeadPosition(), loop->getParentRegion());
  if (!mask.isExact && mask.upper.empty() && mask.lower.empty()) {
    reason = "the mask is no conjunction of affine bounds on the key";
    return failure();
  }

  // 1. The ranges of blocks.
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  IndexBuilder index{rewriter, update.getLoc()};
  int64_t block = *getConstantIntValue(loop.getStep());
  Value rows =
      tensor::DimOp::create(rewriter, update.getLoc(), update.getQ(), 0);
  Value firstRow = update.getRowPosition();
  Value lastRow = index.add(
      arith::AddIOp::create(rewriter, update.getLoc(), firstRow, rows), -1);
  BlockRanges ranges =
      buildRanges(index, mask, firstRow, lastRow, update.getSeqKV(), block);

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
      makeFull(rewriter, cast<UpdateOp>(mapping.lookup(update.getOperation())),
               block);
    state.assign(copy.getResults().begin(), copy.getResults().end());
  };
  if (ranges.hasLowerPart)
    addLoop(ranges.begin, ranges.fullBegin, /*isFull=*/false);
  if (mask.isExact)
    addLoop(ranges.fullBegin, ranges.fullEnd, /*isFull=*/true);
  addLoop(ranges.fullEnd, ranges.end, /*isFull=*/false);
  rewriter.replaceOp(loop, state);
  return success();
}

namespace {
struct SkipMaskedBlocksPass
    : public fa::attn::impl::SkipMaskedBlocksBase<SkipMaskedBlocksPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<UpdateOp> updates;
    getOperation()->walk([&](UpdateOp op) { updates.push_back(op); });
    if (updates.empty())
      getOperation()->emitWarning("--skip-masked-blocks found no attn.update");
    IRRewriter rewriter(&getContext());
    for (UpdateOp update : updates) {
      std::string reason;
      if (succeeded(skipMaskedBlocks(rewriter, update, reason)))
        ++numSplit;
      else
        update.emitWarning("--skip-masked-blocks does not apply: ") << reason;
    }
    removeRedundancy(rewriter, getOperation());
  }
};
} // namespace
