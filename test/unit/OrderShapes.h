//===- OrderShapes.h - What all orders of work items have to hold ---------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TEST_UNIT_ORDERSHAPES_H
#define FA_TEST_UNIT_ORDERSHAPES_H

#include "gtest/gtest.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

/// Firsts, others, and multiprocessors.
using OrderShape = std::tuple<int64_t, int64_t, int64_t>;

inline auto orderShapes() {
  return testing::Combine(
      testing::Values(1, 2, 3, 4, 7, 8, 9, 31, 32, 33),
      testing::Values(1, 2, 3, 5, 32, 33, 64, 131, 132, 500),
      testing::Values(1, 2, 7, 66, 132));
}

/// Expects that the blocks of `Order` run each item of `shape` once, and calls
/// `check` with the order, the block, and the number of each in the block.
template <typename Order, typename Check>
void expectEachItemOnce(const OrderShape &shape, Check check) {
  auto [firsts, others, multiprocessors] = shape;
  int64_t blocks = std::min(firsts * others, multiprocessors);
  Order order(firsts, others, blocks);
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t n = 0, e = order.count(block); n < e; ++n) {
      auto [first, other] = order.get(block, n);
      EXPECT_TRUE(first >= 0 && first < firsts && other >= 0 && other < others);
      EXPECT_TRUE(seen.insert({first, other}).second) << first << ", " << other;
      check(order, block, n);
    }
  EXPECT_EQ(int64_t(seen.size()), firsts * others);
}

/// The longest share of `blocks` blocks over the mean; `cost` is of an item's
/// first coordinate.
template <typename Order, typename Cost>
double getImbalance(int64_t firsts, int64_t others, int64_t blocks, Cost cost) {
  Order order(firsts, others, blocks);
  double longest = 0, sum = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    double share = 0;
    for (int64_t n = 0, e = order.count(block); n < e; ++n)
      share += cost(order.get(block, n).first);
    longest = std::max(longest, share);
    sum += share;
  }
  return longest / (sum / double(blocks));
}

#endif // FA_TEST_UNIT_ORDERSHAPES_H
