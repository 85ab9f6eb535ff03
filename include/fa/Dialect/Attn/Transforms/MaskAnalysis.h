//===- MaskAnalysis.h - Which keys a mask region leaves -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds, for a block of rows, the keys that some row sees and the keys that
// all rows see. Each is one interval: what some row sees is inside the first,
// what is inside the second all rows see. Intervals follow the region's own
// expression:
//
//   comparison, affine in i and j   a half line of keys, at the block's first
//                                   or last row
//   and                             intersections
//   or                              the hull; the union where that is an
//                                   interval, else the longer one
//   not, select                     by de Morgan's rules
//   anything else                   all keys; no key
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_ATTN_TRANSFORMS_MASKANALYSIS_H
#define FA_DIALECT_ATTN_TRANSFORMS_MASKANALYSIS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace fa::attn {

/// The keys [begin, end). Null means open: from the first, or to the last.
struct KeyInterval {
  mlir::Value begin, end;
};

/// What is known of the keys that a block of rows sees.
struct VisibleKeys {
  /// Outside of it no row sees a key.
  KeyInterval some;
  /// Inside of it all rows see all keys. Nothing where no such keys are known.
  std::optional<KeyInterval> all;

  /// Whether nothing was learnt.
  bool isUnknown() const { return !some.begin && !some.end && !all; }
};

/// A block of rows, and what b and h stand for. All values dominate the
/// builder's place.
struct RowBlock {
  mlir::Value batch, head, firstRow, numRows;
};

/// Analyses a mask region (b, h, i, j) -> i1 for a block of rows; an empty
/// region hides nothing. Writes the arithmetic of the bounds at the builder's
/// place, and with it copies of what the region computes from values other than
/// i and j alone.
VisibleKeys analyzeMask(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Region &mask, const RowBlock &rows);

/// A copy at the builder's place of `value`, which depends neither on i nor on
/// j; null where something on the way cannot be moved. `outside` has what
/// stands for b and h, and keeps the copies.
mlir::Value hoistFromMask(mlir::OpBuilder &builder, mlir::Region &mask,
                          mlir::Value value, mlir::IRMapping &outside);

} // namespace fa::attn

#endif // FA_DIALECT_ATTN_TRANSFORMS_MASKANALYSIS_H
