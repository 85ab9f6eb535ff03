//===- MaskAnalysis.h - Which keys a mask region leaves -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a mask region as a conjunction of bounds on j that are affine in i.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_ATTN_TRANSFORMS_MASKANALYSIS_H
#define FA_LIB_DIALECT_ATTN_TRANSFORMS_MASKANALYSIS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"

namespace fa::attn {

/// rowCoefficient * i + sum of coefficient * symbol + constant.
struct AffineBound {
  int64_t rowCoefficient = 0; ///< 0 or 1
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> symbols;
  int64_t constant = 0;

  /// Builds the bound's value at row `row`.
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value row) const;
};

/// What is known of a mask: key j is visible to query i only if `lower <= j <=
/// upper` for all bounds; and if so, it is visible for certain where `isExact`.
struct MaskBounds {
  llvm::SmallVector<AffineBound> upper, lower;
  bool isExact = true;
};

/// Analyses a mask region (b, h, i, j) -> i1; an empty region hides nothing.
/// `batch` and `head` stand for b and h. Symbols are values that dominate
/// `scope`'s op; anything else makes the bounds inexact.
MaskBounds analyzeMask(mlir::Region &mask, mlir::Value batch, mlir::Value head,
                       mlir::Region *scope);

} // namespace fa::attn

#endif // FA_LIB_DIALECT_ATTN_TRANSFORMS_MASKANALYSIS_H
