//===- FragmentLayout.cpp - Which thread holds what -----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Conversion/CtaToNVVM/FragmentLayout.h"

using namespace fa;

/// The layout of a row vector of `rows` elements; none where they do not fill
/// the slabs of all warps.
static std::optional<FragmentLayout> getRows(int64_t rows, int64_t warps) {
  if (rows < 1 || rows % (kSlabRows * warps))
    return std::nullopt;
  return FragmentLayout{FragmentKind::Row, rows, 0, warps};
}

std::optional<FragmentLayout> FragmentLayout::get(llvm::ArrayRef<int64_t> shape,
                                                  int64_t warps) {
  if (shape.size() == 1)
    return getRows(shape[0], warps);
  if (shape.size() != 2)
    return std::nullopt;
  if (shape[1] == 1)
    return getRows(shape[0], warps);
  if (shape[1] < 1 || shape[1] % kBlockCols)
    return std::nullopt;
  if (shape[0] == 1)
    return FragmentLayout{FragmentKind::Column, 0, shape[1], warps};
  if (!getRows(shape[0], warps))
    return std::nullopt;
  return FragmentLayout{FragmentKind::Matrix, shape[0], shape[1], warps};
}

llvm::SmallVector<int64_t> FragmentLayout::threadShape() const {
  switch (kind) {
  case FragmentKind::Matrix:
    return {slabs(), blocks(), 4};
  case FragmentKind::Row:
    return {slabs(), 2};
  case FragmentKind::Column:
    return {blocks(), 2};
  }
  return {};
}

int64_t SwizzledTile::byteOffset(int64_t row, int64_t col) const {
  int64_t chunk = (col % segmentCols()) * elementBytes / kChunkBytes;
  int64_t inChunk = col * elementBytes % kChunkBytes;
  return col / segmentCols() * segmentStride() + row * kSegmentBytes +
         (chunk ^ (row % 8)) * kChunkBytes + inChunk;
}
