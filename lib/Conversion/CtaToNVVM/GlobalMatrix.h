//===- GlobalMatrix.h - Matrices in global memory ---------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What copies and stores share: a matrix in global memory as pointer, stride
// and number of rows.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_CTATONVVM_GLOBALMATRIX_H
#define FA_LIB_CONVERSION_CTATONVVM_GLOBALMATRIX_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace fa {

/// A matrix in global memory from some place on.
struct GlobalMatrix {
  mlir::Value pointer;   ///< its element at (row 0, the given column), ptr<1>
  mlir::Value rowStride; ///< elements from row to row, i32
  mlir::Value firstRow;  ///< the given row, i32
  mlir::Value rows;      ///< the rows there are, i32
  mlir::Type elementType;
};

/// `pointer` plus `count` elements.
mlir::Value advance(mlir::ImplicitLocOpBuilder &b, mlir::Value pointer,
                    mlir::Value count, mlir::Type elementType);
mlir::Value advance(mlir::ImplicitLocOpBuilder &b, mlir::Value pointer,
                    int64_t count, mlir::Type elementType);

/// Sees the dimension `rowDim` of `memref` as rows, from `indices` on.
GlobalMatrix viewMatrix(mlir::ImplicitLocOpBuilder &b, mlir::Value memref,
                        mlir::ValueRange indices, int64_t rowDim);

/// `pointer` moved down by `rows` (i32) rows.
mlir::Value moveRows(mlir::ImplicitLocOpBuilder &b, const GlobalMatrix &matrix,
                     mlir::Value pointer, mlir::Value rows);

/// Whether rows of 16-byte chunks can be read: the last dimension is
/// contiguous.
bool hasContiguousRows(mlir::MemRefType type);

} // namespace fa

#endif // FA_LIB_CONVERSION_CTATONVVM_GLOBALMATRIX_H
