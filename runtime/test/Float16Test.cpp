//===- Float16Test.cpp - bf16 and f16 conversions -------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float16.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace fa::bench;

TEST(Float16, EveryBf16SurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = fromBf16(uint16_t(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(fromBf16(toBf16(value)))) << bits;
    else
      EXPECT_EQ(toBf16(value), bits);
  }
}

TEST(Float16, EveryF16SurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = fromF16(uint16_t(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(fromF16(toF16(value)))) << bits;
    else
      EXPECT_EQ(toF16(value), bits);
  }
}

#if defined(__FLT16_MAX__)
TEST(Float16, AgreesWithTheCompilersF16) {
  // Every 251st float: all exponents and both signs.
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 251) {
    uint32_t bits32 = uint32_t(bits);
    float value;
    std::memcpy(&value, &bits32, sizeof(value));
    if (std::isnan(value))
      continue;
    _Float16 half = static_cast<_Float16>(value);
    uint16_t wanted;
    std::memcpy(&wanted, &half, sizeof(wanted));
    ASSERT_EQ(toF16(value), wanted) << value;
  }
}
#endif

/// Between each two neighbours: the middle goes to the even one, a little off
/// it to the nearer one.
template <typename To, typename From>
static void checkMidpoints(To to, From from, uint32_t largest) {
  for (uint32_t bits = 0; bits < largest; ++bits) {
    float low = from(uint16_t(bits)), high = from(uint16_t(bits + 1));
    float middle = low + (high - low) / 2;
    ASSERT_EQ(to(middle), bits % 2 ? bits + 1 : bits) << middle;
    ASSERT_EQ(to(std::nextafter(middle, low)), bits) << middle;
    ASSERT_EQ(to(std::nextafter(middle, high)), bits + 1) << middle;
    ASSERT_EQ(to(-middle), 0x8000 | (bits % 2 ? bits + 1 : bits)) << middle;
  }
}

TEST(Float16, RoundsToNearestEven) {
  checkMidpoints(toF16, fromF16, 0x7bff);
  checkMidpoints(toBf16, fromBf16, 0x7f7f);
}

TEST(Float16, HandlesTheEndsOfTheRange) {
  EXPECT_EQ(toF16(65504), 0x7bff);
  EXPECT_EQ(toF16(65519.99f), 0x7bff);
  EXPECT_EQ(toF16(65520), 0x7c00);
  EXPECT_EQ(toF16(-INFINITY), 0xfc00);
  EXPECT_EQ(toF16(1e-9f), 0);
  EXPECT_EQ(toF16(-0.0f), 0x8000);
  EXPECT_EQ(toBf16(3.4e38f), 0x7f80);
  EXPECT_EQ(toBf16(INFINITY), 0x7f80);
  EXPECT_TRUE(std::isnan(fromF16(toF16(NAN))));
  uint32_t lowNan = 0x7f800001; // its payload is below bf16's mantissa
  float value;
  std::memcpy(&value, &lowNan, sizeof(value));
  EXPECT_TRUE(std::isnan(fromBf16(toBf16(value))));
  EXPECT_TRUE(std::isnan(fromF16(toF16(value))));
}
