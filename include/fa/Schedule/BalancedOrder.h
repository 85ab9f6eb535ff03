//===- BalancedOrder.h - Unequal items in equal shares ----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which work items each of a number of persistent blocks runs, in closed form.
//
// Items have two coordinates, `first` and `other`, and an item's length grows
// linearly with its first: causal attention's blocks of queries. Handing items
// out as blocks become free needs a counter in global memory, which somebody
// has to own and to reset. Lengths are known beforehand, so shares can be too:
//
// 1. Most rounds run pairs of one `other`: the longest with the shortest, the
//    next with the next. All pairs are as long. What runs at a time are few
//    others, whose keys and values stay in the cache.
// 2. The last one to two rounds' worth of pairs is taken apart into items, the
//    longest first; blocks take them forwards, then backwards, and so on. At
//    the end shares differ by the shortest items.
//
// Of 2048 causal items on 132 multiprocessors the longest share is 1.006 of the
// mean; b, b + g, b + 2g, ... of the same items in groups of others is 1.15.
//
//===----------------------------------------------------------------------===//

#ifndef FA_SCHEDULE_BALANCEDORDER_H
#define FA_SCHEDULE_BALANCEDORDER_H

#include <algorithm>
#include <cstdint>
#include <utility>

namespace fa {

inline int64_t select(bool condition, int64_t yes, int64_t no) {
  return condition ? yes : no;
}
inline int64_t maximum(int64_t a, int64_t b) { return std::max(a, b); }

/// The shares of `blocks` blocks in `firsts` x `others` items. `Int` is
/// int64_t, or a type that builds the same arithmetic in IR; all values are at
/// least 0, and there is an item for each block.
template <typename Int> class BalancedOrder {
public:
  BalancedOrder(Int firsts, Int others, Int blocks)
      : firsts(firsts), blocks(blocks),
        // Where `firsts` is odd, two others together have whole pairs.
        unitOthers(firsts % 2 + 1), unitPairs(firsts * unitOthers / 2),
        pairRounds(maximum(firsts * others / 2 / blocks, 1) - 1),
        unitsEnd(pairRounds * blocks / unitPairs),
        tailBegin(unitsEnd * unitOthers), tailOthers(others - tailBegin),
        // Pairs that the units lack come from the middle of the tail.
        lentPairs(pairRounds * blocks - unitsEnd * unitPairs),
        lentBegin(firsts * tailOthers / 2 - lentPairs),
        tailItems(firsts * tailOthers - lentPairs * 2) {}

  /// The number of items of `block`.
  Int count(Int block) const {
    Int whole = tailItems / blocks;
    Int position = getPosition(block, whole % 2);
    return pairRounds * 2 + whole + select(position < tailItems % blocks, 1, 0);
  }

  /// The two coordinates of the block's item `number`, from 0.
  std::pair<Int, Int> get(Int block, Int number) const {
    // 1. The pairs' rounds: a pair of a unit, or one that the tail lends.
    Int pair = block + number / 2 * blocks;
    Int isSecond = number % 2;
    Int unit = pair / unitPairs;
    auto isOfUnit = unit < unitsEnd;
    Int rank = select(isOfUnit, pair % unitPairs,
                      pair - unitsEnd * unitPairs + lentBegin);
    Int ranks = select(isOfUnit, unitPairs * 2, lentBegin * 2 + lentPairs * 2);
    Int inPair = select(isSecond < 1, rank, ranks - rank - 1);
    // 2. The tail's rounds: forwards and backwards, around what was lent.
    Int round = number - pairRounds * 2;
    Int place = round * blocks + getPosition(block, round % 2);
    Int inTail = select(place < lentBegin, place, place + lentPairs * 2);
    // 3. Both are positions in a list of items, the longest first and the
    //    others running fastest.
    auto isPair = number < pairRounds * 2;
    auto isInUnit = select(isPair, isOfUnit, isPair);
    Int position = select(isPair, inPair, inTail);
    Int width = select(isInUnit, unitOthers, tailOthers);
    Int begin = select(isInUnit, unit * unitOthers, tailBegin);
    return {firsts - position / width - 1, begin + position % width};
  }

private:
  Int getPosition(Int block, Int isBackwards) const {
    return select(isBackwards < 1, block, blocks - block - 1);
  }

  Int firsts, blocks;
  Int unitOthers, unitPairs; ///< of a unit, whose pairs are all as long
  Int pairRounds;            ///< in which each block runs a pair
  Int unitsEnd;              ///< units that are run whole as pairs
  Int tailBegin, tailOthers; ///< the others whose items end the work
  Int lentPairs, lentBegin;  ///< of the tail, run in the pairs' rounds
  Int tailItems;
};

} // namespace fa

#endif // FA_SCHEDULE_BALANCEDORDER_H
