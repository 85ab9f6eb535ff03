//===- PairedOrderTest.cpp - Pairs of neighbours as shares ----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Schedule/PairedOrder.h"
#include "OrderShapes.h"

#include <vector>

using namespace fa;

namespace {
class PairedOrderTest : public testing::TestWithParam<OrderShape> {};
} // namespace

TEST_P(PairedOrderTest, EachItemOnceAndPairsTogether) {
  expectEachItemOnce<PairedOrder<int64_t>>(
      GetParam(), [](auto &order, int64_t block, int64_t n) {
        auto [first, other] = order.get(block, n);
        if (first % 2) {
          EXPECT_EQ(order.get(block, n - 1), std::pair(first - 1, other));
        }
      });
}

INSTANTIATE_TEST_SUITE_P(Shapes, PairedOrderTest, orderShapes());

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
  return getImbalance<Order<int64_t>>(
      int64_t(slots.size()), heads, blocks,
      [&](int64_t first) { return slots[first]; });
}

TEST(PairedOrder, SharesAreAlmostEqual) {
  const std::vector<int64_t> mixed = {113,  4096, 1000, 17,   2048, 512,
                                      3000, 1,    700,  1500, 2500, 897};
  const std::vector<int64_t> same(4, 4096);
  EXPECT_LT(getImbalance<PairedOrder>(getSlots(mixed), 32, 132), 1.06);
  EXPECT_LT(getImbalance<PairedOrder>(getSlots(same), 32, 132), 1.05);
  EXPECT_GT(getImbalance<BalancedOrder>(getSlots(mixed), 32, 132), 1.1);
}
