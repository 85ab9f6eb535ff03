//===- Conversions.cpp - Comparisons and conversions -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of arith and index whose results have another type than their
// operands, selects, and constants.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace fa::sim;

//===----------------------------------------------------------------------===//
// Comparisons and selects
//===----------------------------------------------------------------------===//

template <typename F>
static Datum compareWith(Operation *op, const float *a, const float *b, F f) {
  return makeIntegers(op, [=](int64_t i) { return f(a[i], b[i]); });
}

static FailureOr<Datum> compareFloats(Operation *op, ArrayRef<Datum> in) {
  using P = arith::CmpFPredicate;
  const float *a = Elements(in[0]).floats, *b = Elements(in[1]).floats;
  auto with = [&](auto f) { return compareWith(op, a, b, f); };
  // The unordered form of a comparison is the negation of its opposite.
  switch (cast<arith::CmpFOp>(op).getPredicate()) {
  case P::AlwaysFalse:
    return with([](float, float) { return false; });
  case P::OEQ:
    return with([](float x, float y) { return x == y; });
  case P::OGT:
    return with([](float x, float y) { return x > y; });
  case P::OGE:
    return with([](float x, float y) { return x >= y; });
  case P::OLT:
    return with([](float x, float y) { return x < y; });
  case P::OLE:
    return with([](float x, float y) { return x <= y; });
  case P::ONE:
    return with([](float x, float y) { return x < y || x > y; });
  case P::ORD:
    return with([](float x, float y) { return x == x && y == y; });
  case P::UEQ:
    return with([](float x, float y) { return !(x < y || x > y); });
  case P::UGT:
    return with([](float x, float y) { return !(x <= y); });
  case P::UGE:
    return with([](float x, float y) { return !(x < y); });
  case P::ULT:
    return with([](float x, float y) { return !(x >= y); });
  case P::ULE:
    return with([](float x, float y) { return !(x > y); });
  case P::UNE:
    return with([](float x, float y) { return !(x == y); });
  case P::UNO:
    return with([](float x, float y) { return x != x || y != y; });
  case P::AlwaysTrue:
    return with([](float, float) { return true; });
  }
  llvm_unreachable("all predicates are handled");
}

/// Whether `predicate`, in the numbering that arith and index share in meaning,
/// holds for integers of `bits` bits.
static bool holds(arith::CmpIPredicate predicate, int64_t a, int64_t b,
                  unsigned bits) {
  using P = arith::CmpIPredicate;
  // A set i1 is -1 with a sign.
  int64_t sa = bits == 1 ? -a : a, sb = bits == 1 ? -b : b;
  uint64_t ua = asUnsigned(a, bits), ub = asUnsigned(b, bits);
  switch (predicate) {
  case P::eq:
    return a == b;
  case P::ne:
    return a != b;
  case P::slt:
    return sa < sb;
  case P::sle:
    return sa <= sb;
  case P::sgt:
    return sa > sb;
  case P::sge:
    return sa >= sb;
  case P::ult:
    return ua < ub;
  case P::ule:
    return ua <= ub;
  case P::ugt:
    return ua > ub;
  case P::uge:
    return ua >= ub;
  }
  llvm_unreachable("all predicates are handled");
}

static FailureOr<Datum> compareIntegers(Operation *op, ArrayRef<Datum> in) {
  Elements a(in[0]), b(in[1]);
  auto predicate = cast<arith::CmpIOp>(op).getPredicate();
  unsigned bits = getOperandBits(op);
  return makeIntegers(op, [=](int64_t i) {
    return holds(predicate, a.integer(i), b.integer(i), bits);
  });
}

static FailureOr<Datum> selectElements(Operation *op, ArrayRef<Datum> in) {
  if (auto *whole = std::get_if<int64_t>(&in[0]))
    return *whole ? in[1] : in[2];
  Elements condition(in[0]), a(in[1]), b(in[2]);
  if (isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return makeFloats(op, [=](int64_t i) {
      return condition.ints[i] ? a.floats[i] : b.floats[i];
    });
  return makeIntegers(
      op, [=](int64_t i) { return condition.ints[i] ? a.ints[i] : b.ints[i]; });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// A conversion between integers: f(value, bits of the operand).
template <typename F> static Evaluator integerCast(F f) {
  return [f](Operation *op, ArrayRef<Datum> in) -> FailureOr<Datum> {
    Elements a(in[0]);
    unsigned bits = getOperandBits(op);
    return makeIntegers(op, [=](int64_t i) { return f(a.integer(i), bits); });
  };
}

/// Between floats; the result is rounded to its type.
static FailureOr<Datum> convertFloat(Operation *op, ArrayRef<Datum> in) {
  const float *a = Elements(in[0]).floats;
  return makeFloats(op, [=](int64_t i) { return a[i]; });
}

/// From integers of either sign to floats.
template <bool isSigned>
static FailureOr<Datum> fromInteger(Operation *op, ArrayRef<Datum> in) {
  Elements a(in[0]);
  unsigned bits = getOperandBits(op);
  return makeFloats(op, [=](int64_t i) -> float {
    int64_t value = a.integer(i);
    if (isSigned)
      return bits == 1 ? -value : value;
    return asUnsigned(value, bits);
  });
}

/// From floats to integers, towards 0; what does not fit becomes the nearest
/// that does, and NaN 0, as the hardware converts.
template <bool isSigned>
static FailureOr<Datum> toInteger(Operation *op, ArrayRef<Datum> in) {
  const float *a = Elements(in[0]).floats;
  unsigned bits =
      getIntegerBits(getElementTypeOrSelf(op->getResult(0).getType()));
  double least = isSigned ? -std::ldexp(1.0, bits - 1) : 0;
  double end = std::ldexp(1.0, isSigned ? bits - 1 : bits);
  return makeIntegers(op, [=](int64_t i) -> int64_t {
    double value = std::trunc(double(a[i]));
    if (std::isnan(value))
      return 0;
    if (value >= end)
      return bits >= 64 ? std::numeric_limits<int64_t>::max()
                        : int64_t(end) - 1;
    return int64_t(std::max(value, least));
  });
}

/// Between f32 and i32.
static FailureOr<Datum> bitcast(Operation *op, ArrayRef<Datum> in) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  Elements a(in[0]);
  if (from.isF32() && to.isInteger(32))
    return makeIntegers(
        op, [=](int64_t i) { return llvm::bit_cast<int32_t>(a.floats[i]); });
  if (from.isInteger(32) && to.isF32())
    return makeFloats(op, [=](int64_t i) {
      return llvm::bit_cast<float>(int32_t(a.integer(i)));
    });
  return op->emitError("the simulator knows bitcasts between f32 and i32 only");
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

FailureOr<Datum> fa::sim::makeConstant(Type type, Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return Datum(float(number.getValueAsDouble()));
  if (auto number = dyn_cast<IntegerAttr>(value))
    return Datum(wrapInteger(number.getValue().getSExtValue(),
                             getIntegerBits(number.getType())));
  auto elements = dyn_cast<DenseElementsAttr>(value);
  auto vector = dyn_cast<VectorType>(type);
  if (!elements || !vector)
    return failure();
  auto fragment = std::make_shared<Fragment>(vector);
  if (isa<FloatType>(vector.getElementType())) {
    for (auto [out, number] :
         llvm::zip_equal(fragment->floats, elements.getValues<APFloat>()))
      out = number.convertToDouble();
  } else {
    unsigned bits = getIntegerBits(vector.getElementType());
    for (auto [out, number] :
         llvm::zip_equal(fragment->ints, elements.getValues<APInt>()))
      out = int32_t(wrapInteger(number.getSExtValue(), bits));
  }
  return Datum(FragmentPtr(std::move(fragment)));
}

static FailureOr<Datum> constant(Operation *op, ArrayRef<Datum>) {
  FailureOr<Datum> result =
      makeConstant(op->getResult(0).getType(), op->getAttr("value"));
  if (failed(result))
    return op->emitError("the simulator knows dense constants only");
  return result;
}

void fa::sim::addConversions(EvaluatorTable &table) {
  using I = int64_t;
  auto keep =
      integerCast([](I a, unsigned bits) { return bits == 1 ? -a : a; });
  auto widen =
      integerCast([](I a, unsigned bits) { return I(asUnsigned(a, bits)); });
  for (StringRef name :
       {"arith.index_cast", "arith.extsi", "arith.trunci", "index.casts"})
    table[name] = keep;
  for (StringRef name : {"arith.index_castui", "arith.extui", "index.castu"})
    table[name] = widen;
  table["arith.cmpi"] = compareIntegers;
  table["arith.select"] = selectElements;
  table["arith.bitcast"] = bitcast;
  for (StringRef name : {"arith.truncf", "arith.extf"})
    table[name] = convertFloat;
  for (StringRef name : {"arith.constant", "index.constant"})
    table[name] = constant;
  table["arith.cmpf"] = compareFloats;
  table["arith.sitofp"] = fromInteger<true>;
  table["arith.uitofp"] = fromInteger<false>;
  table["arith.fptosi"] = toInteger<true>;
  table["arith.fptoui"] = toInteger<false>;
}
