//===- Arithmetic.cpp - Elementwise ops of the simulator -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arith, math and index ops, each a function on elements that is applied
// to scalars and fragments. Floats are computed in f32 and rounded to the
// result's type.
//
//===----------------------------------------------------------------------===//

#include "Value.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace fa::sim;

unsigned fa::sim::getIntegerBits(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

int64_t fa::sim::wrapInteger(int64_t value, unsigned bits) {
  if (bits == 1)
    return value & 1;
  return bits >= 64 ? value : int64_t(uint64_t(value) << (64 - bits)) >>
                                  (64 - bits);
}

/// `value` of `bits` bits, read without sign.
static uint64_t asUnsigned(int64_t value, unsigned bits) {
  return bits >= 64 ? uint64_t(value) : uint64_t(value) & ((1ull << bits) - 1);
}

//===----------------------------------------------------------------------===//
// From elements to values
//===----------------------------------------------------------------------===//

namespace {
/// The elements of a scalar or fragment, floats or integers.
struct Elements {
  const float *floats = nullptr;
  const int32_t *ints = nullptr;
  int64_t scalar = 0;

  explicit Elements(const Datum &datum) {
    if (auto *fragment = std::get_if<FragmentPtr>(&datum)) {
      floats = (*fragment)->floats.data();
      ints = (*fragment)->ints.data();
    } else if (auto *number = std::get_if<float>(&datum)) {
      floats = number;
    } else {
      scalar = *std::get_if<int64_t>(&datum);
    }
  }

  int64_t integer(int64_t i) const { return ints ? ints[i] : scalar; }
};
} // namespace

/// A float for each element, `compute(i)`, rounded to the result's type.
template <typename Compute>
static Datum makeFloats(Operation *op, Compute compute) {
  Type type = op->getResult(0).getType();
  FloatFormat format = *getFloatFormat(getElementTypeOrSelf(type));
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return roundTo(format, compute(0));
  auto result = std::make_shared<Fragment>(vector);
  float *out = result->floats.data();
  int64_t count = vector.getNumElements();
  for (int64_t i = 0; i < count; ++i)
    out[i] = compute(i);
  roundInPlace(format, result->floats);
  return FragmentPtr(std::move(result));
}

/// The same for integers, wrapped to the result's type.
template <typename Compute>
static Datum makeIntegers(Operation *op, Compute compute) {
  Type type = op->getResult(0).getType();
  unsigned bits = getIntegerBits(getElementTypeOrSelf(type));
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return wrapInteger(compute(0), bits);
  auto result = std::make_shared<Fragment>(vector);
  int32_t *out = result->ints.data();
  int64_t count = vector.getNumElements();
  for (int64_t i = 0; i < count; ++i)
    out[i] = int32_t(wrapInteger(compute(i), bits));
  return FragmentPtr(std::move(result));
}

template <typename F> static Evaluator floatUnary(F f) {
  return [f](Operation *op, ArrayRef<Datum> in) -> FailureOr<Datum> {
    const float *a = Elements(in[0]).floats;
    return makeFloats(op, [=](int64_t i) { return f(a[i]); });
  };
}

template <typename F> static Evaluator floatBinary(F f) {
  return [f](Operation *op, ArrayRef<Datum> in) -> FailureOr<Datum> {
    const float *a = Elements(in[0]).floats, *b = Elements(in[1]).floats;
    return makeFloats(op, [=](int64_t i) { return f(a[i], b[i]); });
  };
}

/// An op on integers of the operands' width: f(a, b, bits).
template <typename F> static Evaluator integerBinary(F f) {
  return [f](Operation *op, ArrayRef<Datum> in) -> FailureOr<Datum> {
    Elements a(in[0]), b(in[1]);
    unsigned bits =
        getIntegerBits(getElementTypeOrSelf(op->getOperand(0).getType()));
    return makeIntegers(
        op, [=](int64_t i) { return f(a.integer(i), b.integer(i), bits); });
  };
}

/// A division, which must not be by 0.
template <typename F> static Evaluator division(F f) {
  Evaluator divide = integerBinary([f](int64_t a, int64_t b, unsigned bits) {
    return b ? f(a, b, bits) : 0;
  });
  return [divide](Operation *op, ArrayRef<Datum> in) -> FailureOr<Datum> {
    Elements divisor(in[1]);
    int64_t count = 1;
    if (auto vector = dyn_cast<VectorType>(op->getOperand(1).getType()))
      count = vector.getNumElements();
    for (int64_t i = 0; i < count; ++i)
      if (divisor.integer(i) == 0)
        return op->emitError("divides by 0");
    return divide(op, in);
  };
}

/// A conversion between integers: f(value, bits of the operand).
template <typename F> static Evaluator integerCast(F f) {
  return [f](Operation *op, ArrayRef<Datum> in) -> FailureOr<Datum> {
    Elements a(in[0]);
    unsigned bits =
        getIntegerBits(getElementTypeOrSelf(op->getOperand(0).getType()));
    return makeIntegers(op, [=](int64_t i) { return f(a.integer(i), bits); });
  };
}

//===----------------------------------------------------------------------===//
// Comparisons, selects, conversions, constants
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
  unsigned bits =
      getIntegerBits(getElementTypeOrSelf(op->getOperand(0).getType()));
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
  return makeIntegers(op, [=](int64_t i) {
    return condition.ints[i] ? a.ints[i] : b.ints[i];
  });
}

/// From integers of either sign to floats.
template <bool isSigned>
static FailureOr<Datum> fromInteger(Operation *op, ArrayRef<Datum> in) {
  Elements a(in[0]);
  unsigned bits =
      getIntegerBits(getElementTypeOrSelf(op->getOperand(0).getType()));
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

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

static int64_t divideFloor(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static void addFloats(llvm::StringMap<Evaluator> &table) {
  table["arith.addf"] = floatBinary([](float a, float b) { return a + b; });
  table["arith.subf"] = floatBinary([](float a, float b) { return a - b; });
  table["arith.mulf"] = floatBinary([](float a, float b) { return a * b; });
  table["arith.divf"] = floatBinary([](float a, float b) { return a / b; });
  table["arith.negf"] = floatUnary([](float a) { return -a; });
  // maxnumf gives the number where one operand is NaN, maximumf the NaN.
  table["arith.maxnumf"] = floatBinary(
      [](float a, float b) { return a != a ? b : b > a ? b : a; });
  table["arith.minnumf"] = floatBinary(
      [](float a, float b) { return a != a ? b : b < a ? b : a; });
  table["arith.maximumf"] = floatBinary(
      [](float a, float b) { return a != a ? a : a > b ? a : b; });
  table["arith.minimumf"] = floatBinary(
      [](float a, float b) { return a != a ? a : a < b ? a : b; });
  table["arith.truncf"] = floatUnary([](float a) { return a; });
  table["arith.extf"] = floatUnary([](float a) { return a; });
  table["arith.cmpf"] = compareFloats;
  table["arith.sitofp"] = fromInteger<true>;
  table["arith.uitofp"] = fromInteger<false>;
  table["arith.fptosi"] = toInteger<true>;
  table["arith.fptoui"] = toInteger<false>;

  table["math.absf"] = floatUnary([](float a) { return std::fabs(a); });
  table["math.ceil"] = floatUnary([](float a) { return std::ceil(a); });
  table["math.exp"] = floatUnary([](float a) { return std::exp(a); });
  table["math.exp2"] = floatUnary([](float a) { return std::exp2(a); });
  table["math.floor"] = floatUnary([](float a) { return std::floor(a); });
  table["math.log"] = floatUnary([](float a) { return std::log(a); });
  table["math.log2"] = floatUnary([](float a) { return std::log2(a); });
  table["math.rsqrt"] = floatUnary([](float a) { return 1 / std::sqrt(a); });
  table["math.sqrt"] = floatUnary([](float a) { return std::sqrt(a); });
  table["math.tanh"] = floatUnary([](float a) { return std::tanh(a); });
  table["math.fma"] = [](Operation *op, ArrayRef<Datum> in) {
    const float *a = Elements(in[0]).floats, *b = Elements(in[1]).floats,
                *c = Elements(in[2]).floats;
    // The product of two f32 is exact in f64.
    return FailureOr<Datum>(makeFloats(op, [=](int64_t i) {
      return float(double(a[i]) * double(b[i]) + double(c[i]));
    }));
  };
}

/// Integer ops that arith and index have in common.
static void addIntegers(llvm::StringMap<Evaluator> &table, StringRef dialect) {
  auto add = [&](StringRef name, Evaluator evaluator) {
    table[(dialect + "." + name).str()] = std::move(evaluator);
  };
  bool isIndex = dialect == "index";
  auto name = [&](StringRef arith, StringRef index) {
    return isIndex ? index : arith;
  };
  using I = int64_t;
  add("constant", constant);
  add(name("addi", "add"), integerBinary([](I a, I b, unsigned) {
        return I(uint64_t(a) + uint64_t(b));
      }));
  add(name("subi", "sub"), integerBinary([](I a, I b, unsigned) {
        return I(uint64_t(a) - uint64_t(b));
      }));
  add(name("muli", "mul"), integerBinary([](I a, I b, unsigned) {
        return I(uint64_t(a) * uint64_t(b));
      }));
  add(name("andi", "and"),
      integerBinary([](I a, I b, unsigned) { return a & b; }));
  add(name("ori", "or"),
      integerBinary([](I a, I b, unsigned) { return a | b; }));
  add(name("xori", "xor"),
      integerBinary([](I a, I b, unsigned) { return a ^ b; }));
  add(name("maxsi", "maxs"),
      integerBinary([](I a, I b, unsigned) { return std::max(a, b); }));
  add(name("minsi", "mins"),
      integerBinary([](I a, I b, unsigned) { return std::min(a, b); }));
  add(name("maxui", "maxu"), integerBinary([](I a, I b, unsigned bits) {
        return asUnsigned(a, bits) > asUnsigned(b, bits) ? a : b;
      }));
  add(name("minui", "minu"), integerBinary([](I a, I b, unsigned bits) {
        return asUnsigned(a, bits) < asUnsigned(b, bits) ? a : b;
      }));
  add(name("divsi", "divs"),
      division([](I a, I b, unsigned) { return b == -1 ? 0 - a : a / b; }));
  add(name("remsi", "rems"),
      division([](I a, I b, unsigned) { return b == -1 ? 0 : a % b; }));
  add(name("divui", "divu"), division([](I a, I b, unsigned bits) {
        return I(asUnsigned(a, bits) / asUnsigned(b, bits));
      }));
  add(name("remui", "remu"), division([](I a, I b, unsigned bits) {
        return I(asUnsigned(a, bits) % asUnsigned(b, bits));
      }));
  add(name("ceildivui", "ceildivu"), division([](I a, I b, unsigned bits) {
        uint64_t n = asUnsigned(a, bits), d = asUnsigned(b, bits);
        return I(n / d + (n % d != 0));
      }));
  add(name("floordivsi", "floordivs"), division([](I a, I b, unsigned) {
        return b == -1 ? 0 - a : divideFloor(a, b);
      }));
  add(name("ceildivsi", "ceildivs"), division([](I a, I b, unsigned) {
        return b == -1 ? 0 - a : -divideFloor(-a, b);
      }));
}

static void addShiftsAndCasts(llvm::StringMap<Evaluator> &table) {
  using I = int64_t;
  // A shift by the width or more shifts everything out.
  table["arith.shli"] = integerBinary([](I a, I b, unsigned bits) {
    return asUnsigned(b, bits) < bits ? I(uint64_t(a) << b) : 0;
  });
  table["arith.shrui"] = integerBinary([](I a, I b, unsigned bits) {
    return asUnsigned(b, bits) < bits ? I(asUnsigned(a, bits) >> b) : 0;
  });
  table["arith.shrsi"] = integerBinary([](I a, I b, unsigned bits) {
    return a >> std::min<uint64_t>(asUnsigned(b, bits), 63);
  });
  auto keep = integerCast([](I a, unsigned bits) {
    return bits == 1 ? -a : a;
  });
  auto widen = integerCast(
      [](I a, unsigned bits) { return I(asUnsigned(a, bits)); });
  for (StringRef name : {"arith.index_cast", "arith.extsi", "arith.trunci",
                         "index.casts"})
    table[name] = keep;
  for (StringRef name : {"arith.index_castui", "arith.extui", "index.castu"})
    table[name] = widen;
  table["arith.cmpi"] = compareIntegers;
  table["arith.select"] = selectElements;
  table["arith.bitcast"] = bitcast;
}

const Evaluator *fa::sim::findArithmetic(StringRef name) {
  static const llvm::StringMap<Evaluator> table = [] {
    llvm::StringMap<Evaluator> result;
    addFloats(result);
    addIntegers(result, "arith");
    addIntegers(result, "index");
    addShiftsAndCasts(result);
    return result;
  }();
  auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}
