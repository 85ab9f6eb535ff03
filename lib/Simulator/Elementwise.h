//===- Elementwise.h - Functions of elements, on values -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the simulator's evaluators share: a function of elements becomes one of
// scalars and fragments.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_SIMULATOR_ELEMENTWISE_H
#define FA_LIB_SIMULATOR_ELEMENTWISE_H

#include "Value.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

namespace fa::sim {

using EvaluatorTable = llvm::StringMap<Evaluator>;

/// Adds comparisons, selects, conversions and constants to `table`.
void addConversions(EvaluatorTable &table);

/// `value` of `bits` bits, read without sign.
inline uint64_t asUnsigned(int64_t value, unsigned bits) {
  return bits >= 64 ? uint64_t(value) : uint64_t(value) & ((1ull << bits) - 1);
}

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

/// A float for each element, `compute(i)`, rounded to the result's type.
template <typename Compute>
Datum makeFloats(mlir::Operation *op, Compute compute) {
  mlir::Type type = op->getResult(0).getType();
  FloatFormat format = *getFloatFormat(mlir::getElementTypeOrSelf(type));
  auto vector = llvm::dyn_cast<mlir::VectorType>(type);
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
Datum makeIntegers(mlir::Operation *op, Compute compute) {
  mlir::Type type = op->getResult(0).getType();
  unsigned bits = getIntegerBits(mlir::getElementTypeOrSelf(type));
  auto vector = llvm::dyn_cast<mlir::VectorType>(type);
  if (!vector)
    return wrapInteger(compute(0), bits);
  auto result = std::make_shared<Fragment>(vector);
  int32_t *out = result->ints.data();
  int64_t count = vector.getNumElements();
  for (int64_t i = 0; i < count; ++i)
    out[i] = int32_t(wrapInteger(compute(i), bits));
  return FragmentPtr(std::move(result));
}

/// The bits of an op's first operand's elements.
inline unsigned getOperandBits(mlir::Operation *op) {
  return getIntegerBits(
      mlir::getElementTypeOrSelf(op->getOperand(0).getType()));
}

} // namespace fa::sim

#endif // FA_LIB_SIMULATOR_ELEMENTWISE_H
