//===- ResourceModel.cpp - What a schedule takes of a multiprocessor ------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Schedule/Schedule.h"

#include <algorithm>

using namespace fa;

namespace {
/// Rows of one slab of the tensor cores' accumulator: mma.sync m16n8k16.
constexpr int64_t kSlabRows = 16;
/// Depth of one product instruction in 16-bit elements, and the columns of the
/// two that share a load of their operand.
constexpr int64_t kInstructionDepth = 16;
constexpr int64_t kWarpThreads = 32;
/// The threads that hold the same row.
constexpr int64_t kQuadThreads = 4;
/// Registers that a kernel needs beside accumulators and scores: addresses,
/// counters, row statistics and operand fragments. ptxas 13.0 gets by with
/// these without a spill (D 128, 32 rows, Bc 64: 255 in all), and takes more
/// where there are more.
constexpr int64_t kOtherRegisters = 63;
/// What ptxas 13.0 needs more before Hopper: D 128 with 32 rows and Bc 64
/// spills there, and so does D 256 with 16.
constexpr int64_t kOlderRegisters = 8;
constexpr int64_t kHeadDimWithoutMore = 128;
constexpr int64_t kHeadDimPerRegister = 4;
constexpr int kHopperMajor = 9;
/// For Blackwell it spills D 128 with 32 rows at any Bc.
constexpr int64_t kBlackwellRegisters = 33;
/// What copies of rows with a segment that is used in part need more: D 112
/// with 32 rows and Bc 64 spills.
constexpr int64_t kPartialSegmentRegisters = 20;
/// Bytes of a row's segment in shared memory, which are the swizzle's.
constexpr int64_t kSegmentBytes = 128;
/// What tiles are aligned to in shared memory: eight rows of a 128-byte
/// swizzle.
constexpr int64_t kAlignment = 1024;
/// Shared memory that the system takes of each block.
constexpr int64_t kSystemSharedBytes = 1024;
/// No block, team or ring is larger than this on any GPU; it keeps what follows
/// free of overflow.
constexpr int64_t kMaxScheduleValue = 1 << 16;
/// Threads of a block, on every GPU so far.
constexpr int64_t kMaxBlockThreads = 1024;
/// Registers are handed out to a thread in eights.
constexpr int64_t kRegisterUnit = 8;
} // namespace

static int64_t alignUp(int64_t value, int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Warps of a team that is a warpgroup.
static constexpr int64_t kGroupWarps = 4;
/// What a computing thread needs beside scores, probabilities and accumulator.
/// ptxas 13.0: three teams, of 160 registers, spill at D 128 with 96 keys, and
/// do not at D 64 with 128.
static constexpr int64_t kOtherComputing = 32;

/// What a thread of a computing warpgroup takes.
static int64_t countWarpgroupRegisters(const ScheduleProblem &problem,
                                       const Schedule &schedule) {
  int64_t rows = schedule.br / schedule.teams;
  int64_t threads = kWarpThreads * schedule.warps;
  int64_t accumulator = rows * problem.headDimV / threads;
  int64_t scores = rows * schedule.bc / threads;
  // The block before's probabilities, at half the width, are there as well.
  int64_t probabilities = scores / 2;
  return accumulator + scores + probabilities + kOtherComputing +
         problem.groupRegisters;
}

Resources fa::computeResources(const ScheduleProblem &problem,
                               const Schedule &schedule) {
  auto tileOf = [](int64_t rows, int64_t columns, int64_t elementBytes) {
    return alignUp(rows * alignUp(columns * elementBytes, kSegmentBytes),
                   kAlignment);
  };
  auto tile = [&](int64_t rows, int64_t columns) {
    return tileOf(rows, columns, problem.elementBytes);
  };
  Resources resources;
  resources.sharedBytes =
      tile(schedule.br, problem.headDim) +
      schedule.stages * (tile(schedule.bc, problem.headDim) +
                         tile(schedule.bc, problem.headDimV));
  if (problem.stagesMatrices)
    for (int64_t elementBytes : problem.matrixBytes)
      resources.sharedBytes += tileOf(schedule.br, schedule.bc, elementBytes);

  // A team's fragments, spread over its threads, a register an f32. Scores die
  // as their narrowed copies are made.
  int64_t rows = schedule.br;
  int64_t columns = schedule.bc;
  if (schedule.partition == Partition::SplitQ)
    rows /= schedule.teams;
  else
    columns /= schedule.teams;
  // Teams that divide the keys leave their parts of O and of two row vectors,
  // each of which four threads hold, in shared memory.
  if (schedule.partition == Partition::SplitK)
    for (int64_t width : {problem.headDimV, kQuadThreads, kQuadThreads})
      resources.sharedBytes += alignUp(
          schedule.teams * rows * width * int64_t(sizeof(float)), kAlignment);
  int64_t threads = kWarpThreads * schedule.warps;
  int64_t accumulator = rows * problem.headDimV / threads;
  int64_t scores = rows * columns / threads;
  bool hasPartialSegment =
      problem.headDim * problem.elementBytes % kSegmentBytes ||
      problem.headDimV * problem.elementBytes % kSegmentBytes;
  if (schedule.warps == kGroupWarps) {
    resources.registersPerThread = countWarpgroupRegisters(problem, schedule);
    return resources;
  }
  resources.registersPerThread =
      problem.heldStates * accumulator + scores + kOtherRegisters +
      problem.variantRegisters +
      (hasPartialSegment ? kPartialSegmentRegisters : 0);
  return resources;
}

/// Numbers in the messages of this file.
static std::string number(int64_t value) { return std::to_string(value); }

std::optional<std::string> fa::findRangeViolation(const Schedule &schedule) {
  for (auto [name, value] :
       {std::pair("br", schedule.br), std::pair("bc", schedule.bc),
        std::pair("teams", schedule.teams), std::pair("warps", schedule.warps),
        std::pair("stages", schedule.stages)})
    if (value < 1 || value > kMaxScheduleValue)
      return std::string(name) + " must be from 1 to " +
             number(kMaxScheduleValue) + ", found " + number(value);
  return std::nullopt;
}

std::optional<std::string> fa::findViolation(const ScheduleProblem &problem,
                                             const Schedule &schedule,
                                             const Target &target) {
  if (std::optional<std::string> why = findRangeViolation(schedule))
    return why;
  if (schedule.threads() > kMaxBlockThreads)
    return number(schedule.teams) + " teams of " + number(schedule.warps) +
           " warps are " + number(schedule.threads()) +
           " threads, a block has at most " + number(kMaxBlockThreads);
  int64_t teamRows = kSlabRows * schedule.warps;
  if (schedule.partition == Partition::SplitQ)
    teamRows *= schedule.teams;
  if (schedule.br % teamRows != 0)
    return "br must be a multiple of " + number(teamRows) + " for " +
           number(schedule.teams) + " teams of " + number(schedule.warps) +
           " warps, found " + number(schedule.br);
  int64_t columns = kInstructionDepth;
  if (schedule.partition == Partition::SplitK)
    columns *= schedule.teams;
  if (schedule.bc % columns != 0)
    return "bc must be a multiple of " + number(columns) + ", found " +
           number(schedule.bc);
  if (problem.headDim % kInstructionDepth != 0 ||
      problem.headDimV % kInstructionDepth != 0)
    return "the tensor cores take head dimensions that are multiples of " +
           number(kInstructionDepth) + ", found D " + number(problem.headDim) +
           " and Dv " + number(problem.headDimV);
  Resources resources = computeResources(problem, schedule);
  if (resources.sharedBytes > target.sharedBytesPerBlock)
    return "needs " + number(resources.sharedBytes) +
           " bytes of shared memory, " + target.name + " has " +
           number(target.sharedBytesPerBlock) + " for a block";
  return std::nullopt;
}

bool fa::fitsRegisters(const ScheduleProblem &problem, const Schedule &schedule,
                       const Target &target) {
  int64_t more = 0;
  if (target.computeMajor > kHopperMajor)
    more = kBlackwellRegisters;
  else if (target.computeMajor < kHopperMajor)
    more = kOlderRegisters +
           std::max<int64_t>(problem.headDim - kHeadDimWithoutMore, 0) /
               kHeadDimPerRegister;
  else
    // Rows of Q and K that are longer than the accumulator's: D 192 with values
    // of 128 spills with 32 rows.
    more = std::max<int64_t>(problem.headDim - problem.headDimV, 0) /
           kHeadDimPerRegister;
  return computeResources(problem, schedule).registersPerThread + more <=
         target.maxRegistersPerThread;
}

//===----------------------------------------------------------------------===//
// Warpgroups
//===----------------------------------------------------------------------===//

/// Registers move between warpgroups, of so many threads.
static constexpr int64_t kGroupThreads = 128;
/// What a multiprocessor has, on every GPU whose registers move.
static constexpr int64_t kRegisters = 65536;
/// The least and the most that the budgets here have. A thread that starts
/// copies is served by the second, which it needs where it finds sequences and
/// cuts tiles off at their ends: with 24 it spills one register without a mask
/// at D 80 to 128.
static constexpr int64_t kLeastRegisters = 24;
static constexpr int64_t kMostForCopies = 40;
static constexpr int64_t kMostForProducts = 240;
/// The most that the compiler gives a thread at the launch, in whole units.
static constexpr int64_t kMostAtLaunch = 248;
static int64_t roundDown(int64_t registers) {
  return registers / kRegisterUnit * kRegisterUnit;
}

int64_t fa::getRegisterPool(int64_t groups) {
  int64_t atLaunch = roundDown(kRegisters / (groups * kGroupThreads));
  return groups * std::min(atLaunch, kMostAtLaunch);
}

RegisterBudgets fa::divideRegisters(int64_t teams, bool cutsTiles) {
  int64_t pool = getRegisterPool(teams + 1);
  int64_t leastForCopies = cutsTiles ? kMostForCopies : kLeastRegisters;
  int64_t compute =
      std::min(kMostForProducts, roundDown((pool - leastForCopies) / teams));
  return {std::min(kMostForCopies, pool - teams * compute), compute};
}

bool fa::fitsWarpgroups(const ScheduleProblem &problem,
                        const Schedule &schedule) {
  return countWarpgroupRegisters(problem, schedule) <=
         divideRegisters(schedule.teams).compute;
}

int64_t fa::blocksPerSM(const ScheduleProblem &problem,
                        const Schedule &schedule, const Target &target) {
  Resources resources = computeResources(problem, schedule);
  int64_t registers = alignUp(resources.registersPerThread, kRegisterUnit);
  return std::min(
      {target.sharedBytesPerSM / (resources.sharedBytes + kSystemSharedBytes),
       target.registersPerSM / (registers * schedule.threads()),
       target.maxThreadsPerSM / schedule.threads(), target.maxBlocksPerSM});
}
