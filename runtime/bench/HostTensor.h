//===- HostTensor.h - Tensors on the host, with guard rows ------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_HOSTTENSOR_H
#define FLASHLOOM_BENCH_HOSTTENSOR_H

#include "Random.h"

#include "flashloom/fa_runtime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fa::bench {

/// The order of a tensor's dimensions in memory.
enum class Layout { Bshd, Bhsd };

/// A [batch, heads, seq, dim] tensor (lse: dim 1, seen as rank 3) inside a
/// memory of [seq + guard] rows per head. All bytes start as 0xff, which is NaN
/// in every element type: guard rows of inputs must not be used, those of
/// outputs must not be written, and an output element with these bits was never
/// written, since no NaN that a GPU computes has them.
class HostTensor {
public:
  HostTensor(fa_dtype dtype, int64_t batch, int64_t heads, int64_t seq,
             int64_t dim, Layout layout, int64_t guard);

  fa_dtype dtype() const { return type; }
  int64_t batch() const { return batches; }
  int64_t heads() const { return headCount; }
  int64_t seq() const { return rows; }
  int64_t dim() const { return columns; }
  const std::vector<uint8_t> &bytes() const { return memory; }
  std::vector<uint8_t> &bytes() { return memory; }

  /// The row's first byte; rows seq to seq + guard - 1 are guards.
  const uint8_t *row(int64_t b, int64_t h, int64_t s) const;
  uint8_t *row(int64_t b, int64_t h, int64_t s);

  /// The row's elements as floats.
  void readRow(int64_t b, int64_t h, int64_t s, float *to) const;

  /// Draws every element that is not a guard.
  void fill(const Distribution &distribution, uint64_t stream);

  /// Makes all elements of a batch's rows from `first` to before `end` `even`
  /// or, every other row, `odd`.
  void overwrite(int64_t b, int64_t first, int64_t end, float even, float odd);

  /// Whether a batch's rows from `first` to before `end` have the same bits in
  /// `other`, a tensor of the same sizes and layout.
  bool hasSameRows(const HostTensor &other, int64_t b, int64_t first,
                   int64_t end) const;

  /// "" where all guard rows still are as they were made, else which is not.
  std::string touchedGuard() const;

  /// The view that a launch takes, over a copy of the memory at `device`.
  fa_tensor view(void *device, int32_t rank) const;

private:
  int64_t offset(int64_t b, int64_t h, int64_t s) const {
    return b * strideB + h * strideH + s * strideS;
  }
  int64_t rowBytes() const { return columns * elementBytes; }

  fa_dtype type;
  int64_t batches, headCount, rows, columns, guards, elementBytes;
  int64_t strideB, strideH, strideS;
  std::vector<uint8_t> memory;
};

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_HOSTTENSOR_H
