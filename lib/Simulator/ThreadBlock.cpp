//===- ThreadBlock.cpp - What happens next in a thread block --------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadBlock.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace fa;
using namespace fa::sim;

/// The time line's tracks after those of the teams.
static constexpr int64_t kCopyTrack = 100, kProductTrack = 200;

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// SplitMix64 (Steele, Lea and Flood 2014).
double Random::uniform() {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return double((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/// A factor from 2^-spread to 2^spread; 1 without a seed.
double ThreadBlock::draw(double spread) {
  return options.seed ? std::exp2(spread * (2 * random.uniform() - 1)) : 1;
}

/// How much the time of arithmetic varies with a seed: by 2^3 each way.
static constexpr double kArithmeticSpread = 3;

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

SharedTile::SharedTile(cta::TileType type)
    : type(type), data(type.getRows() * type.getCols()) {
  poison();
}

void SharedTile::poison() {
  std::fill(data.begin(), data.end(), std::numeric_limits<float>::quiet_NaN());
}

ThreadBlock::ThreadBlock(const Kernel &kernel, const Options &options,
                         ArrayRef<Datum> arguments, int64_t number)
    : kernel(kernel), options(options), costs(CostTable::get(*options.target)),
      number(number), random(options.seed * 0x100000001b3 + number) {
  self.number = kernel.teams.size();
  self.values.resize(kernel.slots.size());
  gpu::GPUFuncOp func = kernel.func;
  for (auto [argument, datum] : llvm::zip_equal(func.getArguments(), arguments))
    set(self, argument, datum);
  Block &body = func.getBody().front();
  self.frames.push_back({&body, body.begin()});
  self.state = Team::State::Ready;
  teams.resize(kernel.teams.size());
  for (auto [id, team] : llvm::enumerate(teams)) {
    team.number = id;
    team.info = &kernel.teams[id];
  }
}

LogicalResult ThreadBlock::run() {
  if (options.trace)
    for (const Team &team : teams)
      options.trace->nameTrack(number, team.number, getName(team));
  return failure(failed(schedule()) || failed(checkEnd()));
}

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

void ThreadBlock::at(double time, std::function<LogicalResult()> action) {
  events.emplace(time, std::move(action));
}

/// Does the earliest thing, until nothing is left.
LogicalResult ThreadBlock::schedule() {
  while (true) {
    // 1. Who waits looks again where something has changed.
    Team *next = nullptr;
    auto consider = [&](Team &team) {
      if (team.state == Team::State::Blocked && team.blockedAt != version) {
        team.state = Team::State::Ready;
        team.time = std::max(team.time, now);
      }
      if (team.state == Team::State::Ready && (!next || team.time < next->time))
        next = &team;
    };
    llvm::for_each(teams, consider);
    consider(self);

    // 2. A copy or product that is done comes first.
    if (!events.empty() && (!next || events.begin()->first <= next->time)) {
      now = std::max(now, events.begin()->first);
      auto action = std::move(events.begin()->second);
      events.erase(events.begin());
      ++version;
      if (failed(action()))
        return failure();
      continue;
    }
    if (!next)
      break;
    now = std::max(now, next->time);
    if (failed(runTeam(*next)))
      return failure();
  }
  if (self.state == Team::State::Done && areTeamsDone())
    return success();
  return reportDeadlock();
}

/// The time of the first thing that another team or an event does.
double ThreadBlock::getHorizon(const Team &team) const {
  double horizon = events.empty() ? std::numeric_limits<double>::infinity()
                                  : events.begin()->first;
  for (const Team &other : teams)
    if (&other != &team && other.state == Team::State::Ready)
      horizon = std::min(horizon, other.time);
  return horizon;
}

void ThreadBlock::spend(Team &team, double cycles) {
  team.time += cycles * team.pace;
}

/// Whether `op` concerns its team alone.
static bool isLocal(const Kernel &kernel, Operation *op) {
  if (auto work = dyn_cast<cta::WorkOp>(op))
    return !work.getMarked();
  return kernel.evaluators.contains(op) ||
         !isa<cta::AcquireOp, cta::AnyOp, cta::ArriveOp, cta::CombineOp,
              cta::ConsumeOp, cta::CopyOp, cta::FetchOp, cta::LoadOp,
              cta::MarkOp, cta::MeetOp, cta::MmaOp, cta::ReadOp, cta::ReleaseOp,
              cta::StoreOp, cta::SyncOp, cta::WaitOp, memref::StoreOp>(op);
}

/// Runs `team` until it waits, ends, or is about to touch what teams share
/// later than somebody else would.
LogicalResult ThreadBlock::runTeam(Team &team) {
  while (team.state == Team::State::Ready) {
    Operation *op = team.current();
    bool isShared = !isLocal(kernel, op);
    if (isShared && team.time > getHorizon(team))
      return success();
    Step step = isShared ? execute(team, op) : executeLocal(team, op);
    if (step == Step::Failed)
      return failure();
    if (step == Step::Blocked) {
      team.state = Team::State::Blocked;
      team.blockedAt = version;
      return success();
    }
    if (isShared) {
      traceWait(team, op);
      team.begun = team.finished = false;
      team.pace = draw(kArithmeticSpread);
      ++version;
    }
    if (step == Step::Next)
      ++team.frames.back().next;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The time line
//===----------------------------------------------------------------------===//

/// Notes what the team waits for. What it computed before ends here.
ThreadBlock::Step ThreadBlock::block(Team &team, llvm::Twine reason) {
  if (team.reason.empty()) {
    traceCompute(team);
    team.waitsSince = team.time;
  }
  team.reason = reason.str();
  return Step::Blocked;
}

void ThreadBlock::traceCompute(Team &team) {
  if (options.trace && team.time > team.computesSince)
    options.trace->add(number, team.number, "compute", team.computesSince,
                       team.time);
}

/// Adds how long `team` waited at the shared op that it has just done.
void ThreadBlock::traceWait(Team &team, Operation *op) {
  if (team.reason.empty())
    return;
  if (options.trace && team.time > team.waitsSince)
    options.trace->add(number, team.number,
                       "wait: " + op->getName().getStringRef().str(),
                       team.waitsSince, team.time, team.reason);
  team.reason.clear();
  team.computesSince = team.time;
}

/// Adds a copy or product to the first of its tracks that is free by then.
void ThreadBlock::traceUnit(Unit unit, Operation *op, double begin,
                            double end) {
  if (!options.trace)
    return;
  bool isCopy = unit == Unit::Copies;
  std::vector<double> &lanes = isCopy ? copyLanes : productLanes;
  size_t lane = 0;
  while (lane < lanes.size() && lanes[lane] > begin)
    ++lane;
  lanes.resize(std::max(lanes.size(), lane + 1));
  lanes[lane] = end;
  std::string name = isCopy ? "copies" : "tensor cores";
  if (lane > 0)
    name += " (" + std::to_string(lane + 1) + ")";
  int64_t track = (isCopy ? kCopyTrack : kProductTrack) + lane;
  std::string where;
  llvm::raw_string_ostream(where) << op->getLoc();
  options.trace->nameTrack(number, track, name);
  options.trace->add(number, track, op->getName().getStringRef(), begin, end,
                     where);
}

//===----------------------------------------------------------------------===//
// Shared ops
//===----------------------------------------------------------------------===//

ThreadBlock::Step ThreadBlock::execute(Team &team, Operation *op) {
  return llvm::TypeSwitch<Operation *, Step>(op)
      .Case([&](cta::AcquireOp o) { return acquire(team, o); })
      .Case([&](cta::ConsumeOp o) { return consume(team, o); })
      .Case([&](cta::CopyOp o) { return copy(team, o); })
      .Case([&](cta::ReleaseOp o) { return release(team, o); })
      .Case([&](cta::LoadOp o) { return load(team, o); })
      .Case([&](cta::MmaOp o) { return multiply(team, o); })
      .Case([&](cta::WaitOp o) { return wait(team, o); })
      .Case([&](cta::ReadOp o) { return read(team, o); })
      .Case([&](cta::StoreOp o) { return store(team, o); })
      .Case([&](memref::StoreOp) { return storeScalar(team, op); })
      .Case([&](cta::FetchOp o) { return fetch(team, o); })
      .Case([&](cta::CombineOp o) { return combine(team, o); })
      .Case([&](cta::AnyOp o) { return askAll(team, o); })
      .Case([&](cta::MarkOp o) { return mark(team, o); })
      .Case([&](cta::WorkOp o) { return enterMarkedWork(team, o); })
      .Case([&](cta::MeetOp o) { return meetAll(team, o); })
      .Case([&](cta::SyncOp o) { return meet(team, o, /*waits=*/true); })
      .Case([&](cta::ArriveOp o) { return meet(team, o, /*waits=*/false); });
}
