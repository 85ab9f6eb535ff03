//===- MirroredOrderTest.cpp - A head's longest and shortest rows ---------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Schedule/MirroredOrder.h"
#include "OrderShapes.h"

using namespace fa;

namespace {
class MirroredOrderTest : public testing::TestWithParam<OrderShape> {};
} // namespace

TEST_P(MirroredOrderTest, EachItemOnceAndPairsTogether) {
  const int64_t firsts = std::get<0>(GetParam());
  expectEachItemOnce<MirroredOrder<int64_t>>(
      GetParam(), [&](auto &order, int64_t block, int64_t n) {
        auto [first, other] = order.get(block, n);
        if (first < firsts / 2) {
          EXPECT_EQ(order.get(block, n - 1),
                    std::pair(firsts - 1 - first, other));
        }
      });
}

INSTANTIATE_TEST_SUITE_P(Shapes, MirroredOrderTest, orderShapes());

TEST(MirroredOrder, PairsOfOneOtherAreRunAtTheSameTime) {
  constexpr int64_t kFirsts = 8, kBlocks = 132;
  MirroredOrder<int64_t> order(kFirsts, /*others=*/128, kBlocks);
  for (int64_t n = 0; n < 4; n += 2) {
    int64_t least = order.get(0, n).second;
    int64_t most = order.get(kBlocks - 1, n).second;
    EXPECT_EQ(most - least + 1, kBlocks / (kFirsts / 2));
  }
}

TEST(MirroredOrder, SharesAreAlmostEqual) {
  auto causal = [](int64_t first) { return 2.0 + double(first); };
  // Four documents of equal length.
  auto documents = [](int64_t first) { return 2.0 + double(first % 8); };
  EXPECT_LT(getImbalance<MirroredOrder<int64_t>>(4, 256, 132, causal), 1.04);
  EXPECT_LT(getImbalance<MirroredOrder<int64_t>>(32, 64, 132, causal), 1.04);
  EXPECT_LT(getImbalance<MirroredOrder<int64_t>>(32, 64, 132, documents), 1.04);
  EXPECT_GT(getImbalance<BalancedOrder<int64_t>>(32, 64, 132, documents), 1.1);
}
