//===- FragmentLayout.h - Which thread holds what ---------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of fragments over the threads of a team, and of tiles in shared
// memory, as plain C++ without IR.
//
// A fragment is cut into slabs of 16 rows; slab s belongs to warp s mod warps.
// Inside a warp, the layout is that of the accumulator of mma.sync m16n8: a
// thread holds rows lane/4 and lane/4 + 8, and pairs of columns.
//
//===----------------------------------------------------------------------===//

#ifndef FA_CONVERSION_CTATONVVM_FRAGMENTLAYOUT_H
#define FA_CONVERSION_CTATONVVM_FRAGMENTLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace fa {

/// The rows of a slab, which is what one warp multiplies at a time.
constexpr int64_t kSlabRows = 16;
/// The columns of an accumulator block.
constexpr int64_t kBlockCols = 8;
/// The columns of A (rows of B) that one mma.sync of 16-bit operands takes.
constexpr int64_t kStepDepth = 16;
/// The threads of a warp.
constexpr int64_t kWarpThreads = 32;
/// The threads that hold the same rows: a quad.
constexpr int64_t kQuad = 4;

enum class FragmentKind { Matrix, Row, Column };

/// The layout of one fragment, row vector or column vector over a team.
struct FragmentLayout {
  FragmentKind kind;
  int64_t rows; ///< 0 for a column vector.
  int64_t cols; ///< 0 for a row vector.
  int64_t warps;

  /// The layout of a vector of `shape` in a team of `warps` warps; none where
  /// the shape is no fragment of such a team.
  static std::optional<FragmentLayout> get(llvm::ArrayRef<int64_t> shape,
                                           int64_t warps);

  /// Slabs that each warp holds.
  int64_t slabs() const { return rows / (kSlabRows * warps); }
  /// Accumulator blocks side by side.
  int64_t blocks() const { return cols / kBlockCols; }

  /// The shape that one thread holds: [slabs, blocks, 4] for a matrix,
  /// [slabs, 2] for a row vector, [blocks, 2] for a column vector.
  llvm::SmallVector<int64_t> threadShape() const;

  /// The position of element `e` of (slab, block) in the thread's elements.
  int64_t index(int64_t slab, int64_t block, int64_t e) const {
    return (slab * blocks() + block) * 4 + e;
  }

  /// The row, within its warp's first slab and without the thread's own part
  /// (16 * warp + lane / 4), of element `e` of slab `slab`.
  int64_t rowOffset(int64_t slab, int64_t e) const {
    return slab * kSlabRows * warps + 8 * (e / 2);
  }
  /// The column, without the thread's own part (2 * (lane mod 4)), of element
  /// `e` of block `block`.
  static int64_t colOffset(int64_t block, int64_t e) {
    return block * kBlockCols + e % 2;
  }
};

/// The bytes of a swizzled row segment, and of a chunk in it.
constexpr int64_t kSegmentBytes = 128;
constexpr int64_t kChunkBytes = 16;

/// A tile with a 128-byte swizzle: stored as [segments][rows][128 bytes], in
/// which a row's 16-byte chunk c lies at c xor (row mod 8). Elements are of 16
/// bits, so that a segment has 64 columns, unless `elementBytes` says
/// otherwise. What lies past the last column is never read.
struct SwizzledTile {
  int64_t rows;
  int64_t cols;
  int64_t elementBytes = 2;

  /// The columns of a segment of 16-bit elements.
  static constexpr int64_t kSegmentCols = kSegmentBytes / 2;

  int64_t segmentCols() const { return kSegmentBytes / elementBytes; }
  int64_t segments() const {
    return (cols + segmentCols() - 1) / segmentCols();
  }
  /// The chunks of a segment that hold columns.
  int64_t chunks(int64_t segment) const {
    int64_t rest =
        (cols - segment * segmentCols()) * elementBytes / kChunkBytes;
    return rest < kSegmentBytes / kChunkBytes ? rest
                                              : kSegmentBytes / kChunkBytes;
  }
  /// The bytes from one segment to the next.
  int64_t segmentStride() const { return rows * kSegmentBytes; }
  /// The byte at which element (row, col) lies.
  int64_t byteOffset(int64_t row, int64_t col) const;
};

} // namespace fa

#endif // FA_CONVERSION_CTATONVVM_FRAGMENTLAYOUT_H
