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

#include "Elementwise.h"

#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;
using namespace fa::sim;

unsigned fa::sim::getIntegerBits(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

int64_t fa::sim::wrapInteger(int64_t value, unsigned bits) {
  if (bits == 1)
    return value & 1;
  return bits >= 64 ? value
                    : int64_t(uint64_t(value) << (64 - bits)) >> (64 - bits);
}

//===----------------------------------------------------------------------===//
// From functions of elements to evaluators
//===----------------------------------------------------------------------===//

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
    unsigned bits = getOperandBits(op);
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

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

static int64_t divideFloor(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static void addFloats(EvaluatorTable &table) {
  table["arith.addf"] = floatBinary([](float a, float b) { return a + b; });
  table["arith.subf"] = floatBinary([](float a, float b) { return a - b; });
  table["arith.mulf"] = floatBinary([](float a, float b) { return a * b; });
  table["arith.divf"] = floatBinary([](float a, float b) { return a / b; });
  table["arith.negf"] = floatUnary([](float a) { return -a; });
  // maxnumf gives the number where one operand is NaN, maximumf the NaN.
  table["arith.maxnumf"] = floatBinary([](float a, float b) {
    return a != a ? b : b > a ? b : a;
  });
  table["arith.minnumf"] = floatBinary([](float a, float b) {
    return a != a ? b : b < a ? b : a;
  });
  table["arith.maximumf"] = floatBinary([](float a, float b) {
    return a != a ? a : a > b ? a : b;
  });
  table["arith.minimumf"] = floatBinary([](float a, float b) {
    return a != a ? a : a < b ? a : b;
  });

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
  table["math.powf"] =
      floatBinary([](float a, float b) { return std::pow(a, b); });
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
static void addIntegers(EvaluatorTable &table, StringRef dialect) {
  auto add = [&](StringRef name, Evaluator evaluator) {
    table[(dialect + "." + name).str()] = std::move(evaluator);
  };
  bool isIndex = dialect == "index";
  auto name = [&](StringRef arith, StringRef index) {
    return isIndex ? index : arith;
  };
  using I = int64_t;
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

/// A function of one integer of the operand's width: f(a, bits).
template <typename F> static Evaluator integerUnary(F f) {
  return [f](Operation *op, ArrayRef<Datum> in) -> FailureOr<Datum> {
    Elements a(in[0]);
    unsigned bits = getOperandBits(op);
    return makeIntegers(op, [=](int64_t i) { return f(a.integer(i), bits); });
  };
}

static void addBits(EvaluatorTable &table) {
  table["math.absi"] = integerUnary(
      [](int64_t a, unsigned) { return a < 0 ? 0 - uint64_t(a) : a; });
  table["math.ctlz"] = integerUnary([](int64_t a, unsigned bits) {
    return llvm::countl_zero(asUnsigned(a, bits)) - (64 - int(bits));
  });
  table["math.cttz"] = integerUnary([](int64_t a, unsigned bits) {
    return std::min<int64_t>(llvm::countr_zero(asUnsigned(a, bits)), bits);
  });
  table["math.ctpop"] = integerUnary([](int64_t a, unsigned bits) {
    return llvm::popcount(asUnsigned(a, bits));
  });
}

static void addShifts(EvaluatorTable &table) {
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
}

const Evaluator *fa::sim::findArithmetic(StringRef name) {
  static const EvaluatorTable table = [] {
    EvaluatorTable result;
    addFloats(result);
    addIntegers(result, "arith");
    addIntegers(result, "index");
    addShifts(result);
    addBits(result);
    addConversions(result);
    return result;
  }();
  auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}
