//===- FragmentLayoutTest.cpp - Who holds what of a fragment -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Conversion/CtaToNVVM/FragmentLayout.h"

#include <gtest/gtest.h>

#include <set>

using namespace fa;

namespace {

TEST(FragmentLayout, EachElementHasOneOwner) {
  for (int64_t warps : {1, 2, 4}) {
    auto layout = FragmentLayout::get({64, 24}, warps);
    ASSERT_TRUE(layout);
    std::set<std::pair<int64_t, int64_t>> places;
    for (int64_t warp = 0; warp < warps; ++warp)
      for (int64_t lane = 0; lane < kWarpThreads; ++lane)
        for (int64_t s = 0; s < layout->slabs(); ++s)
          for (int64_t n = 0; n < layout->blocks(); ++n)
            for (int64_t e = 0; e < 4; ++e)
              EXPECT_TRUE(places
                              .insert({kSlabRows * warp + lane / kQuad +
                                           layout->rowOffset(s, e),
                                       2 * (lane % kQuad) +
                                           FragmentLayout::colOffset(n, e)})
                              .second);
    EXPECT_EQ(places.size(), 64u * 24u);
    EXPECT_EQ(places.begin()->first, 0);
    EXPECT_EQ(places.rbegin()->first, 63);
  }
}

TEST(FragmentLayout, SplitsShapesAsTheInstructionsDo) {
  auto matrix = FragmentLayout::get({32, 64}, 1);
  ASSERT_TRUE(matrix);
  EXPECT_EQ(matrix->kind, FragmentKind::Matrix);
  EXPECT_EQ(matrix->threadShape(), (llvm::SmallVector<int64_t>{2, 8, 4}));
  auto row = FragmentLayout::get({32}, 1);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->kind, FragmentKind::Row);
  EXPECT_EQ(row->threadShape(), (llvm::SmallVector<int64_t>{2, 2}));
  auto alsoRow = FragmentLayout::get({32, 1}, 1);
  ASSERT_TRUE(alsoRow);
  EXPECT_EQ(alsoRow->kind, FragmentKind::Row);
  auto column = FragmentLayout::get({1, 64}, 1);
  ASSERT_TRUE(column);
  EXPECT_EQ(column->kind, FragmentKind::Column);
  EXPECT_EQ(column->threadShape(), (llvm::SmallVector<int64_t>{8, 2}));
}

TEST(FragmentLayout, RefusesShapesThatAreNoFragments) {
  EXPECT_FALSE(FragmentLayout::get({24, 64}, 1)) << "rows of half a slab";
  EXPECT_FALSE(FragmentLayout::get({16, 64}, 2)) << "a slab for two warps";
  EXPECT_FALSE(FragmentLayout::get({16, 12}, 1)) << "columns of half a block";
  EXPECT_FALSE(FragmentLayout::get({2, 16, 8}, 1)) << "three dimensions";
}

TEST(SwizzledTile, KeepsChunksTogetherAndRowsApart) {
  SwizzledTile tile{64, 128};
  std::set<int64_t> bytes;
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t col = 0; col < tile.cols; ++col)
      bytes.insert(tile.byteOffset(row, col));
  EXPECT_EQ(bytes.size(), 64u * 128u) << "no two elements share a place";
  EXPECT_EQ(*bytes.rbegin(), 64 * 128 * 2 - 2);
  // Eight rows of one column of chunks, which ldmatrix reads at once, lie in
  // eight different groups of banks.
  for (int64_t chunk = 0; chunk < 8; ++chunk) {
    std::set<int64_t> banks;
    for (int64_t row = 0; row < 8; ++row)
      banks.insert(tile.byteOffset(row, 8 * chunk) % kSegmentBytes /
                   kChunkBytes);
    EXPECT_EQ(banks.size(), 8u);
  }
  // A chunk's 16 bytes stay together, the next segment is a tile further.
  EXPECT_EQ(tile.byteOffset(3, 7), tile.byteOffset(3, 0) + 14);
  EXPECT_EQ(tile.byteOffset(0, 64), tile.segmentStride());
}

TEST(SwizzledTile, HasSegmentsOf128BytesWhateverItsElements) {
  SwizzledTile tile{64, 80, /*elementBytes=*/4};
  EXPECT_EQ(tile.segmentCols(), 32);
  EXPECT_EQ(tile.segments(), 3);
  EXPECT_EQ(tile.chunks(0), 8);
  EXPECT_EQ(tile.chunks(2), 4);
  EXPECT_EQ(tile.byteOffset(0, 32), tile.segmentStride());
  // A lane's pair of neighbours is half a chunk, and a row's block of 8 columns
  // is two chunks, which xor with the block's number in the segment finds.
  for (int64_t row : {0, 3, 13})
    for (int64_t col = 0; col < 32; col += 2) {
      EXPECT_EQ(tile.byteOffset(row, col + 1), tile.byteOffset(row, col) + 4);
      EXPECT_EQ(tile.byteOffset(row, col),
                tile.byteOffset(row, col % 8) ^ (col / 8 * 2 * kChunkBytes));
    }
}

} // namespace
