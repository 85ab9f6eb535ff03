//===- CandidatesTest.cpp - The schedules worth trying --------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Schedule/Candidates.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace fa;

namespace {

const ScheduleProblem kProblems[] = {{64, 64},   {96, 96},   {128, 128},
                                     {192, 192}, {192, 128}, {256, 256}};

std::vector<Candidate> candidatesFor(const ScheduleProblem &problem,
                                     const char *name) {
  const Target &target = *Target::lookup(name);
  return enumerateCandidates(problem, target, target.has(Instruction::Wgmma),
                             Rescale::FirstMax);
}

bool hasBlocks(const std::vector<Candidate> &candidates, int64_t teams,
               int64_t bc, int64_t stages) {
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](const Candidate &candidate) {
                       const Schedule &schedule = candidate.schedule;
                       return schedule.teams == teams && schedule.bc == bc &&
                              schedule.stages == stages;
                     });
}

TEST(Candidates, BeginWithTheModelsChoice) {
  for (const ScheduleProblem &problem : kProblems)
    for (const char *name : {"sm_80", "sm_90a"}) {
      const Target &target = *Target::lookup(name);
      std::optional<Schedule> chosen =
          target.has(Instruction::Wgmma) ? chooseForWarpgroups(problem, target)
                                         : chooseForTarget(problem, target);
      Candidate first = candidatesFor(problem, name).front();
      chosen->rescale = Rescale::FirstMax;
      EXPECT_EQ(first, (Candidate{*chosen, first.pingPong, first.persistent}));
      EXPECT_EQ(first.persistent, target.has(Instruction::Wgmma));
    }
}

TEST(Candidates, AreAFewThatFitEachOnce) {
  for (const ScheduleProblem &problem : kProblems) {
    std::vector<Candidate> candidates = candidatesFor(problem, "sm_90a");
    EXPECT_GE(candidates.size(), 8u) << problem.headDim;
    EXPECT_LE(candidates.size(), 24u) << problem.headDim;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const Schedule &schedule = candidates[i].schedule;
      EXPECT_EQ(findViolation(problem, schedule, *Target::lookup("sm_90a"))
                    .value_or(""),
                "");
      EXPECT_TRUE(fitsWarpgroups(problem, schedule));
      EXPECT_EQ(std::count(candidates.begin(), candidates.end(), candidates[i]),
                1);
      EXPECT_FALSE(candidates[i].pingPong && schedule.teams == 1);
    }
  }
}

TEST(Candidates, TryBlocksBesideTheModels) {
  std::vector<Candidate> d64 = candidatesFor({64, 64}, "sm_90a");
  // What measurement found for short causal sequences, where the model has 3.
  EXPECT_EQ(d64.front().schedule.teams, 3);
  EXPECT_TRUE(hasBlocks(d64, 2, 128, 2));
  EXPECT_TRUE(hasBlocks(d64, 2, 176, 2));
  EXPECT_TRUE(hasBlocks(d64, 3, 128, 3));
  EXPECT_TRUE(hasBlocks(d64, 1, 176, 2));
  EXPECT_FALSE(hasBlocks(d64, 1, 64, 2)) << "one team: the most keys only";
  // FlashAttention 3's block of D 128.
  EXPECT_TRUE(hasBlocks(candidatesFor({128, 128}, "sm_90a"), 2, 176, 2));
  // Two stages of 96 keys at D 256 are more than there is.
  std::vector<Candidate> d256 = candidatesFor({256, 256}, "sm_90a");
  EXPECT_TRUE(hasBlocks(d256, 2, 80, 2));
  EXPECT_TRUE(hasBlocks(d256, 2, 96, 1));
  EXPECT_FALSE(hasBlocks(d256, 2, 96, 2));
}

TEST(Candidates, VaryOneThingOfTheModelsChoice) {
  std::vector<Candidate> candidates = candidatesFor({128, 128}, "sm_90a");
  Candidate base = candidates.front();
  auto has = [&](const Candidate &wanted) {
    return std::count(candidates.begin(), candidates.end(), wanted) == 1;
  };
  Candidate noTurns = base, oneItem = base, always = base, lazy = base;
  noTurns.pingPong = false;
  oneItem.persistent = false;
  always.schedule.rescale = Rescale::Always;
  lazy.schedule.rescale = Rescale::Lazy;
  EXPECT_TRUE(has(noTurns) && has(oneItem) && has(always) && has(lazy));
}

TEST(Candidates, EndItemsInTheNextOneWhereQHasRoom) {
  auto overlapped = [](const ScheduleProblem &problem, const char *name) {
    std::vector<Candidate> found = candidatesFor(problem, name);
    found.erase(std::remove_if(found.begin(), found.end(),
                               [](const Candidate &candidate) {
                                 return !candidate.overlapTiles;
                               }),
                found.end());
    return found;
  };
  std::vector<Candidate> d96 = overlapped({96, 96}, "sm_90a");
  ASSERT_EQ(d96.size(), 2u);
  EXPECT_TRUE(hasBlocks(d96, 3, 96, 2));
  EXPECT_TRUE(hasBlocks(d96, 2, 128, 2));
  EXPECT_TRUE(d96[0].persistent && d96[1].persistent);
  EXPECT_TRUE(overlapped({256, 256}, "sm_90a").empty());
  EXPECT_TRUE(overlapped({128, 128}, "sm_80").empty());
}

TEST(Candidates, CountWhatTheVariantTakes) {
  ScheduleProblem problem{128, 128};
  problem.groupRegisters = 60;
  for (const Candidate &candidate : candidatesFor(problem, "sm_90a"))
    EXPECT_TRUE(fitsWarpgroups(problem, candidate.schedule));
  EXPECT_LT(candidatesFor(problem, "sm_90a").size(),
            candidatesFor({128, 128}, "sm_90a").size());
}

TEST(Candidates, OfOtherTargetsAreWarps) {
  std::vector<Candidate> candidates = candidatesFor({128, 128}, "sm_80");
  EXPECT_GE(candidates.size(), 4u);
  for (const Candidate &candidate : candidates) {
    EXPECT_EQ(candidate.schedule.warps, 1);
    EXPECT_FALSE(candidate.pingPong || candidate.persistent);
  }
}

TEST(Candidates, AreNoneWhereNothingFits) {
  EXPECT_TRUE(candidatesFor({2048, 2048}, "sm_90a").empty());
  EXPECT_TRUE(candidatesFor({2048, 2048}, "sm_80").empty());
}

} // namespace
