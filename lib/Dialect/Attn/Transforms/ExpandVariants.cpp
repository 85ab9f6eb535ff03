//===- ExpandVariants.cpp - Sugar into regions -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simplify.h"

#include "fa/Dialect/Attn/Transforms/PassOrder.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_EXPANDVARIANTS
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

/// The yield of `op`'s mask or score region. Where there is no region one is
/// made that changes nothing: it hides no key, or yields the score it is given.
static YieldOp getOrCreateRegion(RewriterBase &rewriter, ForwardOp op,
                                 bool isScore) {
  Region &region = isScore ? op.getScoreRegion() : op.getMaskRegion();
  if (!region.empty())
    return cast<YieldOp>(region.front().getTerminator());
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Type> types(4, rewriter.getIndexType());
  if (isScore)
    types.insert(types.begin(), rewriter.getF32Type());
  SmallVector<Location> locs(types.size(), op.getLoc());
  Block *block = rewriter.createBlock(&region, region.end(), types, locs);
  Value neutral = isScore
                      ? Value(block->getArgument(0))
                      : arith::ConstantOp::create(rewriter, op.getLoc(),
                                                  rewriter.getBoolAttr(true));
  return YieldOp::create(rewriter, op.getLoc(), neutral);
}

/// Entry `position` of a tensor of lengths, as an index.
static Value readLength(OpBuilder &builder, Location loc, Value lengths,
                        Value position) {
  Value length = tensor::ExtractOp::create(builder, loc, lengths, position);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    length);
}

/// The length of sequence `batch` of a packed tensor.
static Value packedLength(OpBuilder &builder, Location loc, Value cuSeqlens,
                          Value batch) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value next = arith::AddIOp::create(builder, loc, batch, one);
  return arith::SubIOp::create(builder, loc,
                               readLength(builder, loc, cuSeqlens, next),
                               readLength(builder, loc, cuSeqlens, batch));
}

SequenceLengths fa::attn::buildSequenceLengths(OpBuilder &builder, Location loc,
                                               ForwardOp op, Value batch) {
  if (op.isPacked())
    return {packedLength(builder, loc, op.getCuSeqlensQ(), batch),
            packedLength(builder, loc, op.getCuSeqlensKV(), batch)};
  int64_t axis = op.getSequenceAxis();
  Value seqQ = tensor::DimOp::create(builder, loc, op.getQ(), axis);
  if (op.getKvLens())
    return {seqQ, readLength(builder, loc, op.getKvLens(), batch)};
  return {seqQ, tensor::DimOp::create(builder, loc, op.getK(), axis)};
}

namespace {
/// Writes variants into the regions of one op.
class VariantExpander {
public:
  VariantExpander(RewriterBase &rewriter, ForwardOp op)
      : rewriter(rewriter), op(op), loc(op.getLoc()) {}

  void expand(VariantAttrInterface variant);

private:
  VariantScope makeScope(ValueRange bhij);
  void joinMask(VariantAttrInterface variant);
  void applyScore(VariantAttrInterface variant);
  void dropSign();

  RewriterBase &rewriter;
  ForwardOp op;
  Location loc;
};
} // namespace

/// The scope of a variant inside the region whose last arguments are `bhij`.
/// Sizes that all sequences share are asked for in front of the op.
VariantScope VariantExpander::makeScope(ValueRange bhij) {
  OpBuilder outside(op);
  VariantScope scope{bhij[0], bhij[1], bhij[2], bhij[3], {}, {}, {}};
  OpBuilder &lengths =
      op.isRagged() ? static_cast<OpBuilder &>(rewriter) : outside;
  std::tie(scope.seqQ, scope.seqKV) =
      buildSequenceLengths(lengths, loc, op, scope.batch);
  scope.headsQ =
      tensor::DimOp::create(outside, loc, op.getQ(), op.getHeadAxis());
  return scope;
}

/// Joins the variant's mask to the region by `and`.
void VariantExpander::joinMask(VariantAttrInterface variant) {
  bool hadMask = !op.getMaskRegion().empty();
  YieldOp yield = getOrCreateRegion(rewriter, op, /*isScore=*/false);
  rewriter.setInsertionPoint(yield);
  Value old = yield.getValue();
  Value sees = variant.buildMask(rewriter, loc,
                                 makeScope(op.getMaskRegion().getArguments()));
  if (hadMask)
    sees = arith::AndIOp::create(rewriter, loc, old, sees);
  rewriter.modifyOpInPlace(yield,
                           [&] { yield.getValueMutable().assign(sees); });
  if (!hadMask)
    rewriter.eraseOp(old.getDefiningOp());
}

/// Applies the variant to what the score region yields.
void VariantExpander::applyScore(VariantAttrInterface variant) {
  YieldOp yield = getOrCreateRegion(rewriter, op, /*isScore=*/true);
  rewriter.setInsertionPoint(yield);
  Value score = variant.buildScore(
      rewriter, loc, yield.getValue(),
      makeScope(op.getScoreRegion().getArguments().drop_front()));
  rewriter.modifyOpInPlace(yield,
                           [&] { yield.getValueMutable().assign(score); });
}

/// Whether the variants hide all keys behind a query's own position.
static bool hideLaterKeys(ArrayAttr variants) {
  return llvm::any_of(variants, [](Attribute variant) {
    auto window = dyn_cast<WindowAttr>(variant);
    return isa<CausalAttr>(variant) || (window && window.getRight() == 0);
  });
}

/// Takes the distance of a query from a key as it is, where it is negative for
/// hidden keys alone, whose score does not matter: one operation less for each
/// score.
void VariantExpander::dropSign() {
  auto distances =
      llvm::to_vector(op.getScoreRegion().front().getOps<math::AbsFOp>());
  rewriter.replaceOp(distances.back(), distances.back().getOperand());
}

void VariantExpander::expand(VariantAttrInterface variant) {
  if (variant.hasScore())
    applyScore(variant);
  if (isa<AlibiAttr>(variant) && hideLaterKeys(op.getVariantsAttr()))
    dropSign();
  if (variant.hasMask())
    joinMask(variant);
}

unsigned fa::attn::expandVariants(RewriterBase &rewriter, ForwardOp op) {
  ArrayAttr variants = op.getVariantsAttr();
  if (!variants)
    return 0;
  OpBuilder::InsertionGuard guard(rewriter);
  VariantExpander expander(rewriter, op);
  for (auto variant : variants.getAsRange<VariantAttrInterface>())
    expander.expand(variant);
  rewriter.modifyOpInPlace(op, [&] { op.removeVariantsAttr(); });
  return variants.size();
}

namespace {
struct ExpandVariantsPass
    : public fa::attn::impl::ExpandVariantsBase<ExpandVariantsPass> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    bool hasForward = false;
    getOperation()->walk([&](ForwardOp op) {
      hasForward = true;
      numVariants += expandVariants(rewriter, op);
    });
    if (!hasForward &&
        failed(reportNothingFound(getOperation(), "expand-variants",
                                  PassLevel::Whole, "attn.forward")))
      return signalPassFailure();
    removeRedundancy(rewriter, getOperation());
  }
};
} // namespace
