//===- Fragment.h - Register values of the simulator -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dense matrices and row vectors. Floats of every type are kept as f32, which
// holds each value of the narrower types; what is narrowed is rounded when it
// is computed.
//
//===----------------------------------------------------------------------===//

#ifndef FA_SIMULATOR_FRAGMENT_H
#define FA_SIMULATOR_FRAGMENT_H

#include "mlir/IR/BuiltinTypes.h"

#include <memory>
#include <optional>
#include <vector>

namespace fa::sim {

/// The float types that the simulator knows.
enum class FloatFormat { F32, F16, BF16 };

/// The format of `type`, or nothing where it is no such float.
std::optional<FloatFormat> getFloatFormat(mlir::Type type);
int64_t getByteSize(FloatFormat format);

/// `value` rounded to the nearest of `format`, ties to even, as the hardware
/// narrows: past the largest finite value to infinity.
float roundTo(FloatFormat format, float value);
void roundInPlace(FloatFormat format, llvm::MutableArrayRef<float> values);

/// Reads and writes `count` neighbouring elements of memory.
void decode(FloatFormat format, const char *memory, int64_t count, float *out);
void encode(FloatFormat format, const float *values, int64_t count,
            char *memory);

/// A vector of one or two dimensions: floats, or integers of at most 32 bits,
/// sign-extended, with i1 as 0 or 1.
struct Fragment {
  llvm::SmallVector<int64_t, 2> shape;
  std::vector<float> floats;
  std::vector<int32_t> ints;

  /// A fragment for values of `type`, its elements not set.
  explicit Fragment(mlir::VectorType type);

  int64_t rows() const { return shape.size() == 2 ? shape[0] : 1; }
  int64_t cols() const { return shape.empty() ? 1 : shape.back(); }
  int64_t size() const { return floats.size() + ints.size(); }
};

using FragmentPtr = std::shared_ptr<const Fragment>;

/// c[m, n] += a[m, k] b, b [k, n] or, `transposed`, [n, k]; all row-major.
void multiplyAdd(const float *a, const float *b, bool transposed, float *c,
                 int64_t m, int64_t n, int64_t k);

} // namespace fa::sim

#endif // FA_SIMULATOR_FRAGMENT_H
