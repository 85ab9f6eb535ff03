//===- Variants.cpp - What each variant computes --------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Variants.h"

#include "Parallel.h"
#include "Random.h"

#include <algorithm>
#include <cmath>

using namespace fa::bench;

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// The key that lies opposite to a row: the last row's is the last key.
static int64_t opposite(const VariantData &data, const Position &at) {
  return at.i + data.seqKv - data.seqQ;
}

static bool seesAll(const VariantData &, const Position &) { return true; }

static bool seesCausal(const VariantData &data, const Position &at) {
  return opposite(data, at) >= at.j;
}

/// Keys that a row of window1024 sees.
static constexpr int64_t kWindow = 1024;

static bool seesWindow(const VariantData &data, const Position &at) {
  int64_t distance = opposite(data, at) - at.j;
  return distance >= 0 && distance < kWindow;
}

static bool seesDocument(const VariantData &data, const Position &at) {
  return seesCausal(data, at) && data.extras[0].at<int32_t>(at.b, at.i) ==
                                     data.extras[1].at<int32_t>(at.b, at.j);
}

static bool seesPrefix(const VariantData &data, const Position &at) {
  return at.j < data.extras[0].at<int32_t>(at.b) || seesCausal(data, at);
}

/// Of the cache's keys, the first of each batch count.
static int64_t keysOfCache(const VariantData &data, int64_t b) {
  return data.extras[0].at<int32_t>(b);
}

static bool seesCache(const VariantData &data, const Position &at) {
  int64_t keys = keysOfCache(data, at.b);
  return at.j < keys && at.i + keys - data.seqQ >= at.j;
}

/// The packed sequence that a row lies in, by the sequences' starts.
static int64_t sequenceOf(const ExtraTensor &starts, int64_t row) {
  int64_t sequence = 0;
  while (starts.at<int32_t>(sequence + 1) <= row)
    ++sequence;
  return sequence;
}

static bool seesPacked(const VariantData &data, const Position &at) {
  const ExtraTensor &startsQ = data.extras[0], &startsKv = data.extras[1];
  int64_t s = sequenceOf(startsQ, at.i);
  int64_t firstQ = startsQ.at<int32_t>(s), endQ = startsQ.at<int32_t>(s + 1);
  int64_t first = startsKv.at<int32_t>(s), end = startsKv.at<int32_t>(s + 1);
  if (at.j < first || at.j >= end)
    return false;
  int64_t opposite = (at.i - firstQ) + (end - first) - (endQ - firstQ);
  return opposite >= at.j - first;
}

static double shareOne(const VariantData &) { return 1; }
static double shareHalf(const VariantData &) { return 0.5; }

static double shareWindow(const VariantData &data) {
  double seq = double(data.seqKv), width = std::min(double(kWindow), seq);
  return (width * seq - width * (width - 1) / 2) / (seq * seq);
}

/// Documents of a timing, of one length each.
static constexpr int64_t kDocuments = 4;

static double shareDocument(const VariantData &) { return 0.5 / kDocuments; }

/// The prefix's keys whole, one half of the rest.
static double sharePrefix(const VariantData &data) {
  double sum = 0;
  for (int64_t b = 0; b < data.batch; ++b) {
    double part = data.extras[0].at<int32_t>(b) / double(data.seqKv);
    sum += (1 + part * part) / 2;
  }
  return sum / double(data.batch);
}

/// One half of what each sequence has of all rows and keys.
static double sharePacked(const VariantData &data) {
  double sum = 0;
  for (const auto &[queries, keys] : data.lengths)
    sum += double(queries) * double(keys) / 2;
  return sum / (double(data.batch) * double(data.seqQ) * double(data.seqKv));
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

template <typename T>
static T keepScore(const VariantData &, const Position &, T score) {
  return score;
}

template <typename T>
static T softcap(const VariantData &, const Position &, T score) {
  return T(30) * std::tanh(score / T(30));
}

/// The slope of a head as in ALiBi's paper: 2^(-8 (h + 1) / n) for a power of
/// two n of heads; with more heads, those behind the first n take every other
/// slope of 2 n heads.
static double alibiSlope(int64_t h, int64_t heads) {
  int64_t n = 1;
  while (2 * n <= heads)
    n *= 2;
  if (h < n)
    return std::exp2(-8.0 * double(h + 1) / double(n));
  return std::exp2(-8.0 * double(2 * (h - n) + 1) / double(2 * n));
}

template <typename T>
static T alibi(const VariantData &data, const Position &at, T score) {
  T distance = T(std::abs(opposite(data, at) - at.j));
  return score - T(alibiSlope(at.h, data.heads)) * distance;
}

template <typename T>
static T addBias(const VariantData &data, const Position &at, T score) {
  return score + T(data.extras[0].at<float>(at.h, at.i, at.j));
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Streams of draws behind those of q, k and v.
static uint64_t streamOf(uint64_t seed) { return 4 * seed + 3; }

int64_t fa::bench::rowUnitOf(const rt::Kernel &kernel) {
  int64_t unit = 1;
  for (const rt::Param &param : kernel.params)
    if (param.argument == rt::Argument::Extra && param.unitBytes)
      unit = std::max(unit, param.unitBytes / rt::dtypeBytes(param.dtype));
  return unit;
}

/// A bias of one plane of normal draws a head, or of one for all heads, with at
/// least `padding` elements behind each row.
static void addBiasTensor(VariantData &data, uint64_t seed, bool isShared,
                          int64_t padding) {
  int64_t planes = isShared ? 1 : data.heads;
  int64_t units = (data.seqKv + padding + data.rowUnit - 1) / data.rowUnit;
  ExtraTensor bias("bias", FA_F32, {data.heads, data.seqQ, data.seqKv},
                   {planes, data.seqQ, units * data.rowUnit});
  parallelFor(planes * data.seqQ, [&](int64_t row) {
    int64_t h = row / data.seqQ, i = row % data.seqQ;
    for (int64_t j = 0; j < data.seqKv; ++j)
      bias.set(h * bias.stride(0) + i * bias.stride(1) + j,
               normal(streamOf(seed), row * data.seqKv + j));
  });
  data.extras.push_back(std::move(bias));
}

/// Above this many elements a bias is shared by the heads of a check.
static constexpr int64_t kBiasElements = int64_t(1) << 26;

static void fillBiasForCheck(VariantData &data, uint64_t seed) {
  // Row lengths that no vector divides, where the kernel takes them.
  addBiasTensor(data, seed, data.heads * data.seqQ * data.seqKv > kBiasElements,
                3);
}

static void fillBiasForTiming(VariantData &data, uint64_t seed) {
  addBiasTensor(data, seed, /*isShared=*/true, 0);
}

/// Ids of queries and keys: `documentOf` says the document of a key; a query's
/// is that of the key opposite to it, -1 where there is none.
template <typename Function>
static void addIds(VariantData &data, Function documentOf) {
  ExtraTensor idsQ("idsQ", FA_I32, {data.batch, data.seqQ},
                   {data.batch, data.seqQ + 1});
  ExtraTensor idsKV("idsKV", FA_I32, {data.batch, data.seqKv},
                    {data.batch, data.seqKv + 3});
  for (int64_t b = 0; b < data.batch; ++b) {
    for (int64_t j = 0; j < data.seqKv; ++j)
      idsKV.set(b * idsKV.stride(0) + j, int32_t(documentOf(b, j)));
    for (int64_t i = 0; i < data.seqQ; ++i) {
      int64_t key = i + data.seqKv - data.seqQ;
      idsQ.set(b * idsQ.stride(0) + i,
               int32_t(key < 0 ? -1 : documentOf(b, key)));
    }
  }
  data.extras.push_back(std::move(idsQ));
  data.extras.push_back(std::move(idsKV));
}

/// The first keys of the documents of a batch but the first, random and sorted.
static std::vector<int64_t> drawCuts(const VariantData &data, int64_t b,
                                     uint64_t seed) {
  std::vector<int64_t> cuts;
  for (int64_t n = 1; n < kDocuments; ++n)
    cuts.push_back(int64_t(mix(streamOf(seed) + mix(b * kDocuments + n)) %
                           uint64_t(std::max<int64_t>(1, data.seqKv))));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

static void fillDocumentForCheck(VariantData &data, uint64_t seed) {
  std::vector<std::vector<int64_t>> cuts;
  for (int64_t b = 0; b < data.batch; ++b)
    cuts.push_back(drawCuts(data, b, seed));
  addIds(data, [&](int64_t b, int64_t j) {
    return std::upper_bound(cuts[b].begin(), cuts[b].end(), j) -
           cuts[b].begin();
  });
}

static void fillDocumentForTiming(VariantData &data, uint64_t) {
  int64_t length = std::max<int64_t>(1, data.seqKv / kDocuments);
  addIds(data, [=](int64_t, int64_t j) { return j / length; });
}

/// Lengths from no key to all of them.
static void fillPrefix(VariantData &data, uint64_t seed) {
  ExtraTensor prefix("prefix", FA_I32, {data.batch}, {data.batch});
  for (int64_t b = 0; b < data.batch; ++b)
    prefix.set(
        b, int32_t(mix(streamOf(seed) + mix(b)) % uint64_t(data.seqKv + 1)));
  data.extras.push_back(std::move(prefix));
}

/// Caches whose lengths are from no key to all.
static void fillCacheForCheck(VariantData &data, uint64_t seed) {
  ExtraTensor lens("kv_lens", FA_I32, {data.batch}, {data.batch});
  for (int64_t b = 0; b < data.batch; ++b)
    lens.set(b,
             int32_t(mix(streamOf(seed) + mix(b)) % uint64_t(data.seqKv + 1)));
  data.extras.push_back(std::move(lens));
}

/// Caches that are full.
static void fillCacheForTiming(VariantData &data, uint64_t) {
  ExtraTensor lens("kv_lens", FA_I32, {data.batch}, {data.batch});
  for (int64_t b = 0; b < data.batch; ++b)
    lens.set(b, int32_t(data.seqKv));
  data.extras.push_back(std::move(lens));
}

/// Adds the starts of sequences of the given lengths.
static void addStarts(VariantData &data) {
  int64_t entries = int64_t(data.lengths.size()) + 1;
  const char *names[] = {"cu_seqlens_q", "cu_seqlens_kv"};
  for (int side : {0, 1}) {
    ExtraTensor starts(names[side], FA_I32, {entries}, {entries});
    int64_t row = 0;
    starts.set(0, int32_t(0));
    for (int64_t s = 0; s + 1 < entries; ++s)
      starts.set(s + 1, int32_t(row += data.lengths[s][side]));
    data.extras.push_back(std::move(starts));
  }
}

/// Sequences that a check draws.
static constexpr int64_t kSequences = 5;

/// Lengths by random cuts: some sequences have no queries, some no keys.
static void fillPackedForCheck(VariantData &data, uint64_t seed) {
  if (data.lengths.empty()) {
    std::vector<int64_t> cuts[2];
    for (int side : {0, 1}) {
      int64_t rows = side == 0 ? data.seqQ : data.seqKv;
      for (int64_t n = 1; n < kSequences; ++n)
        cuts[side].push_back(int64_t(mix(streamOf(seed) + mix(2 * n + side)) %
                                     uint64_t(rows + 1)));
      cuts[side].insert(cuts[side].end(), {0, rows});
      std::sort(cuts[side].begin(), cuts[side].end());
    }
    for (int64_t s = 0; s < kSequences; ++s)
      data.lengths.push_back(
          {cuts[0][s + 1] - cuts[0][s], cuts[1][s + 1] - cuts[1][s]});
  }
  addStarts(data);
}

/// A batch of one length, one sequence behind the other, or the lengths that
/// are asked for.
static void fillPackedForTiming(VariantData &data, uint64_t) {
  if (data.lengths.empty())
    data.lengths.assign(data.batch, {data.seqQ, data.seqKv});
  addStarts(data);
}

static void fillNothing(VariantData &, uint64_t) {}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const Variant kVariants[] = {
    {"full", seesAll, keepScore, keepScore, shareOne, fillNothing, fillNothing},
    {"causal", seesCausal, keepScore, keepScore, shareHalf, fillNothing,
     fillNothing},
    {"window1024", seesWindow, keepScore, keepScore, shareWindow, fillNothing,
     fillNothing},
    {"softcap", seesAll, softcap, softcap, shareOne, fillNothing, fillNothing},
    {"alibi", seesCausal, alibi, alibi, shareHalf, fillNothing, fillNothing},
    {"document", seesDocument, keepScore, keepScore, shareDocument,
     fillDocumentForCheck, fillDocumentForTiming},
    {"bias", seesAll, addBias, addBias, shareOne, fillBiasForCheck,
     fillBiasForTiming},
    {"prefix-lm", seesPrefix, keepScore, keepScore, sharePrefix, fillPrefix,
     fillPrefix},
    {"cache", seesCache, keepScore, keepScore, shareHalf, fillCacheForCheck,
     fillCacheForTiming, keysOfCache},
    {"packed", seesPacked, keepScore, keepScore, sharePacked,
     fillPackedForCheck, fillPackedForTiming, nullptr, /*isPacked=*/true},
};

const Variant *fa::bench::findVariant(const std::string &name) {
  for (const Variant &variant : kVariants)
    if (name == variant.name)
      return &variant;
  return nullptr;
}

std::string fa::bench::variantNames() {
  std::string names;
  for (const Variant &variant : kVariants)
    names += (names.empty() ? "" : ", ") + std::string(variant.name);
  return names;
}
