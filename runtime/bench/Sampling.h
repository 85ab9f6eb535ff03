//===- Sampling.h - Which rows are compared ---------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_SAMPLING_H
#define FLASHLOOM_BENCH_SAMPLING_H

#include "Reference.h"

namespace fa::bench {

/// Sizes of one forward problem.
struct Sizes {
  int64_t batch = 1, heads = 1, kvHeads = 1, seqQ = 0, seqKv = 0, dim = 0,
          dimV = 0;

  /// Of packed sequences: queries and keys of each; none: not given.
  std::vector<std::array<int64_t, 2>> lengths = {};

  int64_t rows() const { return batch * heads * seqQ; }

  /// Elements of k and v.
  int64_t cache() const { return batch * kvHeads * seqKv * (dim + dimV); }

  /// What a variant needs to know; without its tensors.
  VariantData variantData() const {
    return {batch, heads, seqQ, seqKv, {}, lengths};
  }

  /// 2 * batch * heads * seqQ * seqKv * (dim + dimV).
  double flops() const {
    return 2.0 * double(rows()) * double(seqKv) * double(dim + dimV);
  }
};

/// "b2 h6/3 q33 kv71".
std::string describeSizes(const Sizes &sizes);

/// Above this many FLOPs of the whole problem only a sample is compared, of
/// about kSampleFlops.
inline constexpr double kFullFlops = 2e10;
inline constexpr double kSampleFlops = 4e9;

/// The rows to compare, ordered by head: all of a small problem; else the first
/// and the last rows of the first and the last head, rows on both sides of the
/// edges of tiles there, and random ones from everywhere.
std::vector<RowId> chooseRows(const Sizes &sizes, uint64_t seed);

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_SAMPLING_H
