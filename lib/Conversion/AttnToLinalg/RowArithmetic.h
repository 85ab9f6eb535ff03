//===- RowArithmetic.h - Arithmetic on the rows of a state -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What updates, merges and finalize share. Row tensors are [Br] or have leading
// dimensions; a matrix has one dimension more; all f32.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_ATTNTOLINALG_ROWARITHMETIC_H
#define FA_LIB_CONVERSION_ATTNTOLINALG_ROWARITHMETIC_H

#include "GenericBuilder.h"

namespace fa {

/// Below this the rounding of log2(e) * max is at most 8, so that a weight that
/// should be 1 is at most 2^8, far from the largest f16.
inline constexpr double kLargeMax = 0x1p27;

/// How scores become exponents of 2: c * s - c * max for a factor c.
struct Exponent {
  mlir::Value factor; ///< from the unit of the scores to the exponent of 2
  /// Whether max may be so large that the rounding of c * max counts, or that
  /// it overflows, which score functions make (biases of -1e9 or -3.4e38 hide
  /// keys) and q.k does not. For rows whose max is `kLargeMax` or more c is a
  /// power of two in place of `factor`, so that c * max is exact. Other scores
  /// are at least 8 from it, weights that no sum notices, or the same.
  bool mayBeLarge;

  /// c for a row of maximum `max`, which nobody reads where it is `factor` for
  /// all.
  mlir::Value factorOf(GenericBuilder &b, mlir::Value max) const;
  /// The same for a tensor of rows; null where it is `factor` for all.
  mlir::Value factorsOf(GenericBuilder &b, mlir::Value max) const;
  /// What is subtracted for a row of maximum `max`, 0 where that is -inf.
  mlir::Value guardOf(GenericBuilder &b, mlir::Value max) const;
  /// The exponent of a score or maximum in a row of maximum `max`, of which
  /// `guard` is the guard. Rounded as that was: 0 exactly where `score` is the
  /// maximum.
  mlir::Value of(GenericBuilder &b, mlir::Value score, mlir::Value max,
                 mlir::Value guard) const;
};

/// The exponent of scores whose unit is `unit` to the natural exponent. A unit
/// of one is that of score functions.
Exponent makeExponent(GenericBuilder &b, mlir::Value unit);

/// Row statistics after the maximum of what is folded in is known.
struct RowStatistics {
  mlir::Value max;   ///< the new running maximum
  mlir::Value guard; ///< what exponents are relative to
  mlir::Value sum;   ///< the old sum, rescaled
  mlir::Value alpha; ///< the factor of the old accumulator
};

/// The statistics of a state (max, sum) that meets scores up to `otherMax`.
RowStatistics rescaleState(GenericBuilder &b, mlir::Value otherMax,
                           mlir::Value max, mlir::Value sum,
                           const Exponent &exponent);

/// Each row of `matrix` times its element of `rows`.
mlir::Value scaleRows(GenericBuilder &b, mlir::Value matrix, mlir::Value rows);

/// The maximum of each row of the matrix `scores`; `like` is a tensor of rows.
mlir::Value rowMaxima(GenericBuilder &b, mlir::Value scores, mlir::Value like);

/// A condition on one element, an i1.
using Predicate =
    llvm::function_ref<mlir::Value(GenericBuilder &, mlir::Value)>;
/// Whether `predicate` holds for any element of `tensor`, or for all: an i1.
mlir::Value anyOf(GenericBuilder &b, mlir::Value tensor, Predicate predicate);
mlir::Value allOf(GenericBuilder &b, mlir::Value tensor, Predicate predicate);

/// unit * max + log(sum), -inf where sum is 0, into `target`.
mlir::Value buildLse(GenericBuilder &b, mlir::Value max, mlir::Value sum,
                     const Exponent &exponent, mlir::Value target);

/// 1 / sum, and `empty` where sum is 0.
mlir::Value inverseSums(GenericBuilder &b, mlir::Value sum, double empty);

} // namespace fa

#endif // FA_LIB_CONVERSION_ATTNTOLINALG_ROWARITHMETIC_H
