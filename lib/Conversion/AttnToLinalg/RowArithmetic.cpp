//===- RowArithmetic.cpp - Arithmetic on the rows of a state --------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowArithmetic.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fa;

static int64_t rankOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank();
}

/// Twice a maximum that is not below this may overflow.
static constexpr double kOverflowingMax = 0x1p126;

Value Exponent::factorOf(GenericBuilder &b, Value max) const {
  if (!mayBeLarge)
    return factor;
  Value size = b.abs(max);
  Value exact =
      b.select(b.less(size, b.f32(kOverflowingMax)), b.f32(2.0), b.f32(1.0));
  return b.select(b.less(size, b.f32(kLargeMax)), factor, exact);
}

Value Exponent::factorsOf(GenericBuilder &b, Value max) const {
  if (!mayBeLarge)
    return nullptr;
  return b
      .generic({max}, {b.emptyLike(max)}, rankOf(max), false,
               [&](GenericBuilder &in, ValueRange args) {
                 return SmallVector<Value>{factorOf(in, args[0])};
               })
      .front();
}

Value Exponent::guardOf(GenericBuilder &b, Value max) const {
  Value isEmpty = b.equal(max, b.negativeInfinity());
  return b.select(isEmpty, b.f32(0.0), b.mul(max, factorOf(b, max)));
}

Value Exponent::of(GenericBuilder &b, Value score, Value max,
                   Value guard) const {
  // A fused product would be off by its rounding where the maximum stays, in
  // every block, and the state would drift with their number.
  return b.sub(b.mul(score, factorOf(b, max)), guard);
}

Exponent fa::makeExponent(GenericBuilder &b, Value unit) {
  if (matchPattern(unit, m_OneFloat()))
    return {b.f32(kLog2E), /*mayBeLarge=*/true};
  return {b.mul(unit, b.f32(kLog2E)), /*mayBeLarge=*/false};
}

RowStatistics fa::rescaleState(GenericBuilder &b, Value otherMax, Value max,
                               Value sum, const Exponent &exponent) {
  // One generic, which reads the old maximum and sum and writes the new ones in
  // their place: that keeps bufferization free of copies.
  SmallVector<Value> results = b.generic(
      {otherMax}, {max, sum, b.emptyLike(max), b.emptyLike(max)}, rankOf(max),
      false, [&](GenericBuilder &in, ValueRange args) {
        Value oldMax = args[1], oldSum = args[2];
        Value newMax = in.max(oldMax, args[0]);
        Value guard = exponent.guardOf(in, newMax);
        Value alpha = in.exp2(exponent.of(in, oldMax, newMax, guard));
        return SmallVector<Value>{newMax, in.mul(oldSum, alpha), guard, alpha};
      });
  return {results[0], results[2], results[1], results[3]};
}

Value fa::scaleRows(GenericBuilder &b, Value matrix, Value rows) {
  return b
      .generic({rows}, {matrix}, rankOf(matrix), false,
               [](GenericBuilder &in, ValueRange args) {
                 return SmallVector<Value>{in.mul(args[1], args[0])};
               })
      .front();
}

Value fa::rowMaxima(GenericBuilder &b, Value scores, Value like) {
  Value start = b.fill(b.negativeInfinity(), b.emptyLike(like));
  return b
      .generic({scores}, {start}, rankOf(scores), true,
               [](GenericBuilder &in, ValueRange args) {
                 return SmallVector<Value>{in.max(args[0], args[1])};
               })
      .front();
}

/// Reduces `predicate` of all elements of `tensor` by `Combiner`, from
/// `neutral` on.
template <typename Combiner>
static Value reduceToBit(GenericBuilder &b, Value tensor, bool neutral,
                         Predicate predicate) {
  int64_t rank = rankOf(tensor);
  Type i1 = b.builder.getI1Type();
  Value start = arith::ConstantOp::create(b.builder, b.loc,
                                          b.builder.getBoolAttr(neutral));
  Value bit =
      b.fill(start, tensor::EmptyOp::create(b.builder, b.loc,
                                            ArrayRef<OpFoldResult>(), i1));
  SmallVector<AffineMap> maps{b.identity(rank),
                              AffineMap::get(rank, 0, b.builder.getContext())};
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::reduction);
  Value result = b.generic({tensor}, {bit}, maps, iterators,
                           [&](GenericBuilder &in, ValueRange args) {
                             Value holds = predicate(in, args[0]);
                             Value both = Combiner::create(in.builder, in.loc,
                                                           holds, args[1]);
                             return SmallVector<Value>{both};
                           })
                     .front();
  return tensor::ExtractOp::create(b.builder, b.loc, result, ValueRange());
}

Value fa::anyOf(GenericBuilder &b, Value tensor, Predicate predicate) {
  return reduceToBit<arith::OrIOp>(b, tensor, /*neutral=*/false, predicate);
}

Value fa::allOf(GenericBuilder &b, Value tensor, Predicate predicate) {
  return reduceToBit<arith::AndIOp>(b, tensor, /*neutral=*/true, predicate);
}

Value fa::inverseSums(GenericBuilder &b, Value sum, double empty) {
  return b
      .generic({sum}, {b.emptyLike(sum)}, rankOf(sum), false,
               [&](GenericBuilder &in, ValueRange args) {
                 Value isEmpty = in.equal(args[0], in.f32(0.0));
                 Value inverse = arith::DivFOp::create(in.builder, in.loc,
                                                       in.f32(1.0), args[0]);
                 return SmallVector<Value>{
                     in.select(isEmpty, in.f32(empty), inverse)};
               })
      .front();
}

Value fa::buildLse(GenericBuilder &b, Value max, Value sum,
                   const Exponent &exponent, Value target) {
  return b
      .generic({max, sum}, {target}, rankOf(target), false,
               [&](GenericBuilder &in, ValueRange args) {
                 Value log2 = in.log2(args[1]), lse;
                 if (exponent.mayBeLarge) {
                   lse = in.add(args[0], in.mul(log2, in.f32(kLn2)));
                 } else {
                   // In the exp2 domain, where unit * max is rounded as the
                   // updates rounded it.
                   Value guard = in.mul(args[0], exponent.factor);
                   lse = in.mul(in.add(guard, log2), in.f32(kLn2));
                 }
                 Value empty = in.equal(args[1], in.f32(0.0));
                 return SmallVector<Value>{
                     in.select(empty, in.negativeInfinity(), lse)};
               })
      .front();
}
