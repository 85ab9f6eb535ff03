//===- TileView.h - Tiles of attention operands -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a tile of the iteration space selects from operands. A matrix has the
// dimensions (leading..., row, element) and a row tensor (leading..., row); the
// leading ones are (batch, head), (head) or none. A tile of one batch and one
// head drops them, so that what a block computes reads as on paper: Q [Br, D],
// K [Bc, D].
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_ATTN_IR_TILEVIEW_H
#define FA_LIB_DIALECT_ATTN_IR_TILEVIEW_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace fa::attn {

/// A tile of the iteration space: (leading..., row[, key]).
class TileView {
public:
  using OFR = mlir::OpFoldResult;
  using OFRs = llvm::SmallVector<OFR>;

  /// A tile with `numLeading` leading dimensions, then rows.
  TileView(mlir::OpBuilder &builder, mlir::Location loc, unsigned numLeading,
           llvm::ArrayRef<OFR> offsets, llvm::ArrayRef<OFR> sizes);

  /// The tile of a matrix, of rows `offset`, `size` in the leading `heads`,
  /// `headSizes`.
  mlir::Value matrix(mlir::Value source, llvm::ArrayRef<OFR> heads,
                     llvm::ArrayRef<OFR> headSizes, OFR offset, OFR size);
  mlir::Value matrix(mlir::Value source) {
    return matrix(source, headOffsets, headSizes, rowOffset, rowSize);
  }
  /// The tile of a row tensor.
  mlir::Value rows(mlir::Value source);
  /// The same of a tensor with one more dimension in front, of which it takes
  /// `count` from `offset`; a single one (`count` is 1) is dropped.
  mlir::Value partial(mlir::Value source, bool isMatrix, OFR offset, OFR count);

  llvm::ArrayRef<OFR> getHeadOffsets() const { return headOffsets; }
  llvm::ArrayRef<OFR> getHeadSizes() const { return headSizes; }

private:
  mlir::Value slice(mlir::Value source, llvm::ArrayRef<OFR> offsets,
                    llvm::ArrayRef<OFR> sizes, llvm::ArrayRef<bool> dropped);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  bool dropsLeading;
  OFRs headOffsets, headSizes;
  OFR rowOffset, rowSize;
};

/// The ranges [0, size) of the leading `count` dimensions of `source`.
llvm::SmallVector<mlir::Range> leadingRanges(mlir::OpBuilder &builder,
                                             mlir::Location loc,
                                             mlir::Value source,
                                             unsigned count);

/// `count` parallel loops.
llvm::SmallVector<mlir::utils::IteratorType> parallelLoops(unsigned count);

/// The position of a matrix result (`isMatrix`) or of a row result in the whole
/// tensor, for a tile of the iteration space. Always succeeds.
llvm::LogicalResult
resultPosition(mlir::OpBuilder &builder, mlir::Value result, bool isMatrix,
               llvm::ArrayRef<mlir::OpFoldResult> offsets,
               llvm::ArrayRef<mlir::OpFoldResult> sizes,
               llvm::SmallVector<mlir::OpFoldResult> &resultOffsets,
               llvm::SmallVector<mlir::OpFoldResult> &resultSizes);

/// The result of tiling: `tiled` on `slices`.
mlir::TilingResult tilingResult(mlir::Operation *tiled,
                                mlir::ValueRange slices);

} // namespace fa::attn

#endif // FA_LIB_DIALECT_ATTN_IR_TILEVIEW_H
