//===- Variants.h - What each variant lets a row see ------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_VARIANTS_H
#define FLASHLOOM_BENCH_VARIANTS_H

#include <cstdint>
#include <string>

namespace fa::bench {

/// One row of the table of variants that can be checked and timed.
struct Variant {
  const char *name;
  /// Whether row i sees key j among seqQ rows and seqKv keys.
  bool (*visible)(int64_t i, int64_t j, int64_t seqQ, int64_t seqKv);
  /// The share of a [seq, seq] score matrix that the mask leaves, as the FLOP
  /// count of timings takes it (causal: one half).
  double (*share)(int64_t seq);
};

/// Null where the table has no such variant.
const Variant *findVariant(const std::string &name);

/// "full, causal", for messages.
std::string variantNames();

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_VARIANTS_H
