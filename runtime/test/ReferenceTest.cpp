//===- ReferenceTest.cpp - The reference checks itself --------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

#include "Sampling.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace fa::bench;

namespace {

/// Inputs of a small problem.
struct Small {
  Small(const Sizes &sizes, const Distribution &distribution = {},
        const char *variant = "full", fa_dtype dtype = FA_BF16)
      : sizes(sizes), q(dtype, sizes.batch, sizes.heads, sizes.seqQ, sizes.dim,
                        Layout::Bshd, 2),
        k(dtype, sizes.batch, sizes.kvHeads, sizes.seqKv, sizes.dim,
          Layout::Bhsd, 2),
        v(dtype, sizes.batch, sizes.kvHeads, sizes.seqKv, sizes.dimV,
          Layout::Bshd, 2),
        variant(*findVariant(variant)), data(sizes.variantData()) {
    this->variant.fillForCheck(data, 0);
    q.fill(distribution, 1);
    k.fill(distribution, 2);
    v.fill(Distribution{}, 3);
  }

  Reference compute() const {
    Inputs inputs{q, k, v, 0.25f, variant, data};
    return computeReference(inputs, chooseRows(sizes, 0));
  }

  Sizes sizes;
  HostTensor q, k, v;
  const Variant &variant;
  VariantData data;
};

double element(const HostTensor &tensor, int64_t b, int64_t h, int64_t s,
               int64_t d) {
  std::vector<float> row(tensor.dim());
  tensor.readRow(b, h, s, row.data());
  return row[d];
}

} // namespace

/// One element by the textbook formula.
static double textbook(const Small &small, const RowId &row, int64_t d) {
  int64_t kvHead = row.h * small.sizes.kvHeads / small.sizes.heads;
  double sum = 0, weighted = 0;
  for (int64_t j = 0; j < small.sizes.seqKv; ++j) {
    if (!small.variant.visible(small.data, {row.b, row.h, row.i, j}))
      continue;
    double score = 0;
    for (int64_t e = 0; e < small.sizes.dim; ++e)
      score += element(small.q, row.b, row.h, row.i, e) *
               element(small.k, row.b, kvHead, j, e);
    double weight = std::exp(small.variant.score(
        small.data, {row.b, row.h, row.i, j}, score * 0.25));
    sum += weight;
    weighted += weight * element(small.v, row.b, kvHead, j, d);
  }
  return sum == 0 ? 0 : weighted / sum;
}

TEST(Reference, IsTheTextbookFormula) {
  for (const char *variant : {"full", "causal", "softcap", "alibi", "document",
                              "bias", "prefix-lm", "cache"}) {
    Small small({2, 6, 2, 21, 37, 20, 12}, {}, variant);
    Reference result = small.compute();
    ASSERT_EQ(result.rows.size(), 2u * 6 * 21);
    for (size_t r = 0; r < result.rows.size(); ++r)
      for (int64_t d = 0; d < 12; ++d)
        ASSERT_NEAR(result.o[r * 12 + d], textbook(small, result.rows[r], d),
                    1e-12);
  }
}

TEST(Reference, NaiveIsCloseAndRounded) {
  Small small({1, 2, 2, 40, 50, 32, 32});
  Reference result = small.compute();
  double worst = 0;
  for (size_t e = 0; e < result.o.size(); ++e)
    worst = std::max(worst, std::abs(result.naive[e] - result.o[e]));
  EXPECT_LT(worst, 2e-2);
  EXPECT_GT(worst, 1e-5) << "bf16 does round";
}

TEST(Reference, RowsWithoutKeysAreZero) {
  Small small({1, 2, 2, 5, 2, 16, 16}, {}, "causal");
  Reference result = small.compute();
  for (size_t r = 0; r < result.rows.size(); ++r) {
    bool sees = result.rows[r].i >= 3;
    EXPECT_EQ(std::isinf(result.lse[r]) && result.lse[r] < 0, !sees);
    for (int64_t d = 0; d < 16; ++d) {
      EXPECT_EQ(result.o[r * 16 + d] != 0, sees);
      EXPECT_EQ(result.naive[r * 16 + d] != 0, sees);
    }
  }
}

TEST(Reference, NoKeysAtAll) {
  Reference result = Small({1, 1, 1, 3, 0, 16, 16}).compute();
  ASSERT_EQ(result.rows.size(), 3u);
  for (double lse : result.lse)
    EXPECT_EQ(lse, -INFINITY);
  for (double o : result.o)
    EXPECT_EQ(o, 0);
}

TEST(Reference, EqualScoresGiveTheMean) {
  // Every score is 256 * 256 * 128 / 4: over f16's range, equal for all keys.
  Distribution constant{Distribution::Constant, 256};
  Small small({1, 1, 1, 4, 9, 128, 8}, constant, "full", FA_F16);
  Reference result = small.compute();
  for (int64_t d = 0; d < 8; ++d) {
    double mean = 0;
    for (int64_t j = 0; j < 9; ++j)
      mean += element(small.v, 0, 0, j, d) / 9;
    EXPECT_NEAR(result.o[d], mean, 1e-12);
    EXPECT_NEAR(result.naive[d], mean, 2e-3);
  }
  EXPECT_NEAR(result.lse[0], 256.0 * 256 * 128 / 4 + std::log(9.0), 1e-6);
}

/// Whether row i of seqQ sees key j of seqKv.
static bool sees(const char *variant, int64_t i, int64_t j, int64_t seqQ,
                 int64_t seqKv) {
  return findVariant(variant)->visible({1, 1, seqQ, seqKv}, {0, 0, i, j});
}

TEST(Variants, CausalIsBottomRight) {
  EXPECT_TRUE(sees("causal", 0, 0, 3, 3));
  EXPECT_FALSE(sees("causal", 0, 1, 3, 3));
  EXPECT_TRUE(sees("causal", 0, 7, 3, 10));
  EXPECT_FALSE(sees("causal", 0, 8, 3, 10));
  EXPECT_FALSE(sees("causal", 2, 0, 5, 2));
  EXPECT_TRUE(sees("causal", 3, 0, 5, 2));
  EXPECT_EQ(findVariant("spiral"), nullptr);
}

TEST(Variants, ACacheEndsAtItsLength) {
  const Variant &cache = *findVariant("cache");
  VariantData data{2, 1, 3, 9};
  cache.fillForTiming(data, 0);
  data.extras[0].set(1, int32_t(4));
  EXPECT_EQ(cache.keysOf(data, 0), 9);
  EXPECT_EQ(cache.keysOf(data, 1), 4);
  // The last row lies opposite to the last key that counts.
  EXPECT_TRUE(cache.visible(data, {1, 0, 2, 3}));
  EXPECT_FALSE(cache.visible(data, {1, 0, 2, 4}));
  EXPECT_TRUE(cache.visible(data, {1, 0, 0, 1}));
  EXPECT_FALSE(cache.visible(data, {1, 0, 0, 2}));
}

TEST(Variants, PackedSequencesSeeThemselves) {
  const Variant &packed = *findVariant("packed");
  VariantData data{1, 1, 6, 7};
  // Queries 0 and 1 with keys 0 to 2; two without keys; two with four keys.
  data.lengths = {{2, 3}, {0, 0}, {2, 0}, {2, 4}};
  packed.fillForCheck(data, 0);
  std::string seen;
  for (int64_t i = 0; i < 6; ++i, seen += "|")
    for (int64_t j = 0; j < 7; ++j)
      seen += packed.visible(data, {0, 0, i, j}) ? 'x' : '.';
  EXPECT_EQ(seen, "xx.....|xxx....|.......|.......|...xxx.|...xxxx|");
}

TEST(Variants, DrawnSequencesHaveAllRows) {
  VariantData data{1, 1, 113, 271};
  findVariant("packed")->fillForCheck(data, 5);
  int64_t rows = 0, keys = 0;
  for (const auto &[q, kv] : data.lengths) {
    EXPECT_GE(q, 0);
    EXPECT_GE(kv, 0);
    rows += q, keys += kv;
  }
  EXPECT_EQ(rows, 113);
  EXPECT_EQ(keys, 271);
}

TEST(Variants, TheWindowHas1024Keys) {
  EXPECT_TRUE(sees("window1024", 2000, 2000, 4096, 4096));
  EXPECT_TRUE(sees("window1024", 2000, 977, 4096, 4096));
  EXPECT_FALSE(sees("window1024", 2000, 976, 4096, 4096));
  EXPECT_FALSE(sees("window1024", 2000, 2001, 4096, 4096));
  EXPECT_TRUE(sees("window1024", 0, 4095, 1, 4096));
}

TEST(Variants, SharesCountWhatIsVisible) {
  // By counting; masks along the diagonal count one half of it.
  const int64_t seq = 2048;
  for (const char *name : {"window1024", "document", "prefix-lm"}) {
    const Variant &variant = *findVariant(name);
    VariantData data{3, 1, seq, seq};
    variant.fillForTiming(data, 7);
    int64_t visible = 0;
    for (int64_t b = 0; b < data.batch; ++b)
      for (int64_t i = 0; i < seq; ++i)
        for (int64_t j = 0; j < seq; ++j)
          visible += variant.visible(data, {b, 0, i, j});
    EXPECT_NEAR(variant.share(data), double(visible) / double(3 * seq * seq),
                1e-3)
        << name;
  }
  EXPECT_EQ(findVariant("causal")->share({1, 1, 512, 512}), 0.5);
  EXPECT_EQ(findVariant("full")->share({1, 1, 512, 512}), 1);
}

TEST(Variants, ScoresChange) {
  VariantData data{1, 12, 4, 6};
  // 8 heads with slopes 1/2 to 1/256, then every other one of 16 heads.
  const Variant &alibi = *findVariant("alibi");
  EXPECT_DOUBLE_EQ(alibi.score(data, {0, 0, 1, 3}, 2), 2);
  EXPECT_DOUBLE_EQ(alibi.score(data, {0, 0, 1, 1}, 2), 2 - 2 * 0.5);
  EXPECT_DOUBLE_EQ(alibi.score(data, {0, 7, 1, 1}, 2), 2 - 2 * 0.00390625);
  EXPECT_DOUBLE_EQ(alibi.score(data, {0, 9, 1, 2}, 2), 2 - std::exp2(-1.5));
  EXPECT_FLOAT_EQ(alibi.naiveScore(data, {0, 0, 1, 1}, 2), 1);
  EXPECT_NEAR(findVariant("softcap")->score(data, {0, 0, 0, 0}, 30), 22.84782,
              1e-5);
  const Variant &bias = *findVariant("bias");
  bias.fillForCheck(data, 1);
  float first = data.extras[0].at<float>(11, 3, 5);
  EXPECT_EQ(bias.naiveScore(data, {0, 11, 3, 5}, 2), 2 + first);
  EXPECT_NE(bias.naiveScore(data, {0, 10, 3, 5}, 2), 2 + first);
}

TEST(Sampling, SmallProblemsAreCheckedWhole) {
  EXPECT_EQ(chooseRows({2, 3, 3, 113, 271, 128, 128}, 0).size(), 2u * 3 * 113);
  EXPECT_TRUE(chooseRows({0, 3, 3, 113, 271, 128, 128}, 0).empty());
}

TEST(Sampling, LargeOnesAreSampledInOrder) {
  Sizes sizes{4, 16, 16, 4096, 4096, 128, 128};
  std::vector<RowId> rows = chooseRows(sizes, 7);
  EXPECT_LT(rows.size(), size_t(sizes.rows()) / 10);
  EXPECT_GE(rows.size(), 256u);
  auto has = [&](int64_t b, int64_t h, int64_t i) {
    for (const RowId &row : rows)
      if (row.b == b && row.h == h && row.i == i)
        return true;
    return false;
  };
  for (int64_t i : {0, 63, 64, 127, 128, 4031, 4032, 4095}) {
    EXPECT_TRUE(has(0, 0, i)) << i;
    EXPECT_TRUE(has(3, 15, i)) << i;
  }
  for (size_t r = 1; r < rows.size(); ++r)
    EXPECT_LT(std::tie(rows[r - 1].b, rows[r - 1].h, rows[r - 1].i),
              std::tie(rows[r].b, rows[r].h, rows[r].i));
}

TEST(Distribution, Parses) {
  EXPECT_EQ(Distribution::parse("normal")->kind, Distribution::Normal);
  EXPECT_EQ(Distribution::parse("large:12")->value, 12);
  EXPECT_EQ(Distribution::parse("constant:256")->kind, Distribution::Constant);
  for (const char *text :
       {"", "large", "large:", "large:x", "flat:3", "constant:nan", "normal:2"})
    EXPECT_FALSE(Distribution::parse(text)) << text;
}

TEST(Distribution, NormalDrawsAreNormal) {
  double sum = 0, squares = 0;
  const int count = 100000;
  for (int i = 0; i < count; ++i) {
    double value = normal(5, i);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(squares / count, 1, 0.03);
}
