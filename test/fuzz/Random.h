//===- Random.h - Numbers that a seed decides -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TEST_FUZZ_RANDOM_H
#define FA_TEST_FUZZ_RANDOM_H

#include <cstddef>
#include <cstdint>
#include <random>

namespace fa::fuzz {

/// The same numbers from the same seed with any C++ library: the standard's
/// engine is one and the same, its distributions are not.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// A number below `bound`, which is positive.
  size_t below(size_t bound) { return engine() % bound; }
  bool oneIn(size_t n) { return below(n) == 0; }
  /// An element of a range that has some.
  template <typename Range> auto &pick(Range &&range) {
    return range[below(std::size(range))];
  }

private:
  std::mt19937_64 engine;
};

} // namespace fa::fuzz

#endif // FA_TEST_FUZZ_RANDOM_H
