//===- WgmmaDescriptor.h - Tiles as wgmma sees them ----------- -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The matrix descriptors of wgmma (PTX ISA, "Asynchronous Warpgroup Level
// Matrix Instructions", "Matrix Descriptor Format") of swizzled tiles, as plain
// C++ without IR.
//
//===----------------------------------------------------------------------===//

#ifndef FA_CONVERSION_CTATONVVM_WGMMADESCRIPTOR_H
#define FA_CONVERSION_CTATONVVM_WGMMADESCRIPTOR_H

#include "fa/Conversion/CtaToNVVM/FragmentLayout.h"

namespace fa {

/// The rows of A that one wgmma multiplies, and the most columns of B.
constexpr int64_t kWgmmaRows = 64;
constexpr int64_t kMaxWgmmaCols = 256;
/// Addresses and distances in a descriptor are in units of so many bytes.
constexpr int64_t kDescriptorUnit = 16;

/// The descriptor of a tile at a given address: a 64-bit word, of which the
/// low half holds the address and the leading offset, and the high half is a
/// constant.
struct WgmmaDescriptor {
  SwizzledTile tile;
  /// Whether the product's depth runs along the tile's rows (A, and B stored
  /// [N, K]) or from row to row (B stored [K, N]).
  bool isKMajor;

  /// What the low half has beside the address / 16.
  int64_t lowBits() const {
    // K-major tiles do not use the leading offset; others step by it from one
    // 64-column segment to the next.
    return isKMajor ? 0 : tile.segmentStride() / kDescriptorUnit << 16;
  }
  /// The high half: the stride from one group of 8 rows to the next, and the
  /// 128-byte swizzle.
  static int64_t highBits() {
    constexpr int64_t kGroupBytes = 8 * kSegmentBytes;
    constexpr int64_t kSwizzle128 = int64_t(1) << 30;
    return kGroupBytes / kDescriptorUnit | kSwizzle128;
  }
  /// What step `step` of 16 along the depth adds to the low half.
  int64_t stepOffset(int64_t step) const {
    int64_t depth = step * kStepDepth;
    if (!isKMajor)
      return depth * kSegmentBytes / kDescriptorUnit;
    int64_t segment = depth / SwizzledTile::kSegmentCols;
    int64_t bytes =
        segment * tile.segmentStride() + depth % SwizzledTile::kSegmentCols * 2;
    return bytes / kDescriptorUnit;
  }
  /// What beginning at row `row`, a multiple of 8, adds.
  static int64_t rowOffset(int64_t row) {
    return row * kSegmentBytes / kDescriptorUnit;
  }
};

} // namespace fa

#endif // FA_CONVERSION_CTATONVVM_WGMMADESCRIPTOR_H
