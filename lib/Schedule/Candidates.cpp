//===- Candidates.cpp - The schedules worth trying ------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Schedule/Candidates.h"

#include <algorithm>
#include <tuple>

using namespace fa;

/// Rows of a team of four warps, and the steps in which its keys go.
static constexpr int64_t kTeamRows = 64, kKeyUnit = 16;
static constexpr int64_t kLeastKeys = 64, kMostKeys = 176, kKeyStep = 32;
static constexpr int64_t kUsualStages = 2;

static auto fieldsOf(const Candidate &candidate) {
  const Schedule &schedule = candidate.schedule;
  return std::tuple(schedule.target, schedule.br, schedule.bc, schedule.teams,
                    schedule.warps, schedule.stages, schedule.partition,
                    schedule.rescale, candidate.pingPong, candidate.persistent,
                    candidate.overlapTiles);
}

bool fa::operator==(const Candidate &a, const Candidate &b) {
  return fieldsOf(a) == fieldsOf(b);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The numbers of keys that `schedule`, whose other parts are set, has room
/// for, from the most to the fewest.
static std::vector<int64_t> findKeys(const ScheduleProblem &problem,
                                     Schedule schedule, const Target &target) {
  std::vector<int64_t> keys;
  for (schedule.bc = kMostKeys; schedule.bc > 0; schedule.bc -= kKeyUnit)
    if (!findViolation(problem, schedule, target) &&
        fitsWarpgroups(problem, schedule))
      keys.push_back(schedule.bc);
  return keys;
}

/// Adds the schedules of so many teams.
static void addTeams(const ScheduleProblem &problem, const Target &target,
                     Schedule schedule, std::vector<Schedule> &schedules) {
  schedule.br = schedule.teams * kTeamRows;
  auto add = [&](int64_t stages, int64_t keys) {
    schedule.stages = stages;
    schedule.bc = keys;
    schedules.push_back(schedule);
  };
  auto keysWith = [&](int64_t stages) {
    schedule.stages = stages;
    return findKeys(problem, schedule, target);
  };
  std::vector<int64_t> usual = keysWith(kUsualStages);
  for (int64_t keys : usual)
    if (keys == usual.front() ||
        (schedule.teams > 1 && keys >= kLeastKeys && keys % kKeyStep == 0))
      add(kUsualStages, keys);
  if (schedule.teams == 1)
    return;
  for (int64_t stages : {1, 3, 4}) {
    std::vector<int64_t> keys = keysWith(stages);
    bool isWorthIt = !keys.empty() && (stages > kUsualStages || usual.empty() ||
                                       keys[0] > usual[0]);
    if (isWorthIt)
      add(stages, keys[0]);
  }
}

static std::vector<Schedule> enumerateWarpgroups(const ScheduleProblem &problem,
                                                 const Target &target) {
  std::vector<Schedule> schedules;
  Schedule schedule;
  schedule.target = target.name;
  schedule.warps = 4;
  for (schedule.teams = 3; schedule.teams > 0; --schedule.teams)
    addTeams(problem, target, schedule, schedules);
  auto hasFewKeys = [](const Schedule &schedule) {
    return schedule.bc < kLeastKeys;
  };
  if (!std::all_of(schedules.begin(), schedules.end(), hasFewKeys))
    schedules.erase(
        std::remove_if(schedules.begin(), schedules.end(), hasFewKeys),
        schedules.end());
  return schedules;
}

static std::vector<Schedule> enumerateWarps(const ScheduleProblem &problem,
                                            const Target &target) {
  std::vector<Schedule> schedules;
  Schedule schedule;
  schedule.target = target.name;
  for (int64_t br : {128, 64})
    for (int64_t bc : {128, 96, 64, 32})
      for (int64_t stages : {1, 2}) {
        schedule.br = br;
        schedule.bc = bc;
        schedule.stages = stages;
        if (!findViolation(problem, schedule, target) &&
            fitsRegisters(problem, schedule, target))
          schedules.push_back(schedule);
      }
  return schedules;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Adds the candidates whose items end in the next one, of those that are
/// there.
static void addOverlapped(const ScheduleProblem &problem,
                          std::vector<Candidate> &candidates) {
  constexpr int64_t mostKeys = 128, wideHead = 128;
  if (std::max(problem.headDim, problem.headDimV) > wideHead)
    return;
  for (int64_t teams : {3, 2}) {
    const Candidate *most = nullptr;
    for (const Candidate &candidate : candidates) {
      const Schedule &schedule = candidate.schedule;
      if (candidate.persistent && schedule.teams == teams &&
          schedule.stages == kUsualStages && schedule.bc <= mostKeys &&
          (!most || schedule.bc > most->schedule.bc))
        most = &candidate;
    }
    if (!most)
      continue;
    Candidate overlapped = *most;
    overlapped.overlapTiles = true;
    candidates.push_back(overlapped);
  }
}

/// Adds what differs from `base` in one thing that is not the blocks.
static void addVariations(const Candidate &base,
                          std::vector<Candidate> &candidates) {
  auto add = [&](auto change) {
    Candidate candidate = base;
    change(candidate);
    if (!(candidate == base))
      candidates.push_back(candidate);
  };
  add([](Candidate &candidate) { candidate.pingPong = false; });
  add([](Candidate &candidate) { candidate.persistent = false; });
  for (Rescale rescale : {Rescale::Always, Rescale::Lazy})
    add([=](Candidate &candidate) { candidate.schedule.rescale = rescale; });
}

std::vector<Candidate> fa::enumerateCandidates(const ScheduleProblem &problem,
                                               const Target &target,
                                               bool warpgroups,
                                               Rescale rescale) {
  std::optional<Schedule> chosen = warpgroups
                                       ? chooseForWarpgroups(problem, target)
                                       : chooseForTarget(problem, target);
  if (!chosen)
    return {};
  auto toCandidate = [&](Schedule schedule) {
    schedule.rescale = rescale;
    return Candidate{schedule, warpgroups && schedule.teams > 1, warpgroups};
  };
  // 1. The model's choice; 2. other blocks; 3. other orders of their work.
  std::vector<Candidate> candidates = {toCandidate(*chosen)};
  for (const Schedule &schedule : warpgroups
                                      ? enumerateWarpgroups(problem, target)
                                      : enumerateWarps(problem, target)) {
    Candidate candidate = toCandidate(schedule);
    if (!(candidate == candidates.front()))
      candidates.push_back(candidate);
  }
  addOverlapped(problem, candidates);
  addVariations(Candidate(candidates.front()), candidates);
  return candidates;
}
