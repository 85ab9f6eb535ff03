//===- Reference.cpp - Attention in float64 on the CPU --------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

#include "Float16.h"
#include "Parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace fa::bench;

// The inner loops are compiled for several instruction sets and chosen at run
// time: the program is carried to machines that it was not built on.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FA_VECTOR_CLONES                                                       \
  __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define FA_VECTOR_CLONES
#endif

/// Rows that are computed together, so that a row of K or V is read and widened
/// once for all of them.
static constexpr size_t kGroupRows = 16;
/// Partial sums per dot product: what the widest vectors hold.
static constexpr int64_t kLanes = 16;

static constexpr double kNegInf = -std::numeric_limits<double>::infinity();

FA_VECTOR_CLONES
static double dotDouble(const float *a, const float *b, int64_t count) {
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] += double(a[i + lane]) * double(b[i + lane]);
  for (int64_t lane = 0; i < count; ++i, ++lane)
    lanes[lane] += double(a[i]) * double(b[i]);
  double sum = 0;
  for (double lane : lanes)
    sum += lane;
  return sum;
}

FA_VECTOR_CLONES
static float dotFloat(const float *a, const float *b, int64_t count) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] += a[i + lane] * b[i + lane];
  for (int64_t lane = 0; i < count; ++i, ++lane)
    lanes[lane] += a[i] * b[i];
  float sum = 0;
  for (float lane : lanes)
    sum += lane;
  return sum;
}

/// exact += p * row in float64, naive += pNaive * row in float32.
FA_VECTOR_CLONES
static void accumulate(const float *row, int64_t count, double p, float pNaive,
                       double *exact, float *naive) {
  for (int64_t i = 0; i < count; ++i)
    exact[i] += p * double(row[i]);
  for (int64_t i = 0; i < count; ++i)
    naive[i] += pNaive * row[i];
}

namespace {

/// Rows [begin, end) of a reference, all of one (b, h).
class RowGroup {
public:
  RowGroup(const Inputs &inputs, Reference &result, size_t begin, size_t end)
      : in(inputs), result(result), begin(begin), count(end - begin),
        seqKv(inputs.k.seq()), b(result.rows[begin].b),
        kvHead(result.rows[begin].h /
               std::max<int64_t>(1, inputs.q.heads() /
                                        std::max<int64_t>(1, in.k.heads()))),
        exact(count * seqKv, kNegInf), naive(count * seqKv, float(kNegInf)) {}

  void run() {
    computeScores();
    for (size_t r = 0; r < count; ++r) {
      softmaxExact(r);
      softmaxNaive(r);
    }
    multiplyValues();
  }

private:
  /// S = score(scale * q k^T) where visible, -inf elsewhere.
  void computeScores() {
    int64_t dim = in.q.dim();
    std::vector<float> q(count * dim), k(dim);
    for (size_t r = 0; r < count; ++r) {
      const RowId &row = result.rows[begin + r];
      in.q.readRow(row.b, row.h, row.i, &q[r * dim]);
    }
    for (int64_t j = 0; j < seqKv; ++j) {
      in.k.readRow(b, kvHead, j, k.data());
      for (size_t r = 0; r < count; ++r) {
        const RowId &row = result.rows[begin + r];
        Position at{row.b, row.h, row.i, j};
        if (!in.variant.visible(in.data, at))
          continue;
        const float *qRow = &q[r * dim];
        exact[r * seqKv + j] = in.variant.score(
            in.data, at, double(in.scale) * dotDouble(qRow, k.data(), dim));
        naive[r * seqKv + j] = in.variant.naiveScore(
            in.data, at, in.scale * dotFloat(qRow, k.data(), dim));
      }
    }
  }

  /// Scores become probabilities; all of them 0 where no key is visible.
  void softmaxExact(size_t r) {
    double *row = exact.data() + r * seqKv, max = kNegInf, sum = 0;
    for (int64_t j = 0; j < seqKv; ++j)
      max = std::max(max, row[j]);
    result.lse[begin + r] = kNegInf;
    if (max == kNegInf) {
      std::fill(row, row + seqKv, 0.0);
      return;
    }
    for (int64_t j = 0; j < seqKv; ++j)
      sum += row[j] = row[j] == kNegInf ? 0.0 : std::exp(row[j] - max);
    for (int64_t j = 0; j < seqKv; ++j)
      row[j] /= sum;
    result.lse[begin + r] = max + std::log(sum);
  }

  void softmaxNaive(size_t r) {
    float *row = naive.data() + r * seqKv, max = float(kNegInf), sum = 0;
    for (int64_t j = 0; j < seqKv; ++j)
      max = std::max(max, row[j]);
    if (max == float(kNegInf)) {
      std::fill(row, row + seqKv, 0.0f);
      return;
    }
    for (int64_t j = 0; j < seqKv; ++j)
      sum += row[j] = row[j] == float(kNegInf) ? 0.0f : std::exp(row[j] - max);
    for (int64_t j = 0; j < seqKv; ++j)
      row[j] = roundTo(in.q.dtype(), row[j] / sum);
  }

  /// O = P V; keys with weight 0 in both are not read, as masked keys must not
  /// count.
  void multiplyValues() {
    int64_t dimV = result.dimV;
    std::vector<float> v(dimV);
    for (int64_t j = 0; j < seqKv; ++j) {
      in.v.readRow(b, kvHead, j, v.data());
      for (size_t r = 0; r < count; ++r) {
        double p = exact[r * seqKv + j];
        float pNaive = naive[r * seqKv + j];
        if (p != 0 || pNaive != 0)
          accumulate(v.data(), dimV, p, pNaive, &result.o[(begin + r) * dimV],
                     &result.naive[(begin + r) * dimV]);
      }
    }
    for (size_t e = begin * dimV; e < (begin + count) * dimV; ++e)
      result.naive[e] = roundTo(in.q.dtype(), result.naive[e]);
  }

  const Inputs &in;
  Reference &result;
  size_t begin, count;
  int64_t seqKv, b, kvHead;
  /// [count, seqKv]: scores, then probabilities.
  std::vector<double> exact;
  std::vector<float> naive;
};

} // namespace

/// The starts of groups of rows that share a head, and the end.
static std::vector<size_t> groupStarts(const std::vector<RowId> &rows) {
  std::vector<size_t> starts;
  for (size_t r = 0; r < rows.size(); ++r)
    if (r == 0 || rows[r].b != rows[r - 1].b || rows[r].h != rows[r - 1].h ||
        r - starts.back() == kGroupRows)
      starts.push_back(r);
  starts.push_back(rows.size());
  return starts;
}

Reference fa::bench::computeReference(const Inputs &inputs,
                                      std::vector<RowId> rows) {
  Reference result;
  result.rows = std::move(rows);
  result.dimV = inputs.v.dim();
  result.o.resize(result.rows.size() * result.dimV);
  result.naive.resize(result.o.size());
  result.lse.resize(result.rows.size());
  std::vector<size_t> starts = groupStarts(result.rows);
  parallelFor(int64_t(starts.size()) - 1, [&](int64_t g) {
    RowGroup(inputs, result, starts[g], starts[g + 1]).run();
  });
  return result;
}
