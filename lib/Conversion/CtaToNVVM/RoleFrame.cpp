//===- RoleFrame.cpp - The kernel around warpgroups -----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names the threads, makes the barriers, gives each block its work items, and
// makes roles branches that move registers between warpgroups (setmaxnreg).
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Hopper.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fa;

//===----------------------------------------------------------------------===//
// Small builders
//===----------------------------------------------------------------------===//

Value fa::isEqual(ImplicitLocOpBuilder &b, Value value, int64_t constant) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value,
                               I32Builder{b}.constant(constant));
}

static void synchronize(ImplicitLocOpBuilder &b, Value number,
                        int64_t threads) {
  NVVM::BarrierOp::create(b, TypeRange(), number,
                          I32Builder{b}.constant(threads),
                          NVVM::BarrierReductionAttr(), Value());
}

void fa::synchronizeTeam(ImplicitLocOpBuilder &b, const Kernel &kernel) {
  // Barrier 0 is the block's.
  synchronize(b, I32Builder{b}.add(kernel.team, 1),
              kernel.warps * kWarpThreads);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// One thread makes all mbarriers, and marks are cleared, before anybody uses
/// them.
static void buildBarriers(HopperKernel &kernel, ImplicitLocOpBuilder &b) {
  if (!kernel.barrierBytes)
    return;
  auto initialize = [&](ImplicitLocOpBuilder &inner, int64_t offset,
                        int64_t count) {
    Value pointer = sharedPointer(inner, kernel.shared, offset);
    NVVM::MBarrierInitOp::create(inner, pointer,
                                 I32Builder{inner}.constant(count),
                                 /*predicate=*/Value());
  };
  buildGuarded(
      b, isEqual(b, kernel.thread, 0), [&](ImplicitLocOpBuilder &inner) {
        constexpr int64_t kBarrierBytes = 8;
        for (auto &[op, staging] : kernel.stagings)
          for (int64_t n = 0; n < staging.stages * staging.copies; ++n) {
            initialize(inner, staging.full + n * kBarrierBytes, 1);
            if (staging.arrivals)
              initialize(inner, staging.empty + n * kBarrierBytes,
                         staging.arrivals);
          }
        if (kernel.marks)
          initialize(inner, kernel.marks->barrier, kernel.marks->arrivals);
        if (kernel.handout)
          initialize(inner, kernel.handout->wanted, 1);
        if (kernel.handout)
          for (int64_t n = 0; n < kHandoutSlots; ++n) {
            initialize(inner, kernel.handout->full + n * kBarrierBytes, 1);
            initialize(inner, kernel.handout->empty + n * kBarrierBytes,
                       kernel.handout->readers);
          }
        NVVM::FenceMbarrierInitOp::create(inner);
      });
  if (kernel.marks)
    clearMarks(b, kernel);
  NVVM::BarrierOp::create(b);
}

/// Two teams meet at a named barrier.
static void expandNamedBarriers(HopperKernel &kernel) {
  SmallVector<Operation *> uses, barriers;
  kernel.func.walk([&](Operation *op) {
    if (isa<cta::SyncOp, cta::ArriveOp>(op))
      uses.push_back(op);
    else if (isa<cta::BarrierOp>(op))
      barriers.push_back(op);
  });
  int64_t threads = 2 * kernel.warps * kWarpThreads;
  for (Operation *op : uses) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    I32Builder i{b};
    Value number =
        i.add(i.fromIndex(op->getOperand(1)),
              kernel.barriers.lookup(op->getOperand(0).getDefiningOp()));
    if (isa<cta::SyncOp>(op))
      synchronize(b, number, threads);
    else
      NVVM::BarrierArriveOp::create(b, number, i.constant(threads));
    op->erase();
  }
  for (Operation *op : barriers)
    op->erase();
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Repeats the body of `loop`, whose bounds are constants, for each count.
static void unroll(scf::ForOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> carried(loop.getInits());
  auto get = [](Value value) { return *getConstantIntValue(value); };
  for (int64_t n = get(loop.getLowerBound()); n < get(loop.getUpperBound());
       n += get(loop.getStep())) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(),
                arith::ConstantIndexOp::create(b, n).getResult());
    mapping.map(loop.getRegionIterArgs(), carried);
    for (Operation &op : loop.getBody()->without_terminator())
      b.clone(op, mapping);
    for (auto [n, value] : llvm::enumerate(loop.getYieldedValues()))
      carried[n] = mapping.lookupOrDefault(value);
  }
  loop.replaceAllUsesWith(carried);
  loop.erase();
}

/// Repeats the loops over teams whose rings are filled, so that each has its
/// own cursor.
static void unrollTeamLoops(gpu::GPUFuncOp func) {
  llvm::SetVector<Operation *> loops;
  func.walk([&](cta::AcquireOp acquire) {
    if (acquire.getTeam() && isa<BlockArgument>(acquire.getTeam()))
      loops.insert(acquire.getTeam().getParentBlock()->getParentOp());
  });
  for (Operation *loop : loops)
    unroll(cast<scf::ForOp>(loop));
}

/// On kernels whose blocks do many items, however many blocks there are.
static constexpr StringLiteral kPersistentAttr = "cta.persistent";

/// Puts `b` into a branch that is taken where `condition` holds.
static void enterBranch(ImplicitLocOpBuilder &b, Value condition) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
}

/// What the loop over items carries for `value`: an index in 32 bits, as all
/// coordinates are.
static Value narrowCarried(ImplicitLocOpBuilder &b, Value value) {
  return value.getType().isIndex() ? I32Builder{b}.fromIndex(value) : value;
}

static Value widenCarried(ImplicitLocOpBuilder &b, Value value, Type type) {
  if (!type.isIndex())
    return value;
  return arith::IndexCastOp::create(b, type, value);
}

/// Has the loop over the items of `work` carry what `work` yields, and stand
/// for its results. Returns what the carried arguments are inside, where `b`
/// is.
static SmallVector<Value> carryItems(ImplicitLocOpBuilder &b, cta::WorkOp work,
                                     const BlockItem &item) {
  if (work.getInits().empty())
    return {};
  // What follows comes in front of what is yielded.
  Operation *last = b.getInsertionPoint()->getPrevNode();
  ImplicitLocOpBuilder end(work.getLoc(), item.yield);
  SmallVector<Value> next;
  for (Value value : work.getBody().front().getTerminator()->getOperands())
    next.push_back(narrowCarried(end, value));
  item.yield->insertOperands(item.yield->getNumOperands(), next);
  if (last)
    b.setInsertionPointAfter(last);
  else
    b.setInsertionPointToStart(item.yield->getBlock());

  ImplicitLocOpBuilder after(work.getLoc(), work->getContext());
  after.setInsertionPointAfter(item.yield->getParentOp());
  SmallVector<Value> carried;
  for (auto [result, argument, value] :
       llvm::zip_equal(work.getResults(), item.carried, item.results)) {
    result.replaceAllUsesWith(widenCarried(after, value, result.getType()));
    carried.push_back(widenCarried(b, argument, result.getType()));
  }
  return carried;
}

/// Notes which items are handed out: those of `work`, as of all works of the
/// kernel.
static void describeHandedItems(HopperKernel &kernel, cta::WorkOp work) {
  // Outside of the roles, for all of them.
  ImplicitLocOpBuilder b(work.getLoc(), kernel.roles.front().op);
  Handout &handout = *kernel.handout;
  llvm::append_range(handout.extents, work.getExtents());
  handout.items = buildItemCount(b, work.getExtents());
  handout.kind = work.getOrder().getKind();
  handout.group = buildGroup(b, work);
}

/// Replaces `work` by the block's items, or those that are marked. `group`:
/// what `buildGroup` said.
static void expandWork(HopperKernel &kernel, cta::WorkOp work, Value group) {
  HopperRole &role = kernel.getRole(work);
  bool isMarked = work.getMarked();
  if (isMarked && !kernel.marks)
    return work.erase();
  ImplicitLocOpBuilder b(work.getLoc(), work);
  if (work.getOrder().getPersistence() != cta::Persistence::None)
    work->getParentOfType<gpu::GPUFuncOp>()->setAttr(kPersistentAttr,
                                                     b.getUnitAttr());
  if (isMarked) {
    // What the first work leaves to do stands in front of this one.
    if (role.marks)
      endMarks(b, kernel, role);
    waitForMarks(b, kernel);
    enterBranch(b, buildHasMarks(b, kernel, role));
  }
  SmallVector<Value> inits;
  for (Value init : work.getInits())
    inits.push_back(narrowCarried(b, init));
  bool isHandedOut =
      work.getOrder().getPersistence() == cta::Persistence::Dynamic;
  BlockItem item = isHandedOut ? buildHandedItems(b, kernel, role, work, inits)
                               : buildItems(b, work, group, inits);
  SmallVector<Value> arguments(item.coordinates);
  llvm::append_range(arguments, carryItems(b, work, item));
  if (isMarked)
    enterBranch(b, buildIsMarked(b, kernel, role, item.number));
  work->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  expandMarks(kernel, work, item.number);
  inlineBody(work, arguments);
}

/// Puts the role's body in its place; its team counts from 0.
static void inlineRole(const HopperKernel &kernel, HopperRole &role) {
  ImplicitLocOpBuilder b(role.op.getLoc(), role.op);
  Value team = I32Builder{b}.add(kernel.team, -role.firstTeam);
  inlineBody(role.op, {arith::IndexCastOp::create(b, b.getIndexType(), team)});
  role.op = nullptr;
}

void fa::buildHopperFrame(HopperKernel &kernel) {
  expandDims(kernel.func);
  buildThreadIds(kernel);
  ImplicitLocOpBuilder b(kernel.func.getLoc(), kernel.func.getContext());
  b.setInsertionPointAfterValue(kernel.columnFirstOffset);
  buildBarriers(kernel, b);
  // All roles go through the items in the same order, which depends on what
  // stands in any of them: the groups come before the first is taken apart.
  SmallVector<std::pair<cta::WorkOp, Value>> works;
  kernel.func.walk([&](cta::WorkOp work) {
    // What is handed out is taken apart outside of the roles, once.
    ImplicitLocOpBuilder before(work.getLoc(), work);
    works.push_back(
        {work, kernel.handout ? Value() : buildGroup(before, work)});
  });
  if (kernel.handout)
    describeHandedItems(kernel, works.front().first);
  for (auto [work, group] : works)
    expandWork(kernel, work, group);
  unrollTeamLoops(kernel.func);
  if (!kernel.hasRoles())
    inlineRole(kernel, kernel.roles.front());
  // ptxas gives a block all registers only where it knows that one is enough.
  if (!kernel.func->hasAttr(cta::kMinCtasAttr))
    kernel.func->setAttr(cta::kMinCtasAttr, b.getI64IntegerAttr(1));
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Gives the thread its role's registers.
static void moveRegisters(ImplicitLocOpBuilder &b, const HopperKernel &kernel,
                          const HopperRole &role) {
  constexpr int64_t kBlockRegisters = 65536, kRegisterUnit = 8;
  if (!role.registers)
    return;
  int64_t before = llvm::alignDown(kBlockRegisters / kernel.threads(),
                                   static_cast<uint64_t>(kRegisterUnit));
  if (*role.registers != before)
    NVVM::SetMaxRegisterOp::create(b, *role.registers,
                                   *role.registers < before
                                       ? NVVM::SetMaxRegisterAction::decrease
                                       : NVVM::SetMaxRegisterAction::increase);
}

void fa::waitForStores(ImplicitLocOpBuilder &b, const HopperKernel &kernel,
                       const HopperRole &role) {
  bool stores = llvm::any_of(kernel.bulkStores, [&](auto &entry) {
    return entry.second.firstTeam == role.firstTeam;
  });
  if (!stores)
    return;
  buildGuarded(
      b, isEqual(b, kernel.teamThread, 0), [](ImplicitLocOpBuilder &inner) {
        NVVM::CpAsyncBulkWaitGroupOp::create(inner, 0u, /*read=*/UnitAttr());
      });
}

/// Puts the body of `role` where `b` is.
static void placeRole(ImplicitLocOpBuilder &b, HopperKernel &kernel,
                      HopperRole &role) {
  moveRegisters(b, kernel, role);
  Block *block = b.getInsertionBlock();
  auto place = b.getInsertionPoint();
  if (role.isLoader) {
    if (kernel.handout)
      buildTeller(b, kernel, role);
    int64_t thread = role.firstTeam * kernel.warps * kWarpThreads;
    auto guard = scf::IfOp::create(b, isEqual(b, kernel.thread, thread),
                                   /*withElseRegion=*/false);
    block = guard.thenBlock();
    place = block->getTerminator()->getIterator();
  }
  role.op->moveBefore(block, place);
  auto after = ImplicitLocOpBuilder(role.op.getLoc(), role.op->getContext());
  after.setInsertionPointAfter(role.op);
  // Shared memory is another block's when this one has ended.
  waitForStores(after, kernel, role);
  inlineRole(kernel, role);
}

void fa::dissolveRoles(HopperKernel &kernel) {
  expandNamedBarriers(kernel);
  Operation *end = kernel.func.getBody().front().getTerminator();
  ImplicitLocOpBuilder b(kernel.func.getLoc(), end);
  if (!kernel.hasRoles()) {
    waitForStores(b, kernel, kernel.roles.front());
    return;
  }
  // Each role but the last is a branch, in whose other side the rest stands.
  for (HopperRole &role : kernel.roles) {
    if (&role == &kernel.roles.back()) {
      placeRole(b, kernel, role);
      break;
    }
    Value isBelow = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ult, kernel.team,
        I32Builder{b}.constant(role.firstTeam + role.teams));
    auto branch = scf::IfOp::create(b, isBelow, /*withElseRegion=*/true);
    auto inner =
        ImplicitLocOpBuilder::atBlockTerminator(b.getLoc(), branch.thenBlock());
    placeRole(inner, kernel, role);
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
  }
}
