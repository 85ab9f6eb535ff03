//===- Compare.cpp - Whether outputs are right -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Compare.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace fa::execute;

/// What f32 results and lse may be off by, in units of the result.
static constexpr double kF32Tolerance = 1e-5;

bool Comparison::passed() const { return fault.empty() && error <= tolerance; }

/// "[0, 1, 17]": the place of an element.
static std::string describePlace(ArrayRef<int64_t> shape, int64_t index) {
  SmallVector<int64_t> place(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; index /= shape[dim])
    place[dim] = index % shape[dim];
  return "[" +
         llvm::join(llvm::map_range(
                        place, [](int64_t i) { return std::to_string(i); }),
                    ", ") +
         "]";
}

/// Remembers the first fault of an element.
static void note(Comparison &result, const HostTensor &tensor, int64_t index,
                 const std::string &fault) {
  if (result.fault.empty())
    result.fault =
        "element " + describePlace(tensor.getShape(), index) + " " + fault;
}

/// Whether row `index` of a tensor of rows, lse's `shape`, is in `rows`.
static bool isCompared(RowRange rows, ArrayRef<int64_t> shape, int64_t index) {
  int64_t row = index % shape.back();
  return row >= rows.begin && row < rows.end;
}

/// |round(ref + 0.3 - 0.3) - ref| with every step in the type: the error of a
/// computation that rounds about once too often.
static double getRoundingError(FloatType type, double reference) {
  double sum = roundTo(type, roundTo(type, reference) + 0.3f);
  return std::abs(roundTo(type, sum - 0.3f) - reference);
}

namespace {
/// What the limit of an output is made of.
struct Maxima {
  double naive = 0, rounding = 0, magnitude = 0;

  /// Takes in an element of the naive output.
  void add(FloatType type, double naiveValue, double reference) {
    naive = std::max(naive, std::abs(naiveValue - reference));
    rounding = std::max(rounding, getRoundingError(type, reference));
    magnitude = std::max(magnitude, std::abs(reference));
  }

  /// Sets the limit of `result` and its error in units of the magnitude.
  void conclude(FloatType type, Comparison &result) const {
    result.tolerance =
        type.isF32() ? kF32Tolerance * magnitude : 2 * naive + 2 * rounding;
    result.relative = magnitude > 0 ? result.error / magnitude : result.error;
  }
};
} // namespace

Comparison fa::execute::compareTensors(const HostTensor &out,
                                       const HostTensor &reference,
                                       const HostTensor &naive) {
  Comparison result;
  auto type = cast<FloatType>(out.getElementType());
  Maxima maxima;
  for (int64_t i = 0; i < out.getNumElements(); ++i) {
    double value = out.load(i), wanted = reference.load(i);
    if (!std::isfinite(value)) {
      note(result, out, i, "is " + std::to_string(value));
      continue;
    }
    result.error = std::max(result.error, std::abs(value - wanted));
    maxima.add(type, naive.load(i), wanted);
  }
  maxima.conclude(type, result);
  return result;
}

Comparison fa::execute::compareO(const HostTensor &o, const Outputs &reference,
                                 const HostTensor &naive, RowRange rows) {
  Comparison result;
  auto type = cast<FloatType>(o.getElementType());
  Maxima maxima;
  int64_t width = o.getShape().back();
  for (int64_t i = 0; i < o.getNumElements(); ++i) {
    if (!isCompared(rows, reference.lse.getShape(), i / width))
      continue;
    double value = o.load(i), wanted = reference.o.load(i);
    if (!std::isfinite(value)) {
      note(result, o, i, "is " + std::to_string(value));
      continue;
    }
    if (std::isinf(reference.lse.load(i / width)) && value != 0)
      note(result, o, i, "sees no key and is not 0");
    result.error = std::max(result.error, std::abs(value - wanted));
    maxima.add(type, naive.load(i), wanted);
  }
  maxima.conclude(type, result);
  return result;
}

Comparison fa::execute::compareLse(const HostTensor &lse,
                                   const HostTensor &reference, RowRange rows) {
  Comparison result;
  result.tolerance = kF32Tolerance;
  for (int64_t i = 0; i < lse.getNumElements(); ++i) {
    if (!isCompared(rows, lse.getShape(), i))
      continue;
    double value = lse.load(i), wanted = reference.load(i);
    if (std::isfinite(value) != std::isfinite(wanted) || std::isnan(value) ||
        value == INFINITY) {
      note(result, lse, i,
           "is " + std::to_string(value) + " and must be " +
               std::to_string(wanted));
      continue;
    }
    if (std::isinf(value))
      continue;
    result.relative =
        std::max(result.relative,
                 std::abs(value - wanted) / std::max(1.0, std::abs(wanted)));
  }
  result.error = result.relative;
  return result;
}

/// Counts the elements in `rows` that differ in bits, and notes the first.
static void countDifferent(const HostTensor &out, const HostTensor &other,
                           ArrayRef<int64_t> rowShape, RowRange rows,
                           StringRef name, Comparison &result) {
  int64_t width =
      out.getShape().size() > rowShape.size() ? out.getShape().back() : 1;
  unsigned bytes = out.getElementBytes();
  for (int64_t i = 0; i < out.getNumElements(); ++i) {
    ArrayRef<char> bits = out.getBytes().slice(i * bytes, bytes);
    if (!isCompared(rows, rowShape, i / width) ||
        bits == other.getBytes().slice(i * bytes, bytes))
      continue;
    ++result.error;
    note(result, out, i,
         "of " + name.str() + " is " + std::to_string(out.load(i)) + " and " +
             std::to_string(other.load(i)));
  }
}

Comparison fa::execute::compareBits(const Outputs &outputs,
                                    const Outputs &other, RowRange rows) {
  Comparison result;
  ArrayRef<int64_t> rowShape = outputs.lse.getShape();
  countDifferent(outputs.o, other.o, rowShape, rows, "o", result);
  countDifferent(outputs.lse, other.lse, rowShape, rows, "lse", result);
  return result;
}
