//===- BalancedOrderTest.cpp - Shares of persistent blocks ----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Schedule/BalancedOrder.h"
#include "OrderShapes.h"

using namespace fa;

namespace {
class BalancedOrderTest : public testing::TestWithParam<OrderShape> {};
} // namespace

TEST_P(BalancedOrderTest, EachItemOnce) {
  expectEachItemOnce<BalancedOrder<int64_t>>(GetParam(),
                                             [](auto &, int64_t, int64_t) {});
}

INSTANTIATE_TEST_SUITE_P(Shapes, BalancedOrderTest, orderShapes());

/// Where an item is as long as its first is large and an item itself costs one.
static double getImbalance(int64_t firsts, int64_t others, int64_t blocks) {
  return getImbalance<BalancedOrder<int64_t>>(
      firsts, others, blocks, [](int64_t first) { return double(first + 2); });
}

TEST(BalancedOrder, SharesAreAlmostEqual) {
  constexpr int64_t kBlocks = 132, kItems = 2048;
  for (int64_t firsts : {8, 16, 32, 64, 128})
    EXPECT_LT(getImbalance(firsts, kItems / firsts, kBlocks), 1.01) << firsts;
  EXPECT_LT(getImbalance(33, 500, kBlocks), 1.01);
}

TEST(BalancedOrder, FewOthersAtATime) {
  // The first round's pairs are of as few others as hold them.
  BalancedOrder<int64_t> order(32, 64, 132);
  std::set<int64_t> others;
  for (int64_t block = 0; block < 132; ++block)
    others.insert(order.get(block, 0).second);
  EXPECT_EQ(others.size(), 9u);
}
