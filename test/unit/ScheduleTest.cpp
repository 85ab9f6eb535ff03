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

TEST(PaperPolicy, TakesTheTargetsMemory) {
  // sm_80: 163 KiB, ceil(83456 / 512) = 163 rows; sm_120a: 99 KiB, 99 rows.
  EXPECT_EQ(paperBlock(target("sm_80").sharedBytesPerBlock, kD128), 163);
  EXPECT_EQ(paperBlock(target("sm_120a").sharedBytesPerBlock, kD128), 99);
  for (const Target &gpu : Target::all()) {
    Schedule schedule = chooseByPaper(kD128, gpu, gpu.sharedBytesPerBlock);
    EXPECT_EQ(schedule.target, gpu.name);
    EXPECT_LE(schedule.br, 128) << "br = min(block, d)";
  }
}

TEST(PaperPolicy, BoundsTheInnerBlockByTheHeadDimension) {
  // d 256: the block, 50, is less than d; d 32: d is less than the block, 400.
  EXPECT_EQ(chooseByPaper({256, 256, 2}, target("sm_80"), 100 * 1024).br, 48);
  Schedule d32 = chooseByPaper({32, 32, 2}, target("sm_80"), 100 * 1024);
  EXPECT_EQ(d32.bc, 400);
  EXPECT_EQ(d32.br, 32);
  // f32 at d 128: half the elements.
  Schedule f32 = chooseByPaper({128, 128, 4}, target("sm_80"), 100 * 1024);
  EXPECT_EQ(f32.bc, 48);
  EXPECT_EQ(f32.br, 48);
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
  // D and Dv apart: Q and K have D columns, V has Dv.
  EXPECT_EQ(computeResources({64, 128, 2}, schedule).sharedBytes,
            (16 + 8 + 16) * 1024);
  EXPECT_EQ(computeResources({128, 64, 2}, schedule).sharedBytes,
            (32 + 16 + 8) * 1024);
  // f32 takes twice as much.
  EXPECT_EQ(computeResources({128, 128, 4}, schedule).sharedBytes, 128 * 1024);
  // Rows take whole segments of 128 bytes, tiles multiples of 1 KiB.
  schedule.br = schedule.bc = 16;
  EXPECT_EQ(computeResources({16, 16, 2}, schedule).sharedBytes, 6 * 1024);
}

TEST(ResourceModel, PadsRowsToWholeSegments) {
  Schedule schedule;
  schedule.br = 128;
  schedule.bc = 64;
  schedule.stages = 1;
  // 80 and 96 columns take the room of 128.
  EXPECT_EQ(computeResources({80, 96, 2}, schedule).sharedBytes, 64 * 1024);
  // Copies of the last segment take registers.
  EXPECT_EQ(chooseForTarget({112, 112, 2}, target("sm_90a"))->bc, 32);
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

TEST(ResourceModel, ComparesTargets) {
  // Two stages of 128 keys at D 128: 160 KiB fit four of the seven.
  Schedule schedule;
  schedule.br = 128;
  schedule.bc = 128;
  schedule.teams = 8;
  std::string fits;
  for (const Target &gpu : Target::all())
    if (!findViolation(kD128, schedule, gpu))
      fits += std::string(gpu.name) + " ";
  EXPECT_EQ(fits, "sm_80 sm_90 sm_90a sm_100a ");
  // The smaller shared memory of sm_86, sm_89 and sm_120a holds fewer blocks,
  // however many threads they have.
  schedule = Schedule();
  schedule.br = 64;
  schedule.stages = 2;
  for (const Target &gpu : Target::all())
    EXPECT_EQ(blocksPerSM(kD128, schedule, gpu),
              gpu.sharedBytesPerSM < 128 * 1024 ? 1 : 2)
        << gpu.name;
  // One warp and 3 KiB: as many blocks as the multiprocessor has places for, or
  // as its registers allow, 96 for a thread.
  schedule.br = schedule.bc = 8;
  schedule.teams = schedule.stages = 1;
  EXPECT_EQ(blocksPerSM({16, 16, 2}, schedule, target("sm_86")), 16);
  EXPECT_EQ(blocksPerSM({16, 16, 2}, schedule, target("sm_120a")), 21);
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

TEST(TargetPolicy, TakesTheLargestBlocksOfWhichTwoAreResident) {
  Schedule d128 = *chooseForTarget(kD128, target("sm_90a"));
  EXPECT_EQ(d128.br, 128);
  EXPECT_EQ(d128.bc, 64);
  EXPECT_EQ(d128.stages, 1);
  Schedule d64 = *chooseForTarget({64, 64, 2}, target("sm_90a"));
  EXPECT_EQ(d64.br, 128);
  EXPECT_EQ(d64.bc, 64);
  EXPECT_EQ(d64.stages, 1);
  // Before sm_90 these would spill.
  EXPECT_EQ(chooseForTarget(kD128, target("sm_80"))->bc, 32);
}

TEST(TargetPolicy, TakesFewerKeysWhereTheHeadDimensionIsLarge) {
  Schedule d256 = *chooseForTarget({256, 256, 2}, target("sm_90a"));
  EXPECT_EQ(d256.br, 64);
  EXPECT_EQ(d256.bc, 64);
  EXPECT_EQ(chooseForTarget({256, 256, 2}, target("sm_80"))->bc, 32);
}

TEST(TargetPolicy, ChoosesWhatFits) {
  for (const Target &gpu : Target::all())
    for (int64_t headDim : {64, 80, 96, 128, 192, 256})
      for (int64_t headDimV : {64, 80, 96, 128, 192, 256}) {
        ScheduleProblem problem{headDim, headDimV, 2};
        std::optional<Schedule> schedule = chooseForTarget(problem, gpu);
        ASSERT_TRUE(schedule) << gpu.name << " D " << headDim;
        EXPECT_EQ(findViolation(problem, *schedule, gpu), std::nullopt);
        EXPECT_TRUE(fitsRegisters(problem, *schedule, gpu));
        EXPECT_GE(blocksPerSM(problem, *schedule, gpu), 1);
        EXPECT_EQ(schedule->target, gpu.name);
      }
  // Nothing holds a head dimension of 4096.
  EXPECT_EQ(chooseForTarget({4096, 4096, 2}, target("sm_80")), std::nullopt);
}

TEST(WarpgroupPolicy, TakesTheKeysThatFit) {
  auto choose = [](const ScheduleProblem &problem) {
    return *chooseForWarpgroups(problem, target("sm_90a"));
  };
  Schedule d128 = choose(kD128);
  EXPECT_EQ(d128.teams, 2);
  EXPECT_EQ(d128.br, 128);
  EXPECT_EQ(d128.bc, 128);
  EXPECT_EQ(d128.warps, 4);
  EXPECT_EQ(d128.stages, 2);
  Schedule d64 = choose({64, 64, 2});
  EXPECT_EQ(d64.teams, 3);
  EXPECT_EQ(d64.br, 192);
  EXPECT_EQ(d64.bc, 128);
  Schedule d96 = choose({96, 96, 2});
  EXPECT_EQ(d96.teams, 3);
  EXPECT_EQ(d96.bc, 96);
  Schedule d256 = choose({256, 256, 2});
  EXPECT_EQ(d256.teams, 2);
  EXPECT_EQ(d256.bc, 64);
  EXPECT_EQ(d256.stages, 2) << "shared memory";
  Schedule d192 = choose({192, 192, 2});
  EXPECT_EQ(d192.bc, 64);
  EXPECT_EQ(d192.stages, 3);
  // A score function takes registers: of three teams fewer keys are left.
  ScheduleProblem variant{64, 64};
  variant.groupRegisters = 16;
  EXPECT_EQ(choose(variant).teams, 3);
  EXPECT_EQ(choose(variant).bc, 96);
  variant.groupRegisters = 48;
  EXPECT_EQ(choose(variant).teams, 2);
  // Items of few blocks have two teams, whose begin and end are shorter.
  variant.groupRegisters = 16;
  variant.hasShortItems = true;
  EXPECT_EQ(choose(variant).teams, 2);
  EXPECT_EQ(choose(variant).bc, 128);
}

TEST(WarpgroupPolicy, TakesTheFewestKeysWhereRegistersAreEnoughForNothing) {
  ScheduleProblem problem{128, 128};
  problem.groupRegisters = 1000;
  Schedule smallest = *chooseForWarpgroups(problem, target("sm_90a"));
  EXPECT_EQ(smallest.teams, 2);
  EXPECT_EQ(smallest.bc, 16);
  problem.variantRegisters = 1000;
  Schedule warps = *chooseForTarget(problem, target("sm_80"));
  EXPECT_EQ(warps.br, 64);
  EXPECT_EQ(warps.bc, 16);
  EXPECT_EQ(warps.stages, 1);
  // Shared memory is no estimate.
  EXPECT_FALSE(chooseForWarpgroups({2048, 2048}, target("sm_90a")));
  EXPECT_FALSE(chooseForTarget({2048, 2048}, target("sm_80")));
}

TEST(WarpgroupPolicy, MakesRoomForStagedMatrices) {
  ScheduleProblem bias{128, 128};
  bias.groupRegisters = 16;
  bias.matrixBytes = {4};
  auto choose = [](const ScheduleProblem &problem) {
    return *chooseForWarpgroups(problem, target("sm_90a"));
  };
  bias.stagesMatrices = true;
  Schedule staged = choose(bias);
  EXPECT_EQ(staged.teams, 2);
  EXPECT_EQ(staged.bc, 128);
  EXPECT_EQ(staged.stages, 2);
  // Q, two stages of K and V, and one of the bias.
  EXPECT_EQ(computeResources(bias, staged).sharedBytes,
            128 * 256 + 2 * 2 * 128 * 256 + 128 * 128 * 4);
  // Rows of 48 keys take two of the swizzle's segments.
  staged.bc = 48;
  EXPECT_EQ(computeResources(bias, staged).sharedBytes,
            128 * 256 + 2 * 2 * 48 * 256 + 128 * 256);
  staged.bc = 144;
  EXPECT_TRUE(findViolation(bias, staged, target("sm_90a")));
  // Wide heads, and a second matrix, leave fewer keys.
  bias.matrixBytes = {4, 4};
  bias.headDim = bias.headDimV = 256;
  Schedule wide = choose(bias);
  EXPECT_EQ(findViolation(bias, wide, target("sm_90a")), std::nullopt);
  EXPECT_LT(wide.bc, 64);
}

TEST(WarpgroupPolicy, IsForTargetsWithWgmma) {
  for (const Target &gpu : Target::all())
    EXPECT_EQ(chooseForWarpgroups(kD128, gpu).has_value(),
              gpu.has(Instruction::Wgmma))
        << gpu.name;
}

TEST(Registers, AreWhatTheLaunchGave) {
  EXPECT_EQ(getRegisterPool(3), 3 * 168);
  EXPECT_EQ(getRegisterPool(4), 4 * 128);
  EXPECT_EQ(getRegisterPool(1), 248) << "a thread has at most 255";
  EXPECT_EQ(divideRegisters(2).load, 24);
  EXPECT_EQ(divideRegisters(2).compute, 240);
  EXPECT_EQ(divideRegisters(3).load, 32);
  EXPECT_EQ(divideRegisters(3).compute, 160);
  EXPECT_EQ(divideRegisters(2, /*cutsTiles=*/true).load, 40);
  EXPECT_EQ(divideRegisters(2, /*cutsTiles=*/true).compute, 232);
  for (int64_t teams = 1; teams <= 7; ++teams) {
    RegisterBudgets budgets = divideRegisters(teams);
    EXPECT_GE(budgets.load, 24) << teams;
    EXPECT_LE(budgets.load + teams * budgets.compute,
              getRegisterPool(teams + 1));
    EXPECT_EQ(budgets.compute % 8, 0);
  }
}

} // namespace
