//===- RescalePolicies.cpp - When a state moves to a new maximum ----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RescalePolicies.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fa;

double fa::getFirstMaxBound(Type element) {
  return element.isF16() ? 65504.0 / 2 : 0x1p64;
}

/// The state at the maximum of all that was seen, in every block. A normalised
/// accumulator is acc / sum: the old sum, rescaled, takes alpha's place.
static RescaledState rescaleAlways(GenericBuilder &b, attn::UpdateOp op,
                                   Value scores, const Exponent &exponent) {
  RowStatistics rows = rescaleState(b, rowMaxima(b, scores, op.getMaxInit()),
                                    op.getMaxInit(), op.getSumInit(), exponent);
  return {rows.max, rows.sum, rows.guard,
          op.getNormalized() ? rows.sum : rows.alpha};
}

/// The row statistics of `lazy`: a row moves to the block's maximum where that
/// is more than the threshold above its own, or its first.
static RowStatistics moveLazily(GenericBuilder &b, Value blockMax, Value max,
                                Value sum, const Exponent &exponent) {
  SmallVector<Value> results = b.generic(
      {blockMax}, {max, sum, b.emptyLike(max), b.emptyLike(max)}, 1, false,
      [&](GenericBuilder &in, ValueRange args) {
        Value oldMax = args[1], oldSum = args[2];
        Value oldGuard = in.mul(oldMax, exponent.factorOf(in, oldMax));
        // Both -inf: the difference is NaN, and the row stays.
        Value growth = exponent.of(in, args[0], oldMax, oldGuard);
        Value moves = in.greater(growth, in.f32(kLazyThreshold));
        Value newMax = in.select(moves, args[0], oldMax);
        Value guard = exponent.guardOf(in, newMax);
        // A row's first maximum has nothing to rescale: acc and sum are 0.
        Value wasEmpty = in.equal(oldMax, in.negativeInfinity());
        Value alpha =
            in.select(wasEmpty, in.f32(1.0),
                      in.exp2(exponent.of(in, oldMax, newMax, guard)));
        return SmallVector<Value>{newMax, in.mul(oldSum, alpha), guard, alpha};
      });
  return {results[0], results[2], results[1], results[3]};
}

static RescaledState rescaleLazily(GenericBuilder &b, attn::UpdateOp op,
                                   Value scores, const Exponent &exponent) {
  RowStatistics rows = moveLazily(b, rowMaxima(b, scores, op.getMaxInit()),
                                  op.getMaxInit(), op.getSumInit(), exponent);
  return {rows.max, rows.sum, rows.guard, rows.alpha, /*isRare=*/true};
}

/// A branch on the disjunction of flags of rows, of which both sides give the
/// same for a row whose flag is false.
static Value
branchOfAnyRow(GenericBuilder &b, Value any,
               function_ref<void(OpBuilder &, Location)> thenBuilder,
               function_ref<void(OpBuilder &, Location)> elseBuilder) {
  auto branch =
      scf::IfOp::create(b.builder, b.loc, any, thenBuilder, elseBuilder);
  branch->setAttr(attn::kAnyRowAttrName, b.builder.getUnitAttr());
  return branch.getResult(0);
}

/// The block's maxima for the rows that have seen no key, which are looked for
/// only where there is such a row.
static Value takeFirstMaxima(GenericBuilder &b, Value scores, Value max) {
  Value anyEmpty = anyOf(b, max, [](GenericBuilder &in, Value max) {
    return in.equal(max, in.negativeInfinity());
  });
  auto take = [&](OpBuilder &builder, Location loc) {
    GenericBuilder inBranch(builder, loc);
    Value blockMax = rowMaxima(inBranch, scores, max);
    Value first = inBranch
                      .generic({blockMax}, {max}, 1, false,
                               [](GenericBuilder &in, ValueRange args) {
                                 Value isEmpty =
                                     in.equal(args[1], in.negativeInfinity());
                                 return SmallVector<Value>{
                                     in.select(isEmpty, args[0], args[1])};
                               })
                      .front();
    scf::YieldOp::create(builder, loc, first);
  };
  auto keep = [&](OpBuilder &builder, Location loc) {
    scf::YieldOp::create(builder, loc, max);
  };
  return branchOfAnyRow(b, anyEmpty, take, keep);
}

/// Nothing is rescaled: a row stays at the maximum of its first block.
static RescaledState keepFirstMax(GenericBuilder &b, attn::UpdateOp op,
                                  Value scores, const Exponent &exponent) {
  Value max = takeFirstMaxima(b, scores, op.getMaxInit());
  Value guard =
      b.generic({max}, {b.emptyLike(max)}, 1, false,
                [&](GenericBuilder &in, ValueRange args) {
                  return SmallVector<Value>{exponent.guardOf(in, args[0])};
                })
          .front();
  return {max, op.getSumInit(), guard, /*accFactor=*/Value()};
}

RescaledState fa::rescaleForBlock(GenericBuilder &b, attn::UpdateOp op,
                                  Value scores, const Exponent &exponent,
                                  Rescale policy) {
  switch (policy) {
  case Rescale::Always:
    return rescaleAlways(b, op, scores, exponent);
  case Rescale::Lazy:
    return rescaleLazily(b, op, scores, exponent);
  case Rescale::FirstMax:
    return keepFirstMax(b, op, scores, exponent);
  }
  llvm_unreachable("unknown policy");
}

Value fa::rescaleAccumulator(GenericBuilder &b, Value acc,
                             const RescaledState &state) {
  if (!state.accFactor)
    return acc;
  if (!state.isRare)
    return scaleRows(b, acc, state.accFactor);
  // Only where a row of the tile moved, whose factor is then below 1.
  Value anyMoved =
      anyOf(b, state.accFactor, [](GenericBuilder &in, Value alpha) {
        return in.less(alpha, in.f32(1.0));
      });
  auto rescale = [&](OpBuilder &builder, Location loc) {
    GenericBuilder in(builder, loc);
    scf::YieldOp::create(builder, loc, scaleRows(in, acc, state.accFactor));
  };
  auto keep = [&](OpBuilder &builder, Location loc) {
    scf::YieldOp::create(builder, loc, acc);
  };
  return branchOfAnyRow(b, anyMoved, rescale, keep);
}
