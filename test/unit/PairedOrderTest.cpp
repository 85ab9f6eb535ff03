//===- PairedOrderTest.cpp - Pairs of neighbours as shares ----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Schedule/PairedOrder.h"
#include "gtest/gtest.h"

#include <set>
#include <tuple>
#include <vector>

using namespace fa;

namespace {
using Shape = std::tuple<int64_t, int64_t, int64_t>;
class PairedOrderTest : public testing::TestWithParam<Shape> {};
} // namespace

TEST_P(PairedOrderTest, EachItemOnceAndPairsTogether) {
  auto [firsts, others, multiprocessors] = GetParam();
  int64_t blocks = std::min(firsts * others, multiprocessors);
  PairedOrder<int64_t> order(firsts, others, blocks);
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t n = 0, e = order.count(block); n < e; ++n) {
      auto [first, other] = order.get(block, n);
      EXPECT_TRUE(first >= 0 && first < firsts && other >= 0 && other < others);
      EXPECT_TRUE(seen.insert({first, other}).second) << first << ", " << other;
      if (first % 2) {
        EXPECT_EQ(order.get(block, n - 1), std::pair(first - 1, other));
      }
    }
  EXPECT_EQ(int64_t(seen.size()), firsts * others);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PairedOrderTest,
    testing::Combine(testing::Values(1, 2, 3, 4, 7, 8, 9, 31, 32, 33),
                     testing::Values(1, 2, 3, 5, 32, 33, 64, 131, 132, 500),
                     testing::Values(1, 2, 7, 66, 132)));

/// The lengths of the blocks of causal sequences in the order of their slots
/// (--flatten-sequences=pairs), a slot itself costing one.
static std::vector<double> getSlots(const std::vector<int64_t> &sequences) {
  constexpr int64_t kRows = 128;
  std::vector<double> slots;
  for (int64_t rows : sequences)
    for (int64_t blocks = (rows + kRows - 1) / kRows, n = 0; n < blocks; ++n)
      slots.push_back(2.0 + double(n % 2 ? n / 2 : blocks - 1 - n / 2));
  return slots;
}

/// The longest share over the mean by `Order`.
template <template <typename> class Order>
static double getImbalance(const std::vector<double> &slots, int64_t heads,
                           int64_t blocks) {
  Order<int64_t> order(int64_t(slots.size()), heads, blocks);
  double longest = 0, sum = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    double share = 0;
    for (int64_t n = 0, e = order.count(block); n < e; ++n)
      share += slots[order.get(block, n).first];
    longest = std::max(longest, share);
    sum += share;
  }
  return longest / (sum / double(blocks));
}

TEST(PairedOrder, SharesAreAlmostEqual) {
  const std::vector<int64_t> mixed = {113,  4096, 1000, 17,   2048, 512,
                                      3000, 1,    700,  1500, 2500, 897};
  const std::vector<int64_t> same(4, 4096);
  EXPECT_LT(getImbalance<PairedOrder>(getSlots(mixed), 32, 132), 1.06);
  EXPECT_LT(getImbalance<PairedOrder>(getSlots(same), 32, 132), 1.05);
  EXPECT_GT(getImbalance<BalancedOrder>(getSlots(mixed), 32, 132), 1.1);
}
