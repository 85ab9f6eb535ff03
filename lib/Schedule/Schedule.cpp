//===- Schedule.cpp - Policies that choose a schedule -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Schedule/Schedule.h"

#include <algorithm>
#include <vector>

using namespace fa;

/// The names of the policies, in the order of the enum.
static constexpr const char *kRescaleNames[] = {"always", "lazy", "first-max"};

std::optional<Rescale> fa::parseRescale(const std::string &name) {
  for (Rescale rescale : {Rescale::Always, Rescale::Lazy, Rescale::FirstMax})
    if (name == nameRescale(rescale))
      return rescale;
  return std::nullopt;
}

const char *fa::nameRescale(Rescale rescale) {
  return kRescaleNames[static_cast<int>(rescale)];
}

/// `schedule` with the number of stages that leaves the most blocks resident,
/// the smallest among equals, or nothing where none fits.
static std::optional<Schedule> chooseStages(const ScheduleProblem &problem,
                                            Schedule schedule,
                                            const Target &target) {
  std::optional<Schedule> best;
  int64_t mostBlocks = 0;
  for (int64_t stages : {1, 2}) {
    schedule.stages = stages;
    if (findViolation(problem, schedule, target) ||
        !fitsRegisters(problem, schedule, target))
      continue;
    int64_t blocks = blocksPerSM(problem, schedule, target);
    if (blocks <= mostBlocks)
      continue;
    mostBlocks = blocks;
    best = schedule;
  }
  return best;
}

std::optional<Schedule> fa::chooseForTarget(const ScheduleProblem &problem,
                                            const Target &target) {
  // 32 rows a warp before 16, and the more keys the better; blocks of 16 keys
  // are for what nothing else fits. One block alone on a multiprocessor has
  // nothing to do while it loads.
  std::optional<Schedule> alone;
  Schedule schedule;
  schedule.target = target.name;
  for (const std::vector<int64_t> &blocks :
       {std::vector<int64_t>{64, 32}, std::vector<int64_t>{16}}) {
    for (int64_t br : {128, 64})
      for (int64_t bc : blocks) {
        schedule.br = br;
        schedule.bc = bc;
        std::optional<Schedule> best = chooseStages(problem, schedule, target);
        if (best && blocksPerSM(problem, *best, target) > 1)
          return best;
        if (best && !alone)
          alone = best;
      }
    if (alone)
      return alone;
  }
  // By the estimate the registers are enough for nothing. The last of these has
  // the fewest rows and keys.
  schedule.stages = 1;
  if (findViolation(problem, schedule, target))
    return std::nullopt;
  return schedule;
}

std::optional<Schedule> fa::chooseForWarpgroups(const ScheduleProblem &problem,
                                                const Target &target) {
  constexpr int64_t teamRows = 64, wideHead = 128;
  const bool isWide = std::max(problem.headDim, problem.headDimV) > wideHead;
  const int64_t mostKeys = isWide ? 64 : 128;
  struct Choice {
    int64_t teams, fewestKeys, keyUnit;
  };
  if (!target.has(Instruction::Wgmma))
    return std::nullopt;
  Schedule schedule;
  schedule.target = target.name;
  schedule.warps = 4;
  const int64_t fewestOfThree = problem.scoreFunctions > 0 ? 64 : 96;
  std::optional<Schedule> smallest;
  // One team alone leaves the tensor cores idle during its softmax.
  for (const Choice &choice :
       {Choice{3, fewestOfThree, 32}, Choice{2, 16, 16}, Choice{1, 16, 16}}) {
    if (choice.teams > 2 && problem.hasShortItems)
      continue;
    schedule.teams = choice.teams;
    schedule.br = choice.teams * teamRows;
    for (schedule.bc = mostKeys; schedule.bc >= choice.fewestKeys;
         schedule.bc -= choice.keyUnit)
      for (schedule.stages = isWide ? 3 : 2; schedule.stages > 1;
           --schedule.stages) {
        if (findViolation(problem, schedule, target))
          continue;
        if (fitsWarpgroups(problem, schedule))
          return schedule;
        // One team has no more registers than each of two.
        if (!smallest || choice.teams > 1)
          smallest = schedule;
      }
  }
  return smallest;
}

std::optional<Schedule> fa::chooseSplitK(const ScheduleProblem &problem,
                                         const Target &target) {
  for (int64_t keys : {32, 16}) {
    Schedule schedule;
    schedule.target = target.name;
    schedule.br = 16;
    schedule.bc = keys * schedule.teams;
    schedule.stages = 1;
    schedule.partition = Partition::SplitK;
    if (!findViolation(problem, schedule, target))
      return schedule;
  }
  return std::nullopt;
}

int64_t fa::paperBlock(int64_t sharedBytes, const ScheduleProblem &problem) {
  int64_t elements = sharedBytes / problem.elementBytes;
  int64_t divisor = 4 * std::max(problem.headDim, problem.headDimV);
  return (elements + divisor - 1) / divisor;
}

Schedule fa::chooseByPaper(const ScheduleProblem &problem, const Target &target,
                           int64_t sharedBytes) {
  int64_t block = paperBlock(sharedBytes, problem);
  auto rounded = [](int64_t rows) {
    return std::max<int64_t>(rows / 16 * 16, 16);
  };
  Schedule schedule;
  schedule.target = target.name;
  schedule.bc = rounded(block);
  schedule.br = rounded(std::min(block, problem.headDim));
  schedule.teams = std::max<int64_t>(1, std::min<int64_t>(4, schedule.br / 16));
  schedule.stages = 1;
  return schedule;
}
