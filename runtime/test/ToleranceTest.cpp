//===- ToleranceTest.cpp - What a comparison accepts ----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tolerance.h"

#include "Float16.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace fa::bench;

namespace {

/// A reference of two rows of 2 elements, and outputs that agree with it.
struct Fixture {
  explicit Fixture(fa_dtype dtype = FA_BF16)
      : o(dtype, 1, 1, 2, 2, Layout::Bshd, 1),
        lse(FA_F32, 1, 1, 2, 1, Layout::Bhsd, 1) {
    reference.rows = {{0, 0, 0}, {0, 0, 1}};
    reference.dimV = 2;
    reference.o = {1.0, 0.5, 0.0, 0.0};
    reference.naive = {1.0f, 0.5f, 0.0f, 0.0f};
    reference.lse = {3.0, -INFINITY};
    setO({1.0f, 0.5f, 0.0f, 0.0f});
    setLse({3.0f, -INFINITY});
  }

  void setO(const std::vector<float> &values) {
    for (int64_t row : {0, 1})
      narrow(o.dtype(), &values[2 * row], o.row(0, 0, row), 2);
  }
  void setLse(const std::vector<float> &values) {
    for (int64_t row : {0, 1})
      narrow(FA_F32, &values[row], lse.row(0, 0, row), 1);
  }
  Comparison run() const { return compare(o, lse, reference); }

  HostTensor o, lse;
  Reference reference;
};

} // namespace

TEST(Tolerance, AcceptsTheReference) {
  Comparison result = Fixture().run();
  EXPECT_TRUE(result.passed()) << result.fault;
  EXPECT_EQ(result.oError, 0);
}

TEST(Tolerance, LimitIsTwiceNaivePlusTwiceRounding) {
  Fixture fixture;
  // In bf16: 0.5 + 0.3 = 0.80078125, - 0.3 = 0.5; 1 + 0.3 = 1.296875,
  // - 0.3 = 0.99609375: off by 2^-8. And 0 + 0.3 = 0.30078125, which less 0.3
  // is 0.00078125, in bf16 0.00078201...: smaller.
  EXPECT_DOUBLE_EQ(fixture.run().oLimit, 2 * 0x1p-8);
  fixture.reference.naive[1] = 0.75f;
  EXPECT_DOUBLE_EQ(fixture.run().oLimit, 2 * 0.25 + 2 * 0x1p-8);
}

TEST(Tolerance, RefusesErrorsOverTheLimit) {
  Fixture fixture;
  fixture.setO({1.0f, 0.5078125f, 0.0f, 0.0f});
  EXPECT_TRUE(fixture.run().passed());
  fixture.setO({1.0f, 0.51171875f, 0.0f, 0.0f});
  Comparison result = fixture.run();
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.fault, "");
  EXPECT_EQ(result.worst.i, 0);
}

TEST(Tolerance, F32IsRelativeToTheLargest) {
  Fixture fixture(FA_F32);
  EXPECT_DOUBLE_EQ(fixture.run().oLimit, 1e-5);
  fixture.setO({1.0f, 0.50002f, 0.0f, 0.0f});
  EXPECT_FALSE(fixture.run().passed());
}

TEST(Tolerance, LseIsRelativeAboveOne) {
  Fixture fixture;
  fixture.setLse({3.00002f, -INFINITY});
  EXPECT_TRUE(fixture.run().passed());
  fixture.setLse({3.00005f, -INFINITY});
  EXPECT_FALSE(fixture.run().passed());
}

TEST(Tolerance, InfiniteLseExactlyWithoutKeys) {
  Fixture fixture;
  fixture.setLse({3.0f, -1e30f});
  EXPECT_EQ(fixture.run().fault.rfind("lse at batch 0, head 0, row 1 is ", 0),
            0u);
  fixture.setLse({-INFINITY, -INFINITY});
  EXPECT_EQ(fixture.run().fault.rfind("lse at batch 0, head 0, row 0 is ", 0),
            0u);
  fixture.setLse({3.0f, INFINITY});
  EXPECT_EQ(fixture.run().fault, "lse at batch 0, head 0, row 1 is infinite");
}

TEST(Tolerance, RowsWithoutKeysAreExactlyZero) {
  Fixture fixture;
  fixture.setO({1.0f, 0.5f, 1e-6f, 0.0f});
  EXPECT_EQ(fixture.run().fault,
            "o at batch 0, head 0, row 1 sees no key and is not 0");
}

TEST(Tolerance, FindsUnwrittenNanAndInfiniteElements) {
  Fixture fixture;
  std::memset(fixture.o.row(0, 0, 1) + 2, 0xff, 2);
  EXPECT_EQ(fixture.run().fault,
            "o at batch 0, head 0, row 1, column 1 is unwritten");
  fixture.setO({1.0f, NAN, 0.0f, 0.0f});
  EXPECT_EQ(fixture.run().fault,
            "o at batch 0, head 0, row 0, column 1 is NaN");
  fixture.setO({-INFINITY, 0.5f, 0.0f, 0.0f});
  EXPECT_EQ(fixture.run().fault,
            "o at batch 0, head 0, row 0, column 0 is infinite");
}

TEST(Tolerance, LooksAtRowsOutsideTheSample) {
  Fixture fixture;
  fixture.reference.rows.pop_back();
  fixture.reference.lse.pop_back();
  fixture.setO({1.0f, 0.5f, NAN, 0.0f});
  EXPECT_EQ(fixture.run().fault,
            "o at batch 0, head 0, row 1, column 0 is NaN");
}

TEST(Tolerance, FindsTouchedGuards) {
  Fixture fixture;
  fixture.lse.row(0, 0, 2)[0] = 0;
  EXPECT_EQ(fixture.run().fault,
            "lse was written at batch 0, head 0, row 2 of 2");
}
