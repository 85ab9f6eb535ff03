//===- ScheduleTest.cpp - The resource model and the policies -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Schedule/Schedule.h"

#include <gtest/gtest.h>

using namespace fa;

namespace {

const ScheduleProblem kD128{128, 128, 2};

const Target &target(const char *name) { return *Target::lookup(name); }

TEST(Target, KnowsTheArchitecturesItNames) {
  EXPECT_EQ(target("sm_80").sharedBytesPerBlock, 163 * 1024);
  EXPECT_EQ(target("sm_86").sharedBytesPerBlock, 99 * 1024);
  EXPECT_EQ(target("sm_90a").sharedBytesPerBlock, 227 * 1024);
  EXPECT_EQ(Target::lookup("sm_1"), nullptr);
  EXPECT_EQ(Target::lookup(""), nullptr);
}

TEST(PaperPolicy, TakesTheFormulaOfFlashAttention) {
  // M = 100 KiB of bf16 = 51200 elements; ceil(51200 / (4 * 128)) = 100.
  EXPECT_EQ(paperBlock(100 * 1024, kD128), 100);
  // d = 64: twice as many; d = 256: half.
  EXPECT_EQ(paperBlock(100 * 1024, {64, 64, 2}), 200);
  EXPECT_EQ(paperBlock(100 * 1024, {256, 256, 2}), 50);
  // It rounds up, counts elements, and takes the larger head dimension.
  EXPECT_EQ(paperBlock(100 * 1024 + 2, kD128), 101);
  EXPECT_EQ(paperBlock(100 * 1024, {128, 128, 4}), 50);
  EXPECT_EQ(paperBlock(100 * 1024, {128, 256, 2}), 50);
}

TEST(PaperPolicy, RoundsToWhatTheInstructionsNeed) {
  Schedule schedule = chooseByPaper(kD128, target("sm_80"), 100 * 1024);
  EXPECT_EQ(schedule.bc, 96);
  EXPECT_EQ(schedule.br, 96) << "min(100, d) rounded down";
  // The inner block is at most d.
  EXPECT_EQ(chooseByPaper({64, 64, 2}, target("sm_80"), 100 * 1024).br, 64);
  // Never below one slab, however little memory there is.
  EXPECT_EQ(chooseByPaper(kD128, target("sm_80"), 1024).bc, 16);
}

TEST(ResourceModel, CountsSharedMemory) {
  Schedule schedule;
  schedule.br = 128;
  schedule.bc = 64;
  schedule.stages = 2;
  // Q 32 KiB, two stages of 16 KiB for each of K and V.
  EXPECT_EQ(computeResources(kD128, schedule).sharedBytes, 96 * 1024);
  schedule.stages = 1;
  EXPECT_EQ(computeResources(kD128, schedule).sharedBytes, 64 * 1024);
  // D and Dv apart: K 4 KiB wide, V 8.
  EXPECT_EQ(computeResources({64, 128, 2}, schedule).sharedBytes,
            (16 + 8 + 16) * 1024);
}

TEST(ResourceModel, PadsRowsToWholeSegments) {
  Schedule schedule;
  schedule.br = 128;
  schedule.bc = 64;
  schedule.stages = 1;
  // 80 and 96 columns take the room of 128.
  EXPECT_EQ(computeResources({80, 96, 2}, schedule).sharedBytes, 64 * 1024);
  // Copies of the last segment take registers.
  EXPECT_EQ(chooseByModel({112, 112, 2}, target("sm_90a"))->bc, 32);
}

TEST(ResourceModel, DividesFragmentsAmongTeams) {
  Schedule schedule;
  schedule.br = 128;
  schedule.bc = 64;
  schedule.teams = 4;
  int64_t four = computeResources(kD128, schedule).registersPerThread;
  schedule.teams = 8;
  int64_t eight = computeResources(kD128, schedule).registersPerThread;
  // 32 rows a warp: 128 + 64 registers; 16 rows: half.
  EXPECT_EQ(four, 128 + 64 + 63) << "ptxas 13.0 used 255, and spilled none";
  EXPECT_EQ(four - eight, 64 + 32);
}

TEST(ResourceModel, SaysWhatDoesNotFit) {
  auto violation = [](Schedule schedule, const char *name,
                      ScheduleProblem problem = kD128) {
    return findViolation(problem, schedule, target(name)).value_or("");
  };
  Schedule good;
  good.teams = 8;
  EXPECT_EQ(violation(good, "sm_80"), "");
  Schedule rows = good;
  rows.br = 100;
  EXPECT_EQ(violation(rows, "sm_80"),
            "br must be a multiple of 128 for 8 teams of 1 warps, found 100");
  Schedule columns = good;
  columns.bc = 24;
  EXPECT_EQ(violation(columns, "sm_80"),
            "bc must be a multiple of 16, found 24");
  Schedule stages = good;
  stages.stages = 4;
  EXPECT_EQ(violation(stages, "sm_80"), "");
  EXPECT_EQ(
      violation(stages, "sm_86"),
      "needs 163840 bytes of shared memory, sm_86 has 101376 for a block");
  Schedule registers = good;
  registers.teams = 4;
  registers.bc = 128;
  EXPECT_EQ(violation(registers, "sm_80"), "") << "ptxas decides";
  EXPECT_FALSE(fitsRegisters(kD128, registers, target("sm_80")));
  EXPECT_TRUE(fitsRegisters(kD128, good, target("sm_80")));
  EXPECT_NE(violation(good, "sm_80", {20, 20, 2}), "");
}

TEST(ResourceModel, CountsResidentBlocks) {
  Schedule schedule;
  schedule.br = 64;
  schedule.stages = 2;
  // 80 KiB of shared memory: two blocks on an A100 or an H200.
  EXPECT_EQ(blocksPerSM(kD128, schedule, target("sm_80")), 2);
  EXPECT_EQ(blocksPerSM(kD128, schedule, target("sm_90a")), 2);
  EXPECT_EQ(blocksPerSM(kD128, schedule, target("sm_86")), 1);
  // 48 KiB: three, of which 128 threads with 168 registers each.
  schedule.stages = 1;
  EXPECT_EQ(blocksPerSM(kD128, schedule, target("sm_80")), 3);
  EXPECT_EQ(blocksPerSM(kD128, schedule, target("sm_90a")), 3);
}

TEST(ModelPolicy, TakesTheLargestBlocksOfWhichTwoAreResident) {
  Schedule d128 = *chooseByModel(kD128, target("sm_90a"));
  EXPECT_EQ(d128.br, 128);
  EXPECT_EQ(d128.bc, 64);
  EXPECT_EQ(d128.stages, 1);
  Schedule d64 = *chooseByModel({64, 64, 2}, target("sm_90a"));
  EXPECT_EQ(d64.br, 128);
  EXPECT_EQ(d64.bc, 64);
  EXPECT_EQ(d64.stages, 1);
  // Before sm_90 these would spill.
  EXPECT_EQ(chooseByModel(kD128, target("sm_80"))->bc, 32);
}

TEST(ModelPolicy, TakesFewerKeysWhereTheHeadDimensionIsLarge) {
  Schedule d256 = *chooseByModel({256, 256, 2}, target("sm_90a"));
  EXPECT_EQ(d256.br, 64);
  EXPECT_EQ(d256.bc, 64);
  EXPECT_EQ(chooseByModel({256, 256, 2}, target("sm_80"))->bc, 32);
}

TEST(ModelPolicy, ChoosesWhatFits) {
  for (const char *name : {"sm_80", "sm_86", "sm_89", "sm_90a"})
    for (int64_t headDim : {64, 80, 96, 128, 192, 256}) {
      ScheduleProblem problem{headDim, headDim, 2};
      std::optional<Schedule> schedule = chooseByModel(problem, target(name));
      ASSERT_TRUE(schedule) << name << " D " << headDim;
      EXPECT_EQ(findViolation(problem, *schedule, target(name)), std::nullopt);
      EXPECT_TRUE(fitsRegisters(problem, *schedule, target(name)));
      EXPECT_EQ(schedule->target, name);
    }
  // Nothing holds a head dimension of 4096.
  EXPECT_EQ(chooseByModel({4096, 4096, 2}, target("sm_80")), std::nullopt);
}

} // namespace
