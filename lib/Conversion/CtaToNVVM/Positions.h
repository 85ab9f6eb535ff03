//===- Positions.h - Where a thread's elements lie --------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A position is a sum of parts: what is the same for all elements, what depends
// on the row, on the column, on both. Each part is computed once, in 64 bits. A
// thread's columns are pairs of neighbours: where memory and strides turn out
// to be aligned for it, which is the same for the whole kernel, two elements
// are one load. Columns that are clamped to a last one are such pairs in a
// block that ends before it, which is the same for the whole block.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_CTATONVVM_POSITIONS_H
#define FA_LIB_CONVERSION_CTATONVVM_POSITIONS_H

#include "Lowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace fa {

struct ColumnRun;

/// A memref's memory, and where a thread's elements lie in it; with
/// `ofWholeBlock` in a block that no limit of its columns cuts.
class Positions {
public:
  /// The elements of a pair.
  static constexpr int64_t kPair = 2;

  Positions(mlir::ImplicitLocOpBuilder &b, mlir::Value memref,
            const Kernel &kernel, bool ofWholeBlock = false);

  /// Adds the index of dimension `dim`: `original` in the fragment's program,
  /// `converted` as a thread holds it, with `layout` where it is a vector.
  void add(unsigned dim, mlir::Value original, mlir::Value converted,
           std::optional<FragmentLayout> layout);

  /// The element of row `row` (2 in each slab), column `column` (2 in each
  /// block) and, in a matrix, number `element` of what the thread holds.
  mlir::Value load(int64_t row, int64_t column, int64_t element);
  /// The address of the one element that scalars say.
  mlir::Value address() { return rowPointer(0); }

  mlir::Type elementType() const { return type.getElementType(); }
  /// Makes the pointers to all rows here, for loads in several branches.
  void preparePointers();

  /// Whether the columns come in pairs of neighbours.
  bool hasPairs() const { return isRun && columns.empty() && all.empty(); }
  /// Whether the block is whole and pairs are aligned, as an i1.
  mlir::Value buildHasAlignedPairs();
  /// The pair whose first column is `column`, where pairs are aligned.
  llvm::SmallVector<mlir::Value> loadPair(int64_t row, int64_t column);

private:
  void mustBeEven(mlir::Value count);
  mlir::Value stride(unsigned dim);
  mlir::Value scale(mlir::Value index, mlir::Value stride);
  mlir::Value advance(mlir::Value pointer, mlir::LLVM::GEPArg count);
  mlir::Value rowPointer(int64_t row);
  void addRun(const ColumnRun &run, int64_t length);

  mlir::ImplicitLocOpBuilder &b;
  const Kernel &kernel;
  bool ofWholeBlock;
  mlir::memref::ExtractStridedMetadataOp data;
  mlir::MemRefType type;
  mlir::Value begin;   ///< the address of the memory
  mlir::Value base;    ///< the same as a pointer
  mlir::Value odd;     ///< the lowest bit: pairs are not aligned
  mlir::Value isCut;   ///< i1: a limit cuts the block; null: there is none
  mlir::Value uniform; ///< the part of all elements
  /// Parts; empty: 0.
  llvm::SmallVector<mlir::Value> rows, columns, all;
  bool isRun = false; ///< the columns' offsets are constants: 0, 1, 8, 9, ...
  llvm::SmallVector<mlir::Value> pointers; ///< to rows, as they are asked for
};

} // namespace fa

#endif // FA_LIB_CONVERSION_CTATONVVM_POSITIONS_H
