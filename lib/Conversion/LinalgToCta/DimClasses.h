//===- DimClasses.h - Which dimensions of which tiles are the same loop ---===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles that meet in an op share the dimensions that the op's indexing maps
// tie together: the rows of Q are the rows of the scores, of their maximum, and
// of O. Dividing one of them among teams divides its whole class.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_LINALGTOCTA_DIMCLASSES_H
#define FA_LIB_CONVERSION_LINALGTOCTA_DIMCLASSES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace fa {

class DimClasses {
public:
  /// Ties the dimensions of all tiles under `root`.
  explicit DimClasses(mlir::Operation *root);

  /// Makes the class of dimension `dim` of `tile` the divided one.
  void divide(mlir::Value tile, int64_t dim);
  /// Whether dimension `dim` of `tile` is divided.
  bool isDivided(mlir::Value tile, int64_t dim) const;
  /// Whether loop `dim` of `op` is divided.
  bool isDivided(mlir::linalg::LinalgOp op, int64_t dim) const;

private:
  /// A tile's dimension or an op's loop.
  using Key = std::pair<const void *, int64_t>;
  static Key key(mlir::Value tile, int64_t dim) {
    return {tile.getAsOpaquePointer(), dim};
  }
  static Key key(mlir::Operation *op, int64_t dim) { return {op, dim}; }

  void tie(Key lhs, Key rhs) { classes.unionSets(lhs, rhs); }
  void tieAll(mlir::Value lhs, mlir::Value rhs);
  void tieLinalg(mlir::linalg::LinalgOp op);
  void tieLoop(mlir::scf::ForOp loop);
  void tieBranch(mlir::scf::IfOp branch);
  bool isDivided(Key key) const;

  llvm::EquivalenceClasses<Key> classes;
  llvm::SmallVector<Key> divided;
};

} // namespace fa

#endif // FA_LIB_CONVERSION_LINALGTOCTA_DIMCLASSES_H
