//===- Compare.h - Whether outputs are right -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_COMPARE_H
#define FA_EXECUTE_COMPARE_H

#include "fa/Execute/HostTensor.h"

#include <limits>
#include <string>

namespace fa::execute {

/// o and lse of one computation.
struct Outputs {
  HostTensor o, lse;
};

/// The rows of a sequence axis that are compared: those from `begin` up to
/// `end`, all where it is left out.
struct RowRange {
  int64_t begin = 0, end = std::numeric_limits<int64_t>::max();
};

/// What comparing one output gave.
struct Comparison {
  /// max|out - ref|, and what it may be.
  double error = 0, tolerance = 0;
  /// The error in units of max|ref|; for lse max(|out - ref| / max(1, |ref|)).
  double relative = 0;
  /// What is wrong with an element whatever the errors are, or "".
  std::string fault;

  bool passed() const;
};

/// Compares any output with its f64 reference and what the naive program gives:
/// in 16-bit types max|out - ref| <= 2 max|naive - ref| + 2 max|round(ref + 0.3
/// - 0.3) - ref|, in f32 1e-5 max|ref|. All elements must be finite.
Comparison compareTensors(const HostTensor &out, const HostTensor &reference,
                          const HostTensor &naive);

/// Holds o against the float64 reference: for the 16-bit types the error may be
/// 2 max|naive - ref| + 2 max|round(ref + 0.3 - 0.3) - ref|, for f32 1e-5
/// max|ref|. Rows without keys must be 0, and every element finite.
Comparison compareO(const HostTensor &o, const Outputs &reference,
                    const HostTensor &naive, RowRange rows = {});

/// Holds lse against the float64 reference: within 1e-5 max(1, |ref|), and -inf
/// exactly where the reference is. The error is the relative one.
Comparison compareLse(const HostTensor &lse, const HostTensor &reference,
                      RowRange rows = {});

/// Holds `outputs` against `other`, of the same shapes: both must have the same
/// bits. The error is the number of elements that have not.
Comparison compareBits(const Outputs &outputs, const Outputs &other,
                       RowRange rows = {});

} // namespace fa::execute

#endif // FA_EXECUTE_COMPARE_H
