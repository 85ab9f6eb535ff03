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

/// Row statistics after the maximum of what is folded in is known.
struct RowStatistics {
  mlir::Value max;   ///< the new running maximum
  mlir::Value guard; ///< c * max, or 0 where max is -inf
  mlir::Value sum;   ///< the old sum, rescaled
  mlir::Value alpha; ///< the factor of the old accumulator
};

/// The statistics of a state (max, sum) that meets scores up to `otherMax`;
/// `factor` is c, from the unit of max to the exponent of 2.
RowStatistics rescaleState(GenericBuilder &b, mlir::Value otherMax,
                           mlir::Value max, mlir::Value sum,
                           mlir::Value factor);

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

/// unit * max + log(sum), -inf where sum is 0, into `target`; `factor` is unit
/// * log2(e).
mlir::Value buildLse(GenericBuilder &b, mlir::Value max, mlir::Value sum,
                     mlir::Value factor, mlir::Value target);

/// 1 / sum, and `empty` where sum is 0.
mlir::Value inverseSums(GenericBuilder &b, mlir::Value sum, double empty);

} // namespace fa

#endif // FA_LIB_CONVERSION_ATTNTOLINALG_ROWARITHMETIC_H
