//===- Sampling.cpp - Which rows are compared -----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sampling.h"

#include <algorithm>

using namespace fa::bench;

static constexpr int64_t kMinSample = 256;
/// Every tile height in use is a multiple of this.
static constexpr int64_t kTileRows = 64;

/// Rows as numbers (b * heads + h) * seqQ + i, in which they sort by head.
static RowId rowOf(int64_t number, const Sizes &sizes) {
  int64_t head = number / sizes.seqQ;
  return {head / sizes.heads, head % sizes.heads, number % sizes.seqQ};
}

/// The first and last rows of a sequence and those around some tile edges.
static std::vector<int64_t> edgeRows(int64_t seq) {
  std::vector<int64_t> rows = {0, 1, seq - 2, seq - 1};
  int64_t lastEdge = (seq - 1) / kTileRows * kTileRows;
  for (int64_t tile : {int64_t(1), int64_t(2), int64_t(3), seq / kTileRows / 2})
    rows.insert(rows.end(), {tile * kTileRows - 1, tile * kTileRows});
  rows.insert(rows.end(), {lastEdge - 1, lastEdge});
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [&](int64_t i) { return i < 0 || i >= seq; }),
             rows.end());
  return rows;
}

static std::vector<int64_t> sampleNumbers(const Sizes &sizes, uint64_t seed) {
  std::vector<int64_t> numbers;
  for (int64_t head : {int64_t(0), sizes.batch * sizes.heads - 1})
    for (int64_t i : edgeRows(sizes.seqQ))
      numbers.push_back(head * sizes.seqQ + i);
  double rowFlops = sizes.flops() / double(sizes.rows());
  int64_t wanted = std::max(kMinSample, int64_t(kSampleFlops / rowFlops));
  for (uint64_t draw = 0; int64_t(numbers.size()) < wanted; ++draw)
    numbers.push_back(int64_t(mix(mix(seed) ^ draw) % uint64_t(sizes.rows())));
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::vector<RowId> fa::bench::chooseRows(const Sizes &sizes, uint64_t seed) {
  std::vector<RowId> rows;
  if (sizes.flops() <= kFullFlops) {
    for (int64_t number = 0; number < sizes.rows(); ++number)
      rows.push_back(rowOf(number, sizes));
    return rows;
  }
  for (int64_t number : sampleNumbers(sizes, seed))
    rows.push_back(rowOf(number, sizes));
  return rows;
}

std::string fa::bench::describeSizes(const Sizes &sizes) {
  std::string heads = std::to_string(sizes.heads);
  if (sizes.kvHeads != sizes.heads)
    heads += "/" + std::to_string(sizes.kvHeads);
  return "b" + std::to_string(sizes.batch) + " h" + heads + " q" +
         std::to_string(sizes.seqQ) + " kv" + std::to_string(sizes.seqKv);
}
