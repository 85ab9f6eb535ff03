//===- WgmmaDescriptorTest.cpp - Descriptors of wgmma -------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Conversion/CtaToNVVM/WgmmaDescriptor.h"

#include <gtest/gtest.h>

using namespace fa;

namespace {

/// Bits [first, first + count) of the 64-bit descriptor at address 0.
int64_t field(const WgmmaDescriptor &descriptor, int first, int count) {
  int64_t word = WgmmaDescriptor::highBits() << 32 | descriptor.lowBits();
  return word >> first & ((int64_t(1) << count) - 1);
}

// The fields are those of the PTX ISA's table "Matrix-descriptor".
TEST(WgmmaDescriptor, HasItsFields) {
  WgmmaDescriptor k{{128, 128}, /*isKMajor=*/true};
  EXPECT_EQ(field(k, 0, 14), 0);             // address
  EXPECT_EQ(field(k, 16, 14), 0);            // leading offset: not used
  EXPECT_EQ(field(k, 32, 14) * 16, 8 * 128); // stride: 8 rows
  EXPECT_EQ(field(k, 49, 3), 0);             // base offset: aligned tiles
  EXPECT_EQ(field(k, 62, 2), 1);             // swizzle of 128 bytes

  WgmmaDescriptor v{{128, 128}, /*isKMajor=*/false};
  EXPECT_EQ(field(v, 16, 14) * 16, 128 * 128); // from segment to segment
  EXPECT_EQ(field(v, 32, 14) * 16, 8 * 128);
}

/// A step begins where the element (row, column) of its first product lies, if
/// chunks were not swizzled.
TEST(WgmmaDescriptor, StepsBeginAtTheirElements) {
  for (int64_t rows : {64, 128, 176})
    for (int64_t cols : {64, 128, 192, 256}) {
      SwizzledTile tile{rows, cols};
      WgmmaDescriptor k{tile, /*isKMajor=*/true};
      for (int64_t step = 0; step < cols / 16; ++step)
        EXPECT_EQ(k.stepOffset(step) * 16, tile.byteOffset(0, step * 16))
            << rows << "x" << cols;
      WgmmaDescriptor mn{tile, /*isKMajor=*/false};
      for (int64_t step = 0; step < rows / 16; ++step)
        EXPECT_EQ(mn.stepOffset(step) * 16, tile.byteOffset(step * 16, 0));
      for (int64_t row = 0; row < rows; row += 8)
        EXPECT_EQ(WgmmaDescriptor::rowOffset(row) * 16,
                  tile.byteOffset(row, 0));
    }
}

} // namespace
