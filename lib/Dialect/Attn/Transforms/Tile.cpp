//===- Tile.cpp - attn.forward into FlashAttention 1's loop nest ----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simplify.h"

#include "fa/Dialect/Attn/IR/AttnBuilders.h"
#include "fa/Dialect/Attn/Transforms/PassOrder.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_TILE
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

/// A tensor.empty with q's sizes but the last, which is `width` if given.
static Value emptyLike(RewriterBase &rewriter, ForwardOp op, Type element,
                       std::optional<int64_t> width) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim <= op.getSequenceAxis(); ++dim)
    sizes.push_back(
        tensor::getMixedSize(rewriter, op.getLoc(), op.getQ(), dim));
  if (width)
    sizes.push_back(rewriter.getIndexAttr(*width));
  return tensor::EmptyOp::create(rewriter, op.getLoc(), sizes, element);
}

/// Casts `value` to `type` where the op's result is more or less static.
static Value castTo(RewriterBase &rewriter, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(rewriter, value.getLoc(), type, value);
}

UpdateOp fa::attn::expandForward(RewriterBase &rewriter, ForwardOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Type f32 = rewriter.getF32Type();
  int64_t headDimV = op.getHeadDimV();

  // 1. The empty state.
  Value scale = buildScale(rewriter, op);
  int64_t axis = op.getSequenceAxis();
  Value seqQ = tensor::DimOp::create(rewriter, loc, op.getQ(), axis);
  Value seqKV = tensor::DimOp::create(rewriter, loc, op.getK(), axis);
  auto init =
      InitOp::create(rewriter, loc, emptyLike(rewriter, op, f32, headDimV),
                     emptyLike(rewriter, op, f32, std::nullopt),
                     emptyLike(rewriter, op, f32, std::nullopt));

  // 2. One update over all keys.
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  auto update = UpdateOp::create(rewriter, loc, op.getQ(), op.getK(), op.getV(),
                                 zero, zero, zero, zero, seqQ, seqKV, scale,
                                 init.getAcc(), init.getMax(), init.getSum(),
                                 /*normalized=*/rewriter.getUnitAttr());
  rewriter.inlineRegionBefore(op.getScoreRegion(), update.getScoreRegion(),
                              update.getScoreRegion().end());
  rewriter.inlineRegionBefore(op.getMaskRegion(), update.getMaskRegion(),
                              update.getMaskRegion().end());

  // 3. O and LSE. A score region has applied the scale already.
  Value unit = scale;
  if (update.hasScore())
    unit =
        arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(1.0));
  Type element = op.getO().getType().getElementType();
  auto finalize = FinalizeOp::create(rewriter, loc, update.getAcc(),
                                     update.getMax(), update.getSum(), unit,
                                     emptyLike(rewriter, op, element, headDimV),
                                     emptyLike(rewriter, op, f32, std::nullopt),
                                     /*normalized=*/rewriter.getUnitAttr());
  Value o = castTo(rewriter, finalize.getO(), op.getO().getType());
  Value lse = castTo(rewriter, finalize.getLse(), op.getLse().getType());
  rewriter.replaceOp(op, {o, lse});
  return update;
}

/// Moves the arithmetic that finds the K/V head of a query head out of the
/// loops over blocks. It divides by Hq / Hkv, which upstream would not
/// speculate; but where a loop over the heads of Q runs there is a head, of Q
/// and so of K and V.
static void hoistHeadArithmetic(ArrayRef<LoopLikeOpInterface> blockLoops) {
  for (LoopLikeOpInterface loop : llvm::reverse(blockLoops))
    moveLoopInvariantCode(
        loop.getLoopRegions(),
        [&](Value value, Region *) {
          return loop.isDefinedOutsideOfLoop(value);
        },
        [](Operation *op, Region *) {
          return isa<arith::ConstantOp, tensor::DimOp, arith::DivUIOp>(op);
        },
        [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
}

LogicalResult fa::attn::tileUpdate(RewriterBase &rewriter, UpdateOp op,
                                   int64_t br, int64_t bc) {
  if (op.isTile())
    return op.emitOpError("is a tile already");
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  scf::SCFTilingOptions options;
  // Batch and head one at a time, then KV blocks outside and Q blocks inside.
  unsigned numLeading = op.getMax().getType().getRank() - 1;
  SmallVector<OpFoldResult> sizes(numLeading, rewriter.getIndexAttr(1));
  sizes.append({rewriter.getIndexAttr(br), rewriter.getIndexAttr(bc)});
  options.setTileSizes(sizes);
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, numLeading));
  order.append({numLeading + 1, numLeading});
  options.setInterchange(order);
  FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(
      rewriter, cast<TilingInterface>(op.getOperation()), options);
  if (failed(tiled))
    return op.emitOpError("could not be tiled");
  rewriter.replaceOp(op, tiled->replacements);
  hoistHeadArithmetic(ArrayRef(tiled->loops).drop_front(numLeading));
  return success();
}

namespace {
struct TilePass : public fa::attn::impl::TileBase<TilePass> {
  using Base::Base;

  void runOnOperation() override {
    FunctionOpInterface function = getOperation();
    SmallVector<ForwardOp> ops;
    function->walk([&](ForwardOp op) { ops.push_back(op); });
    if (ops.empty()) {
      if (failed(reportNothingFound(function, "tile", PassLevel::Whole,
                                    "attn.forward")))
        signalPassFailure();
      return;
    }
    if (!getSchedule(function)) {
      OpPassManager chooser(function->getName().getStringRef());
      chooser.addPass(createChooseSchedule());
      if (failed(runPipeline(chooser, function)))
        return signalPassFailure();
    }
    std::optional<Schedule> schedule = getSchedule(function);
    if (!schedule)
      return signalPassFailure();

    IRRewriter rewriter(&getContext());
    for (ForwardOp op : ops) {
      if (op.isRagged())
        op = splitSequences(rewriter, op);
      expandVariants(rewriter, op);
      UpdateOp update = expandForward(rewriter, op);
      if (failed(tileUpdate(rewriter, update, schedule->br, schedule->bc)))
        return signalPassFailure();
      ++numTiled;
      remarkDecision(function, "tile", "blocks")
          << remark::metric("br", schedule->br)
          << remark::metric("bc", schedule->bc)
          << remark::reason("KV blocks outside, Q blocks inside, by the "
                            "schedule for {0}",
                            schedule->target);
    }
    // Each step asked for the sizes it needed; once is enough.
    removeRedundancy(rewriter, function);
  }
};
} // namespace
