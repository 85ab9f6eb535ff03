//===- AttnAttrs.cpp - Variants and schedules as attributes -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace fa::attn;

/// i + Skv - Sq: the key at which query i stands, aligned at the bottom right.
static Value queryPosition(OpBuilder &builder, Location loc,
                           const VariantScope &scope) {
  Value shift = arith::SubIOp::create(builder, loc, scope.seqKV, scope.seqQ);
  return arith::AddIOp::create(builder, loc, scope.row, shift);
}

//===----------------------------------------------------------------------===//
// CausalAttr
//===----------------------------------------------------------------------===//

bool CausalAttr::hasMask() const { return true; }

Value CausalAttr::buildMask(OpBuilder &builder, Location loc,
                            const VariantScope &scope) const {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                               scope.key, queryPosition(builder, loc, scope));
}

//===----------------------------------------------------------------------===//
// WindowAttr
//===----------------------------------------------------------------------===//

LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 std::optional<int64_t> left,
                                 std::optional<int64_t> right) {
  if (!left && !right)
    return emitError() << "a window needs a left or a right side";
  for (std::optional<int64_t> side : {left, right})
    if (side && (*side < 0 || *side > std::numeric_limits<int32_t>::max()))
      return emitError() << "the sides of a window must be from 0 to 2^31 - 1, "
                            "found "
                         << *side;
  return success();
}

bool WindowAttr::hasMask() const { return true; }

Value WindowAttr::buildMask(OpBuilder &builder, Location loc,
                            const VariantScope &scope) const {
  Value position = queryPosition(builder, loc, scope), sees;
  auto limit = [&](std::optional<int64_t> distance,
                   arith::CmpIPredicate predicate) {
    if (!distance)
      return;
    Value size = arith::ConstantIndexOp::create(builder, loc, *distance);
    bool isLeft = predicate == arith::CmpIPredicate::sge;
    Value bound =
        isLeft ? arith::SubIOp::create(builder, loc, position, size).getResult()
               : arith::AddIOp::create(builder, loc, position, size);
    Value within =
        arith::CmpIOp::create(builder, loc, predicate, scope.key, bound);
    sees = sees ? arith::AndIOp::create(builder, loc, sees, within).getResult()
                : within;
  };
  limit(getLeft(), arith::CmpIPredicate::sge);
  limit(getRight(), arith::CmpIPredicate::sle);
  return sees;
}

//===----------------------------------------------------------------------===//
// SoftcapAttr
//===----------------------------------------------------------------------===//

LogicalResult SoftcapAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  FloatAttr cap) {
  double value = cap.getValueAsDouble();
  if (!(value > 0) || std::isinf(value))
    return emitError() << "the cap must be positive and finite, found "
                       << value;
  return success();
}

bool SoftcapAttr::hasScore() const { return true; }

Value SoftcapAttr::buildScore(OpBuilder &builder, Location loc, Value score,
                              const VariantScope &) const {
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(score.getType(), value));
  };
  double cap = getCap().getValueAsDouble();
  Value ratio = arith::MulFOp::create(builder, loc, score, constant(1.0 / cap));
  // In f32 the GPU's own approximation of tanh will do.
  auto fast = score.getType().isF32() ? arith::FastMathFlags::afn
                                      : arith::FastMathFlags::none;
  Value bounded = math::TanhOp::create(builder, loc, ratio, fast);
  return arith::MulFOp::create(builder, loc, bounded, constant(cap));
}

//===----------------------------------------------------------------------===//
// AlibiAttr
//===----------------------------------------------------------------------===//

namespace {
/// Scalar arithmetic on indexes and one float type.
struct ScalarBuilder {
  OpBuilder &builder;
  Location loc;
  Type type;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value number(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, value));
  }
  Value toFloat(Value index) {
    Value integer =
        arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
    return arith::SIToFPOp::create(builder, loc, type, integer);
  }
  Value sub(Value lhs, Value rhs) {
    return arith::SubIOp::create(builder, loc, lhs, rhs);
  }
  Value twicePlus(Value value, int64_t summand) {
    Value twice = arith::AddIOp::create(builder, loc, value, value);
    return arith::AddIOp::create(builder, loc, twice, index(summand));
  }
};
} // namespace

/// The largest power of two up to `heads`.
static Value floorPowerOfTwo(ScalarBuilder &b, Value heads) {
  Type i32 = b.builder.getI32Type();
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(b.builder, b.loc,
                                     b.builder.getI32IntegerAttr(value));
  };
  Value count = arith::IndexCastOp::create(b.builder, b.loc, i32, heads);
  Value zeros = math::CountLeadingZerosOp::create(b.builder, b.loc, count);
  Value power = arith::ShRUIOp::create(
      b.builder, b.loc, constant(std::numeric_limits<int32_t>::min()), zeros);
  return arith::IndexCastUIOp::create(b.builder, b.loc,
                                      b.builder.getIndexType(), power);
}

bool AlibiAttr::hasScore() const { return true; }

Value AlibiAttr::buildScore(OpBuilder &builder, Location loc, Value score,
                            const VariantScope &scope) const {
  ScalarBuilder b{builder, loc, score.getType()};

  // 1. The slope: both cases are 2^(-4 m / n), m = 2 (h + 1) or 2 (h - n) + 1.
  Value n = floorPowerOfTwo(b, scope.headsQ);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        scope.head, n);
  Value m =
      arith::SelectOp::create(builder, loc, isFirst, b.twicePlus(scope.head, 2),
                              b.twicePlus(b.sub(scope.head, n), 1));
  Value ratio = arith::DivFOp::create(builder, loc, b.toFloat(m), b.toFloat(n));
  // In f32 the GPU's own approximation of exp2 will do.
  auto fast = score.getType().isF32() ? arith::FastMathFlags::afn
                                      : arith::FastMathFlags::none;
  Value slope = math::Exp2Op::create(
      builder, loc, arith::MulFOp::create(builder, loc, ratio, b.number(-4.0)),
      fast);

  // 2. s - slope |distance|.
  Value distance = b.sub(queryPosition(builder, loc, scope), scope.key);
  Value length = math::AbsFOp::create(builder, loc, b.toFloat(distance));
  Value penalty = arith::MulFOp::create(builder, loc, slope, length);
  return arith::SubFOp::create(builder, loc, score, penalty);
}

//===----------------------------------------------------------------------===//
// ScheduleAttr
//===----------------------------------------------------------------------===//

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   StringRef target, int64_t br, int64_t bc,
                                   int64_t teams, int64_t warps, int64_t stages,
                                   Partition partition, Rescale rescale) {
  if (br < 1 || bc < 1)
    return emitError() << "block sizes must be positive, found br = " << br
                       << ", bc = " << bc;
  if (teams < 1 || warps < 1 || stages < 1)
    return emitError() << "teams, warps and stages must be positive, found "
                       << teams << ", " << warps << " and " << stages;
  return success();
}
