//===- LowerMerge.cpp - attn.merge into loops over states -----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two loops over the partial states: one for the maximum of all, one that adds
// them up. A state is a slice of its own, whose sizes do not depend on the
// number of states: what reads it on a GPU is a load of a tile.
//
//===----------------------------------------------------------------------===//

#include "RowArithmetic.h"

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fa;

/// State `number` of `partials`.
static Value stateOf(GenericBuilder &b, Value partials, Value number) {
  auto type = cast<RankedTensorType>(partials.getType());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b.builder, b.loc, partials);
  SmallVector<OpFoldResult> offsets(type.getRank(), b.builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), b.builder.getIndexAttr(1));
  offsets[0] = number;
  sizes[0] = b.builder.getIndexAttr(1);
  auto stateType = RankedTensorType::get(type.getShape().drop_front(),
                                         type.getElementType());
  return tensor::ExtractSliceOp::create(b.builder, b.loc, stateType, partials,
                                        offsets, sizes, strides);
}

/// The number of states in `partials`, which no padding adds to.
static Value countStates(GenericBuilder &b, Value partials) {
  if (auto pad = partials.getDefiningOp<tensor::PadOp>())
    partials = pad.getSource();
  auto type = cast<RankedTensorType>(partials.getType());
  if (auto slice = partials.getDefiningOp<tensor::ExtractSliceOp>();
      slice && type.isDynamicDim(0) && !slice.getDroppedDims().test(0))
    return getValueOrCreateConstantIndexOp(b.builder, b.loc,
                                           slice.getMixedSizes()[0]);
  return b.builder.createOrFold<tensor::DimOp>(b.loc, partials, /*index=*/0);
}

/// Carries `inits` through all states of `op`; `body` gets a state's number.
static SmallVector<Value>
foldStates(GenericBuilder &b, attn::MergeOp op, ValueRange inits,
           function_ref<SmallVector<Value>(GenericBuilder &, Value, ValueRange)>
               body) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b.builder, b.loc, value);
  };
  Value count = countStates(b, op.getPartialMax());
  auto loop = scf::ForOp::create(
      b.builder, b.loc, index(0), count, index(1), inits,
      [&](OpBuilder &nested, Location, Value number, ValueRange carried) {
        GenericBuilder inner(nested, b.loc);
        scf::YieldOp::create(nested, b.loc, body(inner, number, carried));
      });
  return SmallVector<Value>(loop.getResults());
}

/// The maximum of the partial states' maxima.
static Value buildPartialsMax(GenericBuilder &b, attn::MergeOp op) {
  Value start = b.fill(b.negativeInfinity(), b.emptyLike(op.getMaxInit()));
  int64_t rank = op.getMaxInit().getType().getRank();
  return foldStates(
             b, op, {start},
             [&](GenericBuilder &inner, Value number, ValueRange carried) {
               return inner.generic(
                   {stateOf(inner, op.getPartialMax(), number)}, carried, rank,
                   /*reducesColumns=*/false,
                   [](GenericBuilder &in, ValueRange args) {
                     return SmallVector<Value>{in.max(args[0], args[1])};
                   });
             })
      .front();
}

/// w = exp2 of the state's maximum's exponent, which is 0 where that is -inf:
/// the guard is finite. It is exactly 1 for the state that has the maximum.
static Value buildWeight(GenericBuilder &b, Value stateMax,
                         const Exponent &exponent, const RowStatistics &rows) {
  int64_t rank = cast<RankedTensorType>(stateMax.getType()).getRank();
  SmallVector<Value> inputs{stateMax, rows.guard};
  if (exponent.mayBeLarge)
    inputs.push_back(rows.max);
  return b
      .generic(inputs, {b.emptyLike(stateMax)}, rank,
               /*reducesColumns=*/false,
               [&](GenericBuilder &in, ValueRange args) {
                 Value max = exponent.mayBeLarge ? args[2] : Value();
                 return SmallVector<Value>{
                     in.exp2(exponent.of(in, args[0], max, args[1]))};
               })
      .front();
}

/// sum + w * (the state's sum).
static Value addSum(GenericBuilder &b, Value weight, Value stateSum,
                    Value sum) {
  int64_t rank = cast<RankedTensorType>(sum.getType()).getRank();
  return b
      .generic({weight, stateSum}, {sum}, rank, /*reducesColumns=*/false,
               [](GenericBuilder &in, ValueRange args) {
                 return SmallVector<Value>{
                     in.mulAdd(args[0], args[1], args[2])};
               })
      .front();
}

/// acc + w * (the state's acc), where a normalised one is times its sum too.
static Value addAccumulator(GenericBuilder &b, ValueRange factors,
                            Value stateAcc, Value acc) {
  SmallVector<Value> inputs(factors);
  inputs.push_back(stateAcc);
  int64_t rank = cast<RankedTensorType>(acc.getType()).getRank();
  return b
      .generic(inputs, {acc}, rank, /*reducesColumns=*/false,
               [&](GenericBuilder &in, ValueRange args) {
                 Value weight = args[0];
                 if (factors.size() > 1)
                   weight = in.mul(weight, args[1]);
                 return SmallVector<Value>{
                     in.mulAdd(weight, args.drop_back().back(), args.back())};
               })
      .front();
}

void fa::lowerMerge(RewriterBase &rewriter, attn::MergeOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  GenericBuilder b(rewriter, op.getLoc());

  // 1. The maximum of all states; the state in `outs` at it.
  Exponent exponent = makeExponent(b, op.getUnit());
  RowStatistics rows = rescaleState(b, buildPartialsMax(b, op), op.getMaxInit(),
                                    op.getSumInit(), exponent);
  Value ofOld = op.getNormalized() ? rows.sum : rows.alpha;
  Value old = scaleRows(b, op.getAccInit(), ofOld);

  // 2. The partial states, each with its weight.
  SmallVector<Value> total = foldStates(
      b, op, {old, rows.sum},
      [&](GenericBuilder &inner, Value number, ValueRange carried) {
        Value weight = buildWeight(
            inner, stateOf(inner, op.getPartialMax(), number), exponent, rows);
        Value stateSum = stateOf(inner, op.getPartialSum(), number);
        SmallVector<Value> factors{weight};
        if (op.getNormalized())
          factors.push_back(stateSum);
        Value acc = addAccumulator(inner, factors,
                                   stateOf(inner, op.getPartialAcc(), number),
                                   carried[0]);
        return SmallVector<Value>{acc,
                                  addSum(inner, weight, stateSum, carried[1])};
      });
  Value acc = total[0], sum = total[1];
  if (op.getNormalized())
    acc = scaleRows(b, acc, inverseSums(b, sum, /*empty=*/1.0));
  rewriter.replaceOp(op, {acc, rows.max, sum});
}
