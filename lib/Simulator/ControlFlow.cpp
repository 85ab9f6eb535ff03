//===- ControlFlow.cpp - Structure of a thread block's program ------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops, branches, work items and roles, and the ops that concern one team
// alone.
//
//===----------------------------------------------------------------------===//

#include "ThreadBlock.h"

#include "fa/Schedule/MirroredOrder.h"
#include "fa/Schedule/PairedOrder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fa;
using namespace fa::sim;

SmallVector<Datum> ThreadBlock::getAll(const Team &team, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value v) { return get(team, v); });
}

void ThreadBlock::setAll(Team &team, ValueRange values, ArrayRef<Datum> data) {
  for (auto [value, datum] : llvm::zip_equal(values, data))
    set(team, value, datum);
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

ThreadBlock::Step ThreadBlock::enterRegion(Team &team, Region &region) {
  if (region.empty())
    return Step::Next;
  team.frames.push_back({&region.front(), region.front().begin()});
  return Step::Jump;
}

ThreadBlock::Step ThreadBlock::enterLoop(Team &team, scf::ForOp loop) {
  Frame frame{loop.getBody(), loop.getBody()->begin()};
  frame.index = get<int64_t>(team, loop.getLowerBound());
  frame.end = get<int64_t>(team, loop.getUpperBound());
  frame.step = get<int64_t>(team, loop.getStep());
  if (frame.step <= 0) {
    fault(team, loop) << "has the step " << frame.step
                      << ", which is not positive";
    return Step::Failed;
  }
  SmallVector<Datum> inits = getAll(team, loop.getInitArgs());
  if (frame.index >= frame.end) {
    setAll(team, loop.getResults(), inits);
    return Step::Next;
  }
  set(team, loop.getInductionVar(), frame.index);
  setAll(team, loop.getRegionIterArgs(), inits);
  team.frames.push_back(frame);
  return Step::Jump;
}

/// The end of a region: the next round, the next item, or the op after it.
ThreadBlock::Step ThreadBlock::executeYield(Team &team, Operation *op) {
  Operation *parent = op->getParentOp();
  if (auto work = dyn_cast<cta::WorkOp>(parent))
    return nextItem(team, work, getAll(team, op->getOperands()));
  if (isa<cta::RoleOp>(parent)) {
    if (failed(checkTeamEnd(team)))
      return Step::Failed;
    traceCompute(team);
    team.state = Team::State::Done;
    ++version;
    return Step::Jump;
  }
  SmallVector<Datum> data = getAll(team, op->getOperands());
  Frame &frame = team.frames.back();
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (loop && (frame.index += frame.step) < frame.end) {
    set(team, loop.getInductionVar(), frame.index);
    setAll(team, loop.getRegionIterArgs(), data);
    frame.next = frame.block->begin();
    return Step::Jump;
  }
  team.frames.pop_back();
  setAll(team, parent->getResults(), data);
  return Step::Next;
}

bool sim::isAnyTrue(const Datum &predicate) {
  const Fragment &flags = **std::get_if<FragmentPtr>(&predicate);
  return llvm::any_of(flags.ints, [](int32_t bit) { return bit != 0; });
}

//===----------------------------------------------------------------------===//
// Work and roles
//===----------------------------------------------------------------------===//

template <typename Compute>
auto ThreadBlock::withShares(const Team &team, cta::WorkOp work,
                             Compute compute) const {
  ValueRange extents = work.getExtents();
  int64_t firsts = get<int64_t>(team, extents.front()), others = 1;
  for (Value extent : extents.drop_front())
    others *= get<int64_t>(team, extent);
  int64_t blocks = std::min(options.blocks, *items);
  if (work.getOrder().getKind() == cta::WorkOrder::Paired)
    return compute(PairedOrder<int64_t>(firsts, others, blocks));
  if (work.getOrder().getKind() == cta::WorkOrder::Mirrored)
    return compute(MirroredOrder<int64_t>(firsts, others, blocks));
  return compute(BalancedOrder<int64_t>(firsts, others, blocks));
}

/// Whether item `item` is this block's. Which block takes an item that is
/// handed out as blocks become free is drawn: any may be the one.
bool ThreadBlock::ownsItem(cta::WorkOp work, int64_t item) const {
  if (work.getMarked() && !marked.contains(item))
    return false;
  if (work.getOrder().getPersistence() != cta::Persistence::Dynamic)
    return true;
  int64_t blocks = std::min(options.blocks, *items);
  if (!options.seed)
    return item % blocks == number;
  Random random(options.seed * 0x100000001b3 + item);
  return int64_t(random.uniform() * blocks) == number;
}

ThreadBlock::Step ThreadBlock::enterWork(Team &team, cta::WorkOp work) {
  int64_t total = 1;
  for (Value extent : work.getExtents())
    total *= get<int64_t>(team, extent);
  if (items && *items != total) {
    fault(team, work) << "has " << total << " items, but the grid is for "
                      << *items;
    return Step::Failed;
  }
  items = total;
  Frame frame{&work.getBody().front(), work.getBody().front().begin()};
  frame.step = options.blocks ? options.blocks : std::max<int64_t>(total, 1);
  frame.index = number - frame.step;
  frame.end = total;
  if (cta::hasShares(work.getOrder().getKind()) ||
      work.getOrder().getPersistence() == cta::Persistence::Dynamic) {
    frame.step = 1;
    frame.index = -1;
  }
  if (cta::hasShares(work.getOrder().getKind()))
    frame.end =
        withShares(team, work, [&](auto order) { return order.count(number); });
  team.frames.push_back(frame);
  return nextItem(team, work, getAll(team, work.getInits()));
}

/// Which items are marked is known when all teams that mark have come.
ThreadBlock::Step ThreadBlock::enterMarkedWork(Team &team, cta::WorkOp work) {
  bool marks = llvm::is_contained(kernel.markers, team.number);
  if (marks && markedAll.insert(team.number).second)
    ++version;
  SmallVector<unsigned> others;
  for (unsigned number : kernel.markers)
    if (!markedAll.contains(number))
      others.push_back(number);
  if (!others.empty())
    return block(team, getNames(others) + " to end the items before");
  spend(team, costs.synchronisation);
  return enterWork(team, work);
}

ThreadBlock::Step ThreadBlock::mark(Team &team, cta::MarkOp op) {
  auto *frame = llvm::find_if(team.frames, [](const Frame &frame) {
    return isa<cta::WorkOp>(frame.block->getParentOp());
  });
  if (isAnyTrue(get(team, op.getPredicate())))
    marked.insert(frame->index);
  spend(team, costs.synchronisation);
  return Step::Next;
}

/// `carried`: what the item before yielded, or the initial values.
ThreadBlock::Step ThreadBlock::nextItem(Team &team, cta::WorkOp work,
                                        ArrayRef<Datum> carried) {
  // The block's own items follow one another; a role's teams go on alone.
  if (!team.info && !areTeamsDone())
    return Step::Blocked;
  Frame &frame = team.frames.back();
  do
    frame.index += frame.step;
  while (frame.index < frame.end && !ownsItem(work, frame.index));
  if (frame.index >= frame.end) {
    team.frames.pop_back();
    setAll(team, work.getResults(), carried);
    return Step::Next;
  }
  setAll(team, ValueRange(work.getCarried()), carried);
  if (cta::hasShares(work.getOrder().getKind())) {
    auto [first, other] = withShares(
        team, work, [&](auto order) { return order.get(number, frame.index); });
    set(team, work.getBody().getArgument(0), first);
    setCoordinates(team, work, /*firstDim=*/1, other);
  } else {
    setCoordinates(team, work, /*firstDim=*/0, frame.index);
  }
  frame.next = frame.block->begin();
  return Step::Jump;
}

void ThreadBlock::setCoordinates(Team &team, cta::WorkOp work, size_t firstDim,
                                 int64_t rest) {
  bool isReversed = work.getOrder().getKind() == cta::WorkOrder::LPT;
  ValueRange extents = work.getExtents();
  for (size_t dim = firstDim; dim < extents.size(); ++dim) {
    int64_t size = get<int64_t>(team, extents[dim]);
    int64_t coordinate = rest % size;
    rest /= size;
    if (dim == 0 && isReversed)
      coordinate = size - 1 - coordinate;
    set(team, work.getBody().getArgument(dim), coordinate);
  }
}

bool ThreadBlock::areTeamsDone() const {
  return llvm::all_of(
      teams, [](const Team &t) { return t.state == Team::State::Done; });
}

/// Starts the teams of a role with what is known so far.
ThreadBlock::Step ThreadBlock::startRole(Team &team, cta::RoleOp role) {
  Block &body = role.getBody().front();
  for (int64_t n = 0; n < int64_t(role.getTeams()); ++n) {
    Team &started = teams[kernel.firstTeam.lookup(role) + n];
    started.values = team.values;
    started.frames.assign(1, Frame{&body, body.begin()});
    started.state = Team::State::Ready;
    started.time = team.time;
    if (options.seed)
      started.time += random.uniform() * costs.copyLatency;
    started.computesSince = started.time;
    set(started, role.getTeam(), n);
  }
  ++version;
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Local ops
//===----------------------------------------------------------------------===//

ThreadBlock::Step ThreadBlock::getSize(Team &team, Operation *op) {
  auto dim = cast<memref::DimOp>(op);
  int64_t rank = cast<MemRefType>(dim.getSource().getType()).getRank();
  int64_t index = get<int64_t>(team, dim.getIndex());
  if (index < 0 || index >= rank) {
    fault(team, op) << "asks for dimension " << index << " of " << rank;
    return Step::Failed;
  }
  set(team, dim.getResult(),
      get<GlobalTensor *>(team, dim.getSource())->getSize(index));
  return Step::Next;
}

ThreadBlock::Step ThreadBlock::evaluate(Team &team, Operation *op,
                                        const Evaluator &evaluator) {
  FailureOr<Datum> result = evaluator(op, getAll(team, op->getOperands()));
  if (failed(result))
    return Step::Failed;
  set(team, op->getResult(0), std::move(*result));
  int64_t warps = 1;
  if (team.info)
    warps = cta::RoleOp(team.info->role).getWarps();
  spend(team, costs.getArithmetic(op, warps));
  return Step::Next;
}

ThreadBlock::Step ThreadBlock::executeLocal(Team &team, Operation *op) {
  auto evaluator = kernel.evaluators.find(op);
  if (evaluator != kernel.evaluators.end())
    return evaluate(team, op, *evaluator->second);
  auto enterIf = [&](bool taken, Region &then, Region &otherwise) {
    return enterRegion(team, taken ? then : otherwise);
  };
  return llvm::TypeSwitch<Operation *, Step>(op)
      .Case([&](memref::DimOp) { return getSize(team, op); })
      .Case([&](memref::LoadOp) { return loadScalar(team, op); })
      .Case([&](cta::LookupOp lookup) { return lookUp(team, lookup); })
      .Case([&](scf::ForOp loop) { return enterLoop(team, loop); })
      .Case([&](scf::IfOp branch) {
        return enterIf(get<int64_t>(team, branch.getCondition()),
                       branch.getThenRegion(), branch.getElseRegion());
      })
      .Case([&](cta::IfAnyOp branch) {
        return enterIf(isAnyTrue(get(team, branch.getPredicate())),
                       branch.getThenRegion(), branch.getElseRegion());
      })
      .Case([&](cta::WorkOp work) { return enterWork(team, work); })
      .Case([&](cta::RoleOp role) { return startRole(team, role); })
      .Case([&](cta::RingOp ring) { return allocate(team, ring); })
      .Case([&](cta::BarrierOp barrier) { return allocate(team, barrier); })
      .Case([&](gpu::ReturnOp) {
        if (!areTeamsDone())
          return Step::Blocked;
        team.state = Team::State::Done;
        return Step::Jump;
      })
      .Default([&](Operation *) { return executeYield(team, op); });
}
