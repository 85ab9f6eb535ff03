//===- Meetings.cpp - Where all teams of a role meet ----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads that teams share, combinations of their fragments, and questions whose
// answer is the same for all.
//
//===----------------------------------------------------------------------===//

#include "ThreadBlock.h"

#include <cmath>

using namespace mlir;
using namespace fa;
using namespace fa::sim;

/// A team comes to where all teams of its role meet. Fails where the others
/// are somewhere else.
LogicalResult ThreadBlock::join(Team &team, Operation *op, Meeting &meeting) {
  if (meeting.op && meeting.op != op)
    return fault(team, op) << "is not reached by all teams of its role: "
                           << getNames(meeting.teams) << " came to another "
                           << (isa<cta::LoadOp>(meeting.op) ? "load"
                                                            : "meeting")
                           << " first";
  team.ticket = meeting.opened;
  meeting.op = op;
  meeting.teams.push_back(team.number);
  ++team.meetings;
  ++version;
  return success();
}

/// Whether all teams of the role of `team` have come.
bool ThreadBlock::isComplete(const Team &team, const Meeting &meeting) const {
  return meeting.teams.size() == cta::RoleOp(team.info->role).getTeams();
}

/// The teams go on.
void ThreadBlock::open(Meeting &meeting) {
  meeting.op = nullptr;
  meeting.teams.clear();
  ++meeting.opened;
}

//===----------------------------------------------------------------------===//
// Shared loads
//===----------------------------------------------------------------------===//

/// A team comes to a load; the last one starts the copy. Fails where they do
/// not agree on it.
LogicalResult ThreadBlock::joinLoad(Team &team, cta::LoadOp op,
                                    const Window &window, Meeting &meeting) {
  bool isFirst = !meeting.op;
  SmallVector<unsigned> others = meeting.teams;
  if (failed(join(team, op, meeting)))
    return failure();
  if (!isFirst && (meeting.window.indices != window.indices ||
                   meeting.window.rowEnd != window.rowEnd))
    return fault(team, op) << "loads another tile than " << getNames(others)
                           << ", with which it shares one";
  meeting.window = window;
  if (!isComplete(team, meeting))
    return success();
  return startLoad(team, op, window, getLoadTile(team, op),
                   [&meeting] { open(meeting); });
}

ThreadBlock::Step ThreadBlock::gather(Team &team, Operation *op,
                                      llvm::function_ref<void()> complete) {
  cta::RoleOp role = team.info->role;
  Meeting &meeting = meetings[role];
  if (!team.begun) {
    team.begun = true;
    if (failed(join(team, op, meeting)))
      return Step::Failed;
    if (isComplete(team, meeting)) {
      complete();
      open(meeting);
    }
  }
  if (meeting.opened == team.ticket)
    return block(team, getNames(getAbsent(role, meeting.teams)) + " to come");
  return Step::Next;
}

ThreadBlock::Step ThreadBlock::loadOnce(Team &team, cta::LoadOp op,
                                        const Window &window) {
  cta::RoleOp role = team.info->role;
  Meeting &meeting = meetings[role];
  if (!team.begun) {
    team.begun = true;
    if (failed(joinLoad(team, op, window, meeting)))
      return Step::Failed;
  }
  if (meeting.opened == team.ticket) {
    SmallVector<unsigned> absent = getAbsent(role, meeting.teams);
    return block(team, absent.empty() ? "the shared tile to be there"
                                      : getNames(absent) + " to come");
  }
  set(team, op.getTile(), TileRef{&getLoadTile(team, op)});
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Combinations
//===----------------------------------------------------------------------===//

/// As the hardware does it: the `num` kinds take the other operand for a NaN.
static float combineElements(vector::CombiningKind kind, float x, float y) {
  using vector::CombiningKind;
  bool isNaN = std::isnan(x) || std::isnan(y);
  switch (kind) {
  case CombiningKind::ADD:
    return x + y;
  case CombiningKind::MUL:
    return x * y;
  case CombiningKind::MAXNUMF:
    return std::fmax(x, y);
  case CombiningKind::MINNUMF:
    return std::fmin(x, y);
  case CombiningKind::MAXIMUMF:
    return isNaN ? std::nanf("") : std::fmax(x, y);
  case CombiningKind::MINIMUMF:
    return isNaN ? std::nanf("") : std::fmin(x, y);
  default:
    llvm_unreachable("the verifier lets no other kind pass");
  }
}

ThreadBlock::Step ThreadBlock::combine(Team &team, cta::CombineOp op) {
  cta::RoleOp role = team.info->role;
  Meeting &meeting = meetings[role];
  if (!team.begun) {
    meeting.values.resize(role.getTeams());
    meeting.values[team.info->number] = get<FragmentPtr>(team, op.getValue());
  }
  Step step = gather(team, op, [&] {
    auto result = std::make_shared<Fragment>(*meeting.values.front());
    for (const FragmentPtr &value : llvm::drop_begin(meeting.values))
      for (auto [sum, element] : llvm::zip_equal(result->floats, value->floats))
        sum = combineElements(op.getKind(), sum, element);
    meeting.result = std::move(result);
  });
  if (step != Step::Next)
    return step;
  set(team, op.getResult(), meeting.result);
  spend(team, costs.synchronisation +
                  costs.getArithmetic(op, role.getWarps()) * role.getTeams());
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Questions to all
//===----------------------------------------------------------------------===//

ThreadBlock::Step ThreadBlock::askAll(Team &team, cta::AnyOp op) {
  Meeting &meeting = meetings[team.info->role];
  if (!team.begun)
    meeting.isAny |= isAnyTrue(get(team, op.getPredicate()));
  Step step = gather(team, op, [&] {
    meeting.wasAny = meeting.isAny;
    meeting.isAny = false;
  });
  if (step != Step::Next)
    return step;
  set(team, op.getResult(), int64_t(meeting.wasAny));
  spend(team, costs.synchronisation);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Meetings for their own sake
//===----------------------------------------------------------------------===//

ThreadBlock::Step ThreadBlock::meetAll(Team &team, cta::MeetOp op) {
  Step step = gather(team, op, [] {});
  if (step == Step::Next)
    spend(team, costs.synchronisation);
  return step;
}
