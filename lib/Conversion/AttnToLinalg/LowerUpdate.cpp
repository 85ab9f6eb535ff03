//===- LowerUpdate.cpp - attn.update into products and the online softmax -===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RescalePolicies.h"
#include "VariantRegions.h"

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace fa;

namespace {
/// Lowers one update on tiles.
class UpdateLowering {
public:
  UpdateLowering(RewriterBase &rewriter, attn::UpdateOp op, Rescale rescale)
      : rewriter(rewriter), op(op), rescale(rescale), b(rewriter, op.getLoc()),
        element(op.getQ().getType().getElementType()) {}

  void run();

private:
  Value buildScores();
  Value buildVisibleScores();
  Exponent buildExponent();
  Value buildWeights(Value scores, const Exponent &exponent,
                     const RescaledState &state);
  Value addRowSums(Value weights, Value sum);
  Value narrowed(Value weights);
  Value addWeightedValues(Value weights, Value acc);

  RewriterBase &rewriter;
  attn::UpdateOp op;
  Rescale rescale;
  GenericBuilder b;
  Type element;
};
} // namespace

/// s = q k^T in f32, [Br, Bc].
Value UpdateLowering::buildScores() {
  Location loc = op.getLoc();
  OpFoldResult rows = tensor::getMixedSize(rewriter, loc, op.getQ(), 0);
  OpFoldResult columns = tensor::getMixedSize(rewriter, loc, op.getK(), 0);
  Value empty = tensor::EmptyOp::create(rewriter, loc, {rows, columns},
                                        rewriter.getF32Type());
  Value zeros = b.fill(b.f32(0.0), empty);
  auto product = linalg::MatmulTransposeBOp::create(
      rewriter, loc, TypeRange{zeros.getType()},
      ValueRange{op.getQ(), op.getK()}, ValueRange{zeros});
  return product.getResult(0);
}

/// Scaled, scored and masked: -inf where a key is hidden.
Value UpdateLowering::buildVisibleScores() {
  Value scores = buildScores();
  if (!op.hasScore() && !op.hasMask())
    return scores;
  Value scale = op.hasScore() ? op.getScale() : Value();
  return applyVariant(b, scores, scale, op.getScoreRegion(), op.getMaskRegion(),
                      {op.getBatchPosition(), op.getHeadPosition(),
                       op.getRowPosition(), op.getKeyPosition()});
}

/// Whether `region` may yield finite scores so large that rounding counts in
/// the exp2 domain: what it reads, and what a constant says ("-1e9 hides a
/// key"). Arithmetic on scores alone is no more likely to than the products of
/// q and k are.
static bool mayYieldHugeScores(Region &region) {
  auto mayBeHuge = [&](Value value) {
    FloatAttr constant;
    if (matchPattern(value, m_Constant(&constant)))
      return !(std::abs(constant.getValueAsDouble()) < kLargeMax);
    return isa<FloatType>(value.getType()) &&
           !region.isAncestor(value.getParentRegion());
  };
  return region
      .walk([&](Operation *nested) {
        return isa<tensor::ExtractOp>(nested) ||
                       llvm::any_of(nested->getOperands(), mayBeHuge)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// From the scores, which a score region has scaled already, to exponents of 2.
Exponent UpdateLowering::buildExponent() {
  Value log2e = b.f32(kLog2E);
  if (op.hasScore())
    return {log2e, mayYieldHugeScores(op.getScoreRegion())};
  return {b.mul(op.getScale(), log2e), /*mayBeLarge=*/false};
}

/// p = exp2 of the score's exponent, in f32; 0 for hidden keys, whose s is
/// -inf.
Value UpdateLowering::buildWeights(Value scores, const Exponent &exponent,
                                   const RescaledState &state) {
  SmallVector<Value> rows{state.guard};
  Value factors = exponent.factorsOf(b, state.max);
  if (factors)
    rows.push_back(factors);
  return b
      .generic(rows, {scores}, 2, false,
               [&](GenericBuilder &in, ValueRange args) {
                 Value factor = factors ? args[1] : exponent.factor;
                 Value power = in.mulSub(args.back(), factor, args[0]);
                 // A score's own last factor may multiply this one first.
                 if (op.hasScore() && !factors)
                   power.getDefiningOp<math::FmaOp>().setFastmath(
                       arith::FastMathFlags::reassoc);
                 return SmallVector<Value>{in.exp2(power)};
               })
      .front();
}

Value UpdateLowering::addRowSums(Value weights, Value sum) {
  return b
      .generic({weights}, {sum}, 2, true,
               [](GenericBuilder &in, ValueRange args) {
                 return SmallVector<Value>{in.add(args[1], args[0])};
               })
      .front();
}

/// p in the inputs' element type, as the tensor cores take it.
Value UpdateLowering::narrowed(Value weights) {
  if (element == rewriter.getF32Type())
    return weights;
  return b
      .generic({weights}, {b.emptyLike(weights, element)}, 2, false,
               [&](GenericBuilder &in, ValueRange args) {
                 return SmallVector<Value>{in.narrow(args[0], element)};
               })
      .front();
}

Value UpdateLowering::addWeightedValues(Value weights, Value acc) {
  auto product = linalg::MatmulOp::create(
      rewriter, op.getLoc(), TypeRange{acc.getType()},
      ValueRange{narrowed(weights), op.getV()}, ValueRange{acc});
  return product.getResult(0);
}

void UpdateLowering::run() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value scores = buildVisibleScores();
  Exponent exponent = buildExponent();
  RescaledState state = rescaleForBlock(b, op, scores, exponent, rescale);
  Value weights = buildWeights(scores, exponent, state);
  Value sum = addRowSums(weights, state.sum);
  Value acc =
      addWeightedValues(weights, rescaleAccumulator(b, op.getAccInit(), state));
  if (op.getNormalized())
    acc = scaleRows(b, acc, inverseSums(b, sum, /*empty=*/1.0));
  rewriter.replaceOp(op, {acc, state.max, sum});
}

LogicalResult fa::lowerUpdate(RewriterBase &rewriter, attn::UpdateOp op,
                              Rescale rescale) {
  if (!op.isTile())
    return op.emitOpError("is not on tiles of one head: run --tile first");
  if (op.getNormalized() && rescale != Rescale::Always)
    return op.emitOpError("is normalized, which rescales acc in every block: "
                          "run --delay-normalization first");
  UpdateLowering(rewriter, op, rescale).run();
  return success();
}
