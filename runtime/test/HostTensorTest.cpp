//===- HostTensorTest.cpp - Layouts and guard rows ------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTensor.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace fa::bench;

TEST(HostTensor, ViewsHaveTheLayoutsStrides) {
  HostTensor bshd(FA_BF16, 2, 3, 5, 16, Layout::Bshd, 4);
  fa_tensor view = bshd.view(nullptr, 4);
  EXPECT_EQ(view.sizes[2], 5);
  EXPECT_EQ(view.strides[0], 9 * 3 * 16);
  EXPECT_EQ(view.strides[1], 16);
  EXPECT_EQ(view.strides[2], 3 * 16);
  EXPECT_EQ(view.strides[3], 1);
  HostTensor bhsd(FA_BF16, 2, 3, 5, 16, Layout::Bhsd, 4);
  view = bhsd.view(nullptr, 4);
  EXPECT_EQ(view.strides[0], 9 * 3 * 16);
  EXPECT_EQ(view.strides[1], 9 * 16);
  EXPECT_EQ(view.strides[2], 16);
  EXPECT_EQ(bhsd.bytes().size(), size_t(2 * 2 * 3 * 9 * 16));
}

TEST(HostTensor, LayoutsHoldTheSameValues) {
  HostTensor a(FA_F16, 2, 3, 5, 8, Layout::Bshd, 1);
  HostTensor b(FA_F16, 2, 3, 5, 8, Layout::Bhsd, 6);
  a.fill({}, 9);
  b.fill({}, 9);
  float rowA[8], rowB[8];
  for (int64_t s = 0; s < 5; ++s) {
    a.readRow(1, 2, s, rowA);
    b.readRow(1, 2, s, rowB);
    for (int d = 0; d < 8; ++d)
      EXPECT_EQ(rowA[d], rowB[d]);
  }
}

TEST(HostTensor, RowsThatAreOverwrittenDiffer) {
  HostTensor tensor(FA_F16, 1, 3, 9, 8, Layout::Bshd, 1);
  tensor.fill({}, 9);
  HostTensor other = tensor;
  other.overwrite(0, 3, 5, 1, 2);
  EXPECT_TRUE(tensor.hasSameRows(other, 0, 0, 3));
  EXPECT_FALSE(tensor.hasSameRows(other, 0, 2, 4));
  EXPECT_FALSE(tensor.hasSameRows(other, 0, 4, 6));
  EXPECT_TRUE(tensor.hasSameRows(other, 0, 5, 9));
  float row[8];
  other.readRow(0, 2, 3, row);
  EXPECT_EQ(row[7], 2);
  other.readRow(0, 2, 4, row);
  EXPECT_EQ(row[0], 1);
}

TEST(HostTensor, GuardsAreNanAndWatched) {
  for (Layout layout : {Layout::Bshd, Layout::Bhsd}) {
    HostTensor tensor(FA_BF16, 2, 3, 5, 8, layout, 2);
    tensor.fill({}, 1);
    EXPECT_EQ(tensor.touchedGuard(), "");
    float row[8];
    tensor.readRow(1, 1, 5, row);
    EXPECT_TRUE(std::isnan(row[0]));
    tensor.row(1, 1, 6)[3] = 0;
    EXPECT_EQ(tensor.touchedGuard(), "batch 1, head 1, row 6 of 5");
  }
}
