//===- Variants.h - What each variant computes ------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The variants that can be checked and timed: which keys a row sees, what
// becomes of a score, and the tensors that both read. Kernels of a library that
// call themselves so must compute this; kernels-gen/specs has problems that do.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_VARIANTS_H
#define FLASHLOOM_BENCH_VARIANTS_H

#include "ExtraTensor.h"
#include "Kernel.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fa::bench {

/// A problem as a variant sees it.
struct VariantData {
  int64_t batch = 1, heads = 1, seqQ = 0, seqKv = 0;
  /// In the order of the variant's description.
  std::vector<ExtraTensor> extras = {};
  /// Packed sequences that a problem asks for, queries and keys of each; none:
  /// the variant draws them.
  std::vector<std::array<int64_t, 2>> lengths = {};
  /// Rows of matrices lie multiples of so many elements apart: what the kernel
  /// asks of tensors that it copies by tensor maps.
  int64_t rowUnit = 1;
};

/// One score of a problem.
struct Position {
  int64_t b, h, i, j;
};

/// One row of the table of variants.
struct Variant {
  const char *name;
  bool (*visible)(const VariantData &data, const Position &at);
  /// The score that becomes of `score` = scale * q k^T: in float64 for the
  /// reference, in float32 for the naive computation.
  double (*score)(const VariantData &data, const Position &at, double score);
  float (*naiveScore)(const VariantData &data, const Position &at, float score);
  /// The share of the score matrix that the mask leaves, as the FLOP count of
  /// timings takes it for seqQ = seqKv (causal: one half).
  double (*share)(const VariantData &data);
  /// Add the variant's tensors: for a check, and for a timing, where they are
  /// as bench_torch.py has them.
  void (*fillForCheck)(VariantData &data, uint64_t seed);
  void (*fillForTiming)(VariantData &data, uint64_t seed);
  /// How many keys of a batch count; null: all. What is stored of the others
  /// must make no difference.
  int64_t (*keysOf)(const VariantData &data, int64_t b) = nullptr;
  /// Whether a batch's sequences come packed, as a batch of one.
  bool isPacked = false;
};

/// The `rowUnit` that serves `kernel`.
int64_t rowUnitOf(const rt::Kernel &kernel);

/// Null where the table has no such variant.
const Variant *findVariant(const std::string &name);

/// "full, causal, ...", for messages.
std::string variantNames();

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_VARIANTS_H
