//===- MirroredOrder.h - A head's longest and shortest rows as shares -----===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Items have two coordinates, `first` and `other`, and grow with `first`: the
// blocks of rows of a causal head, and the heads. A block runs pairs of one
// other, the longest item with the shortest, the next ones, and so on, which
// are all as long together; an other's pairs are run at the same time, one
// other after the other. So what its items all read (the keys and values of a
// head) is read from memory once. Where `firsts` is odd the items in the middle
// end the work.
//
// Shares differ by up to a pair, those of BalancedOrder.h by up to the shortest
// item, whose last items are those of many others at a time. So this one is for
// heads that are large beside the cache: of 16384 rows in sequences of 512,
// causal, D 256, by simulation of the cache, 335 MB come from or go to memory,
// by BalancedOrder.h 385, and 268 are the least. It needs no more of lengths
// than that mirrored items make up for one another.
//
//===----------------------------------------------------------------------===//

#ifndef FA_SCHEDULE_MIRROREDORDER_H
#define FA_SCHEDULE_MIRROREDORDER_H

#include "fa/Schedule/PairShares.h"

namespace fa {

/// The shares of `blocks` blocks in `firsts` x `others` items. `Int` is
/// int64_t, or a type that builds the same arithmetic in IR; all values are at
/// least 0, and there are blocks and others.
template <typename Int> class MirroredOrder : public PairShares<Int> {
public:
  MirroredOrder(Int firsts, Int others, Int blocks)
      : MirroredOrder(firsts, firsts / 2, others, blocks) {}

  /// The two coordinates of the block's item `number`, from 0.
  std::pair<Int, Int> get(Int block, Int number) const {
    auto [isOfPair, round] = this->getRound(block, number);
    Int unit = this->getUnit(block, round);
    Int pairsOfOne = maximum(half, 1);
    Int rank = unit % pairsOfOne;
    Int inPair = select(number % 2 < 1, firsts - rank - 1, rank);
    return {select(isOfPair, inPair, half),
            select(isOfPair, unit / pairsOfOne, unit - this->pairs)};
  }

private:
  MirroredOrder(Int firsts, Int half, Int others, Int blocks)
      : PairShares<Int>{half * others, firsts % 2 * others, blocks},
        firsts(firsts), half(half) {}

  Int firsts;
  Int half; ///< pairs of one other
};

} // namespace fa

#endif // FA_SCHEDULE_MIRROREDORDER_H
