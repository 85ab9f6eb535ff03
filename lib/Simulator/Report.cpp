//===- Report.cpp - What is wrong in a thread block -----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Faults, who waits for what when one is found, deadlocks, and what must hold
// at the end.
//
//===----------------------------------------------------------------------===//

#include "ThreadBlock.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace fa;
using namespace fa::sim;

std::string ThreadBlock::getName(const Team &team) const {
  return team.info ? team.info->getName() : "the block";
}

/// "team 0 of "load" and team 1 of "load"".
std::string ThreadBlock::getNames(ArrayRef<unsigned> numbers) const {
  return llvm::join(
      llvm::map_range(numbers,
                      [&](unsigned n) { return kernel.teams[n].getName(); }),
      " and ");
}

InFlightDiagnostic ThreadBlock::fault(Operation *op) {
  return op->emitError("block ") << number << ": '" << op->getName() << "' ";
}

/// A fault of `team` at `op`. The message goes on with a verb.
InFlightDiagnostic ThreadBlock::fault(const Team &team, Operation *op) {
  InFlightDiagnostic diag = op->emitError("block ")
                            << number << ", " << getName(team) << ": '"
                            << op->getName() << "' ";
  noteOthers(diag, &team);
  return diag;
}

/// Adds what all teams but `except` wait for.
void ThreadBlock::noteOthers(InFlightDiagnostic &diag, const Team *except) {
  for (const Team &team : teams)
    if (&team != except && team.state == Team::State::Blocked)
      diag.attachNote(team.current()->getLoc())
          << getName(team) << " waits here for " << team.reason;
}

/// Teams of `role` that are not among `present`.
SmallVector<unsigned> ThreadBlock::getAbsent(Operation *role,
                                             ArrayRef<unsigned> present) const {
  SmallVector<unsigned> absent;
  unsigned first = kernel.firstTeam.lookup(role);
  for (int64_t n = 0; n < int64_t(cast<cta::RoleOp>(role).getTeams()); ++n)
    if (!llvm::is_contained(present, first + n))
      absent.push_back(first + n);
  return absent;
}

LogicalResult ThreadBlock::reportDeadlock() {
  // 1. What each team waits for, as it is now.
  for (Team &team : teams)
    if (team.state == Team::State::Blocked)
      (void)execute(team, team.current());

  // 2. A load at which somebody is missing says more than a deadlock.
  for (auto &[role, meeting] : meetings) {
    if (!meeting.op)
      continue;
    SmallVector<unsigned> absent = getAbsent(role, meeting.teams);
    InFlightDiagnostic diag = fault(meeting.op);
    diag << "is not reached by all teams of its role: " << getNames(absent)
         << (teams[absent.front()].state == Team::State::Done
                 ? " has ended"
                 : " waits elsewhere");
    noteOthers(diag, nullptr);
    return failure();
  }

  // 3. The deadlock, at the first team that waits.
  for (const Team &team : teams) {
    if (team.state != Team::State::Blocked)
      continue;
    InFlightDiagnostic diag = fault(team, team.current());
    diag << "waits forever for " << team.reason << " (deadlock)";
    for (const Team &other : teams)
      if (other.state == Team::State::Done && other.info)
        diag.attachNote(cta::RoleOp(other.info->role).getLoc())
            << getName(other) << " has ended";
    return failure();
  }
  return fault(self.current()) << "waits forever (deadlock)";
}

/// A team's products must have been waited for when it ends.
LogicalResult ThreadBlock::checkTeamEnd(Team &team) {
  if (team.notNamed.empty())
    return success();
  return fault(team, team.notNamed.front()->op)
         << "is never waited for: the team ends with the product in flight";
}

/// Reports a stage of `ring` that is not free.
LogicalResult ThreadBlock::checkRingEnd(RingInstance &ring) {
  for (int64_t use : ring.protocol.getOpenUses()) {
    InFlightDiagnostic diag = fault(ring.op);
    int64_t stage = ring.protocol.getStage(use);
    diag << "must have all its stages free at the end, but stage " << stage
         << " was acquired and ";
    switch (ring.protocol.getState(use)) {
    case Ring::Open::NotCopied:
      diag << "never filled by all of its producers";
      break;
    case Ring::Open::NotConsumed:
      diag << "filled, and never consumed by all of its readers";
      break;
    case Ring::Open::NotReleased:
      diag << "consumed, and never released by "
           << getNames(ring.getHolders(use));
      break;
    }
    diag.attachNote(ring.acquiredAt[stage]->getLoc()) << "acquired here";
    return failure();
  }
  return success();
}

LogicalResult ThreadBlock::checkEnd() {
  for (std::vector<RingInstance> &instances : rings)
    for (RingInstance &ring : instances)
      if (failed(checkRingEnd(ring)))
        return failure();
  for (BarrierInstance &barrier : barriers)
    for (auto [index, state] : llvm::enumerate(barrier.states))
      if (state.waiting)
        return fault(state.cameAt)
               << "leaves barrier " << index
               << " half open: " << kernel.teams[*state.waiting].getName()
               << " has come, and nobody else will";
  return success();
}
