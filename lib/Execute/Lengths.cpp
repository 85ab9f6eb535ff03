//===- Lengths.cpp - How long sequences are -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Lengths.h"

#include "fa/Execute/Distribution.h"

#include <algorithm>
#include <numeric>

using namespace fa::execute;

/// One in this many sequences is empty.
static constexpr uint64_t kEmptyShare = 8;

std::vector<int64_t> fa::execute::drawLengths(uint64_t stream, int64_t count,
                                              int64_t longest) {
  std::vector<int64_t> lengths(count);
  for (int64_t i = 0; i < count; ++i)
    lengths[i] = drawBelow(stream, 2 * i, kEmptyShare) == 0
                     ? 0
                     : drawBelow(stream, 2 * i + 1, longest + 1);
  if (count > 0)
    lengths[drawBelow(stream, 2 * count, count)] = longest;
  return lengths;
}

std::vector<int64_t> fa::execute::drawParts(uint64_t stream, int64_t count,
                                            int64_t total) {
  if (count == 0)
    return {};
  std::vector<int64_t> ends(count, total);
  for (int64_t i = 0; i + 1 < count; ++i)
    ends[i] = drawBelow(stream, i, total + 1);
  std::sort(ends.begin(), ends.end());
  std::vector<int64_t> lengths(count);
  std::adjacent_difference(ends.begin(), ends.end(), lengths.begin());
  return lengths;
}

std::vector<int64_t>
fa::execute::getStarts(const std::vector<int64_t> &lengths) {
  std::vector<int64_t> starts(lengths.size() + 1);
  std::partial_sum(lengths.begin(), lengths.end(), starts.begin() + 1);
  return starts;
}
