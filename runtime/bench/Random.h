//===- Random.h - Inputs drawn from a seed ----------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value depends on the seed, the tensor and the position only, so that
// threads can fill a tensor in any order.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_RANDOM_H
#define FLASHLOOM_BENCH_RANDOM_H

#include <cstdint>
#include <optional>
#include <string>

namespace fa::bench {

/// 64 random bits for a number (the splitmix64 finalizer).
uint64_t mix(uint64_t value);

/// The `index`-th draw of the standard normal distribution of a stream.
float normal(uint64_t stream, uint64_t index);

/// What the elements of q and k are; v is always normal.
struct Distribution {
  enum Kind { Normal, Large, Constant } kind = Normal;
  /// Large: the factor on normal draws. Constant: every element.
  float value = 1;

  /// Parses "normal", "large:12" and "constant:256" (any finite number).
  static std::optional<Distribution> parse(const std::string &text);

  float draw(uint64_t stream, uint64_t index) const;
};

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_RANDOM_H
