//===- PairShares.h - Pairs of items, dealt one by one ----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What orders by pairs have in common (PairedOrder.h, MirroredOrder.h): pairs
// come first, and then the single items; block b of g has b, b + g, ... of that
// list, and runs both items of a pair.
//
//===----------------------------------------------------------------------===//

#ifndef FA_SCHEDULE_PAIRSHARES_H
#define FA_SCHEDULE_PAIRSHARES_H

#include "fa/Schedule/BalancedOrder.h"

namespace fa {

/// The shares of `blocks` blocks in `pairs` pairs and `singles` single items.
/// `Int` is as of the orders.
template <typename Int> class PairShares {
public:
  PairShares(Int pairs, Int singles, Int blocks)
      : pairs(pairs), blocks(blocks), units(pairs + singles) {}

  /// The number of items of `block`.
  Int count(Int block) const {
    return countShare(pairs, block) + countShare(units, block);
  }

protected:
  /// Whether the block's item `number` is one of a pair, and in which round the
  /// block runs that pair or single item.
  auto getRound(Int block, Int number) const {
    Int ownPairs = countShare(pairs, block);
    auto isOfPair = number < ownPairs * 2;
    Int round = select(isOfPair, number / 2, number - ownPairs);
    return std::pair(isOfPair, round);
  }
  /// The pair or single item of a block's round.
  Int getUnit(Int block, Int round) const { return round * blocks + block; }

  Int pairs;

private:
  /// How many of `count` things, dealt one by one, `block` gets.
  Int countShare(Int count, Int block) const {
    return (maximum(count, block) - block + blocks - 1) / blocks;
  }

  Int blocks;
  Int units; ///< pairs and single items
};

} // namespace fa

#endif // FA_SCHEDULE_PAIRSHARES_H
