//===- BalancedOrderTest.cpp - Shares of persistent blocks ----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Schedule/BalancedOrder.h"
#include "gtest/gtest.h"

#include <set>
#include <tuple>
#include <vector>

using namespace fa;

namespace {
using Shape = std::tuple<int64_t, int64_t, int64_t>;
class BalancedOrderTest : public testing::TestWithParam<Shape> {};
} // namespace

TEST_P(BalancedOrderTest, EachItemOnce) {
  auto [firsts, others, multiprocessors] = GetParam();
  int64_t blocks = std::min(firsts * others, multiprocessors);
  BalancedOrder<int64_t> order(firsts, others, blocks);
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t n = 0, e = order.count(block); n < e; ++n) {
      auto [first, other] = order.get(block, n);
      EXPECT_TRUE(first >= 0 && first < firsts && other >= 0 && other < others);
      EXPECT_TRUE(seen.insert({first, other}).second) << first << ", " << other;
    }
  EXPECT_EQ(int64_t(seen.size()), firsts * others);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, BalancedOrderTest,
    testing::Combine(testing::Values(1, 2, 3, 4, 7, 8, 9, 31, 32, 33),
                     testing::Values(1, 2, 3, 5, 32, 33, 64, 131, 132, 500),
                     testing::Values(1, 2, 7, 66, 132)));

/// The longest share over the mean, where an item is as long as its first is
/// large and an item itself costs one.
static double getImbalance(int64_t firsts, int64_t others, int64_t blocks) {
  BalancedOrder<int64_t> order(firsts, others, blocks);
  double longest = 0, sum = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    double share = 0;
    for (int64_t n = 0, e = order.count(block); n < e; ++n)
      share += order.get(block, n).first + 2;
    longest = std::max(longest, share);
    sum += share;
  }
  return longest / (sum / blocks);
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
