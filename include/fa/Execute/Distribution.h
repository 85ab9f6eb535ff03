//===- Distribution.h - What random inputs are drawn from -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_DISTRIBUTION_H
#define FA_EXECUTE_DISTRIBUTION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace fa::execute {

/// The `index`-th draw of the standard normal distribution of a stream. It
/// depends on nothing else, so any part of a tensor can be drawn alone.
double drawNormal(uint64_t stream, uint64_t index);

/// The `index`-th draw of a stream from 0 to `end` - 1, for a positive `end`.
uint64_t drawBelow(uint64_t stream, uint64_t index, uint64_t end);

/// What the elements of q and k are; all others are normal.
struct Distribution {
  enum Kind { Normal, Large, Constant } kind = Normal;
  /// Large: the factor on q. Constant: every element of q and k.
  double value = 1;

  /// The most that `value` may be: no draw is above 6.7, so that this many
  /// times a draw fits f16, the narrowest type, and no dot product overflows.
  static constexpr int kMaxValue = 8192;

  /// Parses "normal", "large:12" or "constant:256", with any positive number up
  /// to kMaxValue.
  static llvm::Expected<Distribution> parse(llvm::StringRef text);
};

} // namespace fa::execute

#endif // FA_EXECUTE_DISTRIBUTION_H
