//===- ArchitectureTest.cpp - Which kernels run where ---------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Architecture.h"

#include <gtest/gtest.h>

using namespace fa::rt;

static Architecture arch(const char *text) {
  return *Architecture::parse(text);
}

TEST(Architecture, ParsesAndPrints) {
  for (const char *text : {"sm_80", "sm_89", "sm_90a", "sm_100", "sm_121a"})
    EXPECT_EQ(arch(text).str(), text);
  EXPECT_EQ(arch("sm_103").major, 10);
  EXPECT_EQ(arch("sm_103").minor, 3);
  for (const char *text : {"", "sm_", "sm_9", "sm_90f", "sm90", "sm_1000"})
    EXPECT_FALSE(Architecture::parse(text)) << text;
}

TEST(Architecture, CubinsStayInsideTheirMajor) {
  EXPECT_TRUE(arch("sm_80").cubinRunsOn({8, 0}));
  EXPECT_TRUE(arch("sm_80").cubinRunsOn({8, 9}));
  EXPECT_FALSE(arch("sm_86").cubinRunsOn({8, 0}));
  EXPECT_FALSE(arch("sm_80").cubinRunsOn({9, 0}));
  EXPECT_FALSE(arch("sm_90").cubinRunsOn({8, 9}));
}

TEST(Architecture, PtxRunsOnEverythingNewer) {
  EXPECT_TRUE(arch("sm_80").ptxRunsOn({8, 0}));
  EXPECT_TRUE(arch("sm_80").ptxRunsOn({9, 0}));
  EXPECT_TRUE(arch("sm_89").ptxRunsOn({12, 0}));
  EXPECT_FALSE(arch("sm_80").ptxRunsOn({7, 5}));
}

TEST(Architecture, ExactOnesRunOnOneCapability) {
  for (auto runs : {&Architecture::cubinRunsOn, &Architecture::ptxRunsOn}) {
    EXPECT_TRUE((arch("sm_90a").*runs)({9, 0}));
    EXPECT_FALSE((arch("sm_90a").*runs)({9, 1}));
    EXPECT_FALSE((arch("sm_90a").*runs)({10, 0}));
  }
}

TEST(Architecture, OrdersByNumberThenExactness) {
  EXPECT_TRUE(arch("sm_80") < arch("sm_90"));
  EXPECT_TRUE(arch("sm_90") < arch("sm_90a"));
  EXPECT_TRUE(arch("sm_90a") < arch("sm_100"));
  EXPECT_FALSE(arch("sm_90a") < arch("sm_90a"));
}
