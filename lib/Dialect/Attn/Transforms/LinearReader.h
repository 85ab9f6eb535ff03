//===- LinearReader.h - Index arithmetic of a mask as a sum -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_ATTN_TRANSFORMS_LINEARREADER_H
#define FA_LIB_DIALECT_ATTN_TRANSFORMS_LINEARREADER_H

#include "fa/Dialect/Attn/Transforms/MaskAnalysis.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace fa::attn {

/// An expression linear in the row i, the key j and symbols: values from
/// outside the region. Numbers stay within 62 bits.
struct Linear {
  int64_t i = 0, j = 0, constant = 0;
  llvm::SmallMapVector<mlir::Value, int64_t, 4> symbols;

  /// Adds `factor` times `other`; false where a number gets too large.
  [[nodiscard]] bool add(const Linear &other, int64_t factor);
  /// The expression with all signs changed, which is as small.
  Linear negated() const;
};

/// Reads values of a mask region as linear expressions.
class LinearReader {
public:
  LinearReader(mlir::OpBuilder &builder, mlir::Region &mask,
               const RowBlock &rows);

  /// `value` as a linear expression, or nothing where it is none. Each value is
  /// read once.
  std::optional<Linear> read(mlir::Value value);

  /// Builds the least or largest value of `linear`, which is free of j, over
  /// the rows of the block.
  mlir::Value buildExtreme(const Linear &linear, bool isMax);

private:
  std::optional<Linear> compute(mlir::Value value);
  std::optional<Linear> computeOp(mlir::Operation *op);

  mlir::OpBuilder &builder;
  mlir::Region &mask;
  RowBlock rows;
  mlir::IRMapping outside; ///< b, h and what was hoisted
  llvm::DenseMap<mlir::Value, std::optional<Linear>> linears;
};

} // namespace fa::attn

#endif // FA_LIB_DIALECT_ATTN_TRANSFORMS_LINEARREADER_H
