//===- Schedule.cpp - Policies that choose a schedule -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Schedule/Schedule.h"

#include <algorithm>

using namespace fa;

std::optional<Schedule> fa::chooseByModel(const ScheduleProblem &problem,
                                          const Target &target) {
  // Larger blocks reuse what is in shared memory more often, more rows a warp
  // what is in registers, and two stages hide the loads: the first that fits
  // wins.
  for (int64_t stages : {2, 1})
    for (int64_t br : {128, 64})
      for (int64_t bc : {64, 32, 16})
        for (int64_t teams : {4, 8}) {
          Schedule schedule;
          schedule.target = target.name;
          schedule.br = br;
          schedule.bc = bc;
          schedule.teams = teams;
          schedule.stages = stages;
          if (!findViolation(problem, schedule, target) &&
              fitsRegisters(problem, schedule, target))
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
