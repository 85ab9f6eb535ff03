//===- TileAccess.h - Slices as loads and stores of tiles ----- -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_LINALGTOCTA_TILEACCESS_H
#define FA_LIB_CONVERSION_LINALGTOCTA_TILEACCESS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace fa {

/// A position as a sum; nothing: 0.
using PositionSum = llvm::SmallVector<mlir::OpFoldResult, 2>;

/// A tile of a whole tensor: the slice at `offsets`, whose last dimensions are
/// the tile's.
struct TileAccess {
  mlir::Value whole; ///< a function's argument, or a forall's shared output
  llvm::SmallVector<PositionSum> offsets;
  /// Rows from here on are not there; none: all are.
  std::optional<PositionSum> rowEnd;
  mlir::Value padding; ///< what such rows hold; null: nothing reads them
};

/// The access that a tile of the function's arguments is read by: a static
/// `tensor.extract_slice`, a `tensor.pad` with a constant of one whose rows
/// end early, or a slice of the latter that leaves the padded dimension whole;
/// of an argument, or of one sequence's slice of it, whose end is that of the
/// tile's rows. Fails with a diagnostic otherwise.
mlir::FailureOr<TileAccess> matchLoad(mlir::Value tile);

/// The slice of a slice that `slice` is, or null where it is one of an argument
/// or of a shared output itself.
mlir::tensor::ExtractSliceOp sliceAround(mlir::tensor::ExtractSliceOp slice);

/// The tile that `insert` (`tensor.insert_slice` or
/// `tensor.parallel_insert_slice`) writes, and where. `before` is the whole
/// tensor before the kernel wrote to it. Fails with a diagnostic where the tile
/// is cut by something else than an end of its rows.
mlir::FailureOr<std::pair<mlir::Value, TileAccess>>
matchStore(mlir::OffsetSizeAndStrideOpInterface insert, mlir::Value before);

/// Whether `insert` gives the forall's result a part that was written into it
/// on the way, tile by tile.
bool isWrittenPart(mlir::tensor::ParallelInsertSliceOp insert);

} // namespace fa

#endif // FA_LIB_CONVERSION_LINALGTOCTA_TILEACCESS_H
