//===- MaskRanges.h - Keys that queries see, by ranges of values -*- C++
//-*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a query sees all keys of a block, or none, by interval arithmetic
// over the mask region: a value is known by the least and the largest that it
// has with any key of the block, a condition by whether it holds with all keys
// and whether with none.
//
//   query                         itself
//   key                           the block's first and last
//   element of an integer tensor  at the query itself; at a key between the one
//                                 at the block's first key and the one at its
//                                 last, where all others lie between these: ids
//                                 of documents that follow one another. Looking
//                                 takes br + bc elements; the mask has br bc
//   comparison                    by the bounds of the operands
//   sum, difference of indices    by the bounds of the operands, where these
//   are
//                                 positions and integers of up to 32 bits,
//                                 which do not wrap around
//   and, or, not                  both; one; neither
//
// A mask with any other condition has no ranges: what they leave open can be
// told by looking at each key alone.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_ATTNTOLINALG_MASKRANGES_H
#define FA_LIB_CONVERSION_ATTNTOLINALG_MASKRANGES_H

#include "GenericBuilder.h"

#include <optional>

namespace fa {

/// The positions [first, last] of a block's queries or keys, of which there is
/// one at least.
struct PositionRange {
  mlir::Value first, last;
};

/// A block of `br` queries and `bc` keys, less what lies behind the last ones.
struct MaskBlock {
  mlir::Value batch, head;
  PositionRange queries, keys;
  int64_t br, bc;
};

/// Of each row, as f32 like all sums of rows, the fewest and the most keys that
/// any query sees which the row stands for.
struct KeyCounts {
  mlir::Value fewest, most;
};

/// What the ranges of values tell: where a query sees all keys the fewest are
/// all, where it sees none the most are 0.
struct CountBounds {
  KeyCounts counts; ///< of `br` rows; queries behind the last count as it does
  /// The bounds do not hold after all, by flags of elements: a condition to
  /// branch on. Null where they always do.
  mlir::Value fails;
};

/// The bounds on what a mask region (b, h, i, j) -> i1 leaves of a block;
/// nothing where ranges of values tell nothing. Builds at the builder's place.
std::optional<CountBounds> boundKeyCounts(GenericBuilder &builder,
                                          mlir::Region &mask,
                                          const MaskBlock &block);

} // namespace fa

#endif // FA_LIB_CONVERSION_ATTNTOLINALG_MASKRANGES_H
