//===- Tolerance.h - How exact an output must be ----------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_TOLERANCE_H
#define FLASHLOOM_BENCH_TOLERANCE_H

#include "Reference.h"

namespace fa::bench {

/// What comparing one problem's outputs gave.
struct Comparison {
  /// max|o - ref| and what it may be: for the 16-bit types 2 max|naive - ref| +
  /// 2 max|((ref + 0.3) - 0.3) - ref|, the sums rounded to the type; for f32
  /// 1e-5 max|ref|.
  double oError = 0, oLimit = 0;
  /// max of |lse - ref| / max(1, |ref|), and its limit.
  double lseError = 0, lseLimit = 1e-5;
  /// The first rule that an element breaks whatever the errors are: unwritten,
  /// NaN, infinite, a row without keys that is not 0 or whose lse is not -inf;
  /// or a guard row that was written.
  std::string fault;
  /// The row with the largest error of o.
  RowId worst = {0, 0, 0};

  bool passed() const {
    return fault.empty() && oError <= oLimit && lseError <= lseLimit;
  }
};

/// Holds outputs against a reference of some rows; that every element is
/// written, finite (lse: no NaN and not +inf), and no guard row touched, is
/// checked on all rows.
Comparison compare(const HostTensor &o, const HostTensor &lse,
                   const Reference &reference);

/// What comparing the elements of one output gave.
struct ElementComparison {
  double error = 0, limit = 0; ///< as of o
  std::string fault;           ///< the first element that is not finite

  bool passed() const { return fault.empty() && error <= limit; }
};

/// Holds any output, whose bytes were poisoned with 0xff, against a reference
/// by the limit of o. Without naive values those are the reference, rounded.
ElementComparison compareElements(fa_dtype dtype,
                                  const std::vector<uint8_t> &bytes,
                                  const std::vector<double> &values,
                                  const std::vector<double> &reference,
                                  const std::vector<double> &naive);

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_TOLERANCE_H
