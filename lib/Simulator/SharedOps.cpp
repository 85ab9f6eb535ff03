//===- SharedOps.cpp - Rings and barriers in the simulator ----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadBlock.h"

using namespace mlir;
using namespace fa;
using namespace fa::sim;

/// The place of `number` in `teams`, in which it is.
static unsigned indexIn(ArrayRef<unsigned> teams, unsigned number) {
  return llvm::find(teams, number) - teams.begin();
}

/// The teams at these places of `teams`.
static SmallVector<unsigned> pick(ArrayRef<unsigned> teams,
                                  ArrayRef<unsigned> places) {
  return llvm::map_to_vector(places, [&](unsigned n) { return teams[n]; });
}

SmallVector<unsigned> RingInstance::getHolders(int64_t use) const {
  return pick(teams.consumers, protocol.getHolders(use));
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// The teams that use one team's ring (`team`), or the ring of all (none).
static RingTeams getTeams(const Kernel &kernel, cta::RingOp op,
                          std::optional<int64_t> team) {
  RingTeams users = kernel.rings.find(op)->second;
  if (team)
    llvm::erase_if(users.consumers, [&](unsigned number) {
      return kernel.teams[number].number != *team;
    });
  return users;
}

ThreadBlock::Step ThreadBlock::allocate(Team &team, cta::RingOp op) {
  cta::RingType type = op.getRing().getType();
  int64_t count = op.getTeams().value_or(1);
  std::vector<RingInstance> &instances = rings.emplace_back();
  for (int64_t n = 0; n < count; ++n) {
    RingTeams users =
        getTeams(kernel, op, op.getTeams() ? std::optional(n) : std::nullopt);
    Ring protocol(type.getStages(), users.producers.size(),
                  users.consumers.size());
    RingInstance &ring = instances.emplace_back(
        RingInstance{op, std::move(users), std::move(protocol), {}, {}, {}});
    ring.stages.assign(type.getStages(), SharedTile(type.getTile()));
    ring.acquiredAt.resize(type.getStages());
    ring.copies.resize(type.getStages());
  }
  set(team, op.getRing(), instances.data());
  return Step::Next;
}

/// The ring that `op` names: of those that are each team's, one; null, with a
/// diagnostic, where there is no such team.
RingInstance *ThreadBlock::findRing(Team &team, cta::AcquireOp op) {
  auto *first = get<RingInstance *>(team, op.getRing());
  int64_t index = op.getTeam() ? get<int64_t>(team, op.getTeam()) : 0;
  int64_t count = first->op.getTeams().value_or(1);
  if (index >= 0 && index < count)
    return first + index;
  fault(team, op) << "names team " << index << " of " << count;
  return nullptr;
}

/// The team's own ring, or that of all teams.
RingInstance &ThreadBlock::findRing(Team &team, cta::ConsumeOp op) {
  auto *first = get<RingInstance *>(team, op.getRing());
  return first[first->op.getTeams() ? team.info->number : 0];
}

/// What keeps the stage that `producer` wants next from being free.
std::string ThreadBlock::describeHeld(const RingInstance &ring,
                                      unsigned producer) const {
  int64_t use = ring.protocol.nextAcquire(producer);
  int64_t before = use - int64_t(ring.stages.size());
  std::string reason =
      "stage " + std::to_string(ring.protocol.getStage(use)) + " to be free, ";
  if (ring.teams.consumers.empty())
    return reason + "which nobody consumes";
  SmallVector<unsigned> missing = ring.protocol.getMissingCopies(before);
  if (!missing.empty())
    return reason + "whose copy by " +
           getNames(pick(ring.teams.producers, missing)) + " is not done";
  SmallVector<unsigned> holders = ring.getHolders(before);
  return reason + "which " + getNames(holders) +
         (holders.size() == 1 ? " has" : " have") + " not released";
}

ThreadBlock::Step ThreadBlock::acquire(Team &team, cta::AcquireOp op) {
  RingInstance *found = findRing(team, op);
  if (!found)
    return Step::Failed;
  RingInstance &ring = *found;
  unsigned producer = indexIn(ring.teams.producers, team.number);
  if (!ring.protocol.canAcquire(producer))
    return block(team, describeHeld(ring, producer));
  bool isFirst = false;
  int64_t use = ring.protocol.acquire(producer, isFirst);
  int64_t stage = ring.protocol.getStage(use);
  if (isFirst) {
    ring.stages[stage].poison();
    ring.copies[stage].reset();
    ring.acquiredAt[stage] = op;
  }
  set(team, op.getTile(), TileRef{&ring.stages[stage], &ring, use});
  spend(team, costs.synchronisation);
  return Step::Next;
}

ThreadBlock::Step ThreadBlock::copy(Team &team, cta::CopyOp op) {
  TileRef ref = get<TileRef>(team, op.getTile());
  RingInstance &ring = *ref.ring;
  unsigned producer = indexIn(ring.teams.producers, team.number);
  std::string error = ring.protocol.startCopy(ref.use, producer);
  if (!error.empty()) {
    fault(team, op) << error;
    return Step::Failed;
  }

  // 1. All producers copy the same tile, each its share of the rows.
  auto *tensor = get<GlobalTensor *>(team, op.getSource());
  cta::TileType type = ref.tile->type;
  Window window = getWindow(team, op.getSource(), op.getIndices(),
                            type.getRows(), type.getCols(), op.getRowEnd());
  window.padsColumns = cta::padsColumns(op.getSource().getType());
  auto &first = ring.copies[ring.protocol.getStage(ref.use)];
  if (!first)
    first.emplace(tensor, window);
  if (first->first != tensor || first->second.indices != window.indices ||
      first->second.rowEnd != window.rowEnd) {
    fault(team, op) << "copies another tile into the stage than another team "
                       "of its role";
    return Step::Failed;
  }

  // 2. Memory is read when the copy is done.
  int64_t producers = ring.teams.producers.size();
  double end = startTransfer(op, type.getByteSize() / producers, team.time);
  at(end, [=, &team, &ring]() mutable -> LogicalResult {
    std::string wrong = tensor->read(
        window, getAgent(team),
        [=](int64_t row) { return row % producers == producer; },
        ref.tile->data.data());
    if (!wrong.empty())
      return fault(team, op) << wrong;
    ring.protocol.finishCopy(ref.use, producer);
    return success();
  });
  spend(team, costs.synchronisation);
  return Step::Next;
}

/// What keeps the stage that `consumer` wants next from being full.
std::string ThreadBlock::describeEmpty(const RingInstance &ring,
                                       unsigned consumer) const {
  int64_t use = ring.protocol.nextConsume(consumer);
  std::string reason =
      "stage " + std::to_string(ring.protocol.getStage(use)) + " to be full, ";
  if (ring.teams.producers.empty())
    return reason + "which nobody fills";
  SmallVector<unsigned> missing = ring.protocol.getMissingCopies(use);
  bool isStarted = llvm::all_of(missing, [&](unsigned producer) {
    return ring.protocol.isCopyStarted(use, producer);
  });
  return reason + "whose copy by " +
         getNames(pick(ring.teams.producers, missing)) +
         (isStarted ? " is under way" : " has not been started");
}

ThreadBlock::Step ThreadBlock::consume(Team &team, cta::ConsumeOp op) {
  RingInstance &ring = findRing(team, op);
  unsigned consumer = indexIn(ring.teams.consumers, team.number);
  if (!ring.protocol.canConsume(consumer))
    return block(team, describeEmpty(ring, consumer));
  int64_t use = ring.protocol.consume(consumer);
  SharedTile &stage = ring.stages[ring.protocol.getStage(use)];
  set(team, op.getTile(), TileRef{&stage, &ring, use});
  spend(team, costs.synchronisation);
  return Step::Next;
}

ThreadBlock::Step ThreadBlock::release(Team &team, cta::ReleaseOp op) {
  TileRef ref = get<TileRef>(team, op.getTile());
  RingInstance &ring = *ref.ring;
  for (const FlightPtr &flight : team.inFlight) {
    if (flight->aTile.tile != ref.tile && flight->bTile.tile != ref.tile)
      continue;
    InFlightDiagnostic diag = fault(team, op);
    diag << "releases a stage that a product in flight still reads";
    diag.attachNote(flight->op.getLoc()) << "the product was started here";
    return Step::Failed;
  }
  unsigned consumer = indexIn(ring.teams.consumers, team.number);
  bool isLast = false;
  std::string error = ring.protocol.release(ref.use, consumer, isLast);
  if (!error.empty()) {
    fault(team, op) << error;
    return Step::Failed;
  }
  if (isLast)
    ref.tile->poison();
  spend(team, costs.synchronisation);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

ThreadBlock::Step ThreadBlock::allocate(Team &team, cta::BarrierOp op) {
  BarrierInstance &barrier = barriers.emplace_back();
  barrier.states.resize(op.getBarrier().getType().getCount());
  set(team, op.getBarrier(), &barrier);
  return Step::Next;
}

/// `cta.sync`, which waits for the other team, and `cta.arrive`.
ThreadBlock::Step ThreadBlock::meet(Team &team, Operation *op, bool waits) {
  auto &barrier = *get<BarrierInstance *>(team, op->getOperand(0));
  int64_t index = get<int64_t>(team, op->getOperand(1));
  if (index < 0 || index >= int64_t(barrier.states.size())) {
    fault(team, op) << "uses barrier " << index << " of "
                    << barrier.states.size();
    return Step::Failed;
  }
  BarrierInstance::State &state = barrier.states[index];
  if (!team.begun) {
    if (state.waiting == team.number) {
      fault(team, op) << "comes to barrier " << index
                      << " a second time before another team has";
      return Step::Failed;
    }
    team.begun = true;
    team.ticket = state.opened;
    if (state.waiting) {
      state.waiting.reset();
      ++state.opened;
    } else {
      state.waiting = team.number;
      state.cameAt = op;
    }
    ++version;
  }
  if (waits && state.opened == team.ticket)
    return block(team, "another team at barrier " + std::to_string(index));
  spend(team, costs.synchronisation);
  return Step::Next;
}
