//===- SpecializeWarps.cpp - A role that loads, a role that computes ------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loading role gets a copy of the program that has its copies left, and the
// loops, branches and scalars that these need. What only one team of the
// computing role copies, it copies for each of them in turn.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Simplify.h"

#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/GpuModules.h"
#include "fa/Support/Remarks.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_SPECIALIZEWARPS
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

/// Registers move between warpgroups, of so many warps.
static constexpr int64_t kGroupWarps = 4;

//===----------------------------------------------------------------------===//
// The split
//===----------------------------------------------------------------------===//

namespace {
class RoleSplit {
public:
  RoleSplit(RewriterBase &rewriter, cta::RoleOp role)
      : rewriter(rewriter), role(role), mappings(role.getTeams()) {}

  LogicalResult apply(RegisterBudgets budgets);

private:
  LogicalResult stageLoads();
  LogicalResult buildLoading(int64_t registers);
  void makeComputing(int64_t registers);
  LogicalResult emitWork(cta::WorkOp work);
  LogicalResult emitLoads(Block &block);
  LogicalResult emitLoads(Operation &op);
  LogicalResult emitCopy(cta::CopyOp copy);
  LogicalResult emitLoop(scf::ForOp loop);
  LogicalResult emitBranch(scf::IfOp branch);
  void cloneScalar(Operation &op);

  /// Whether the loading role knows `value`.
  bool isKnown(Value value);
  /// Checks that all teams' copies can follow the values of `op`.
  LogicalResult checkShared(Operation *op, ValueRange values, StringRef what);
  void map(Value value, Value copy) {
    for (IRMapping &mapping : mappings)
      mapping.map(value, copy);
  }

  RewriterBase &rewriter;
  cta::RoleOp role; ///< around its works
  /// Values of the program to the loading role's, on behalf of each team.
  SmallVector<IRMapping> mappings;
  /// The values that differ from team to team.
  DenseSet<Value> ofTeam;
};
} // namespace

/// The stages of a ring for `load`: one where it is not in a loop, what the
/// load says, or what the kernel does.
static int64_t chooseStages(cta::LoadOp load) {
  if (!load->getParentOfType<scf::ForOp>())
    return 1;
  if (auto stages = load->getAttrOfType<IntegerAttr>(cta::kStagesAttr))
    return stages.getInt();
  auto func = load->getParentOfType<gpu::GPUFuncOp>();
  auto attr = func->getAttrOfType<IntegerAttr>(cta::kStagesAttr);
  return attr ? attr.getInt() : 2;
}

/// Turns the loads that are left into rings, those of each team into its own.
/// What each team loads in loops is staged as --stage-tiles stages what all
/// share: loads of a tile have one ring, in whichever loops they are. Of other
/// loads the n-th one of a tile in each of several works has one.
LogicalResult RoleSplit::stageLoads() {
  SmallVector<cta::LoadOp> loads;
  role.walk([&](cta::LoadOp load) { loads.push_back(load); });
  auto func = role->getParentOfType<gpu::GPUFuncOp>();
  // The last one: 1 for what each team loads in loops.
  using Key = std::tuple<Value, cta::RingType, cta::LoadKind, unsigned>;
  llvm::MapVector<Key, SmallVector<Value>> rings;
  llvm::DenseMap<std::pair<Operation *, Value>, size_t> counts;
  for (cta::LoadOp load : loads) {
    auto type =
        cta::RingType::get(chooseStages(load), load.getTile().getType());
    bool isEach = load.getKind() == cta::LoadKind::Each;
    bool isShared = isEach && load->getParentOfType<scf::ForOp>();
    SmallVector<Value> &known =
        rings[{load.getSource(), type, load.getKind(), isShared}];
    Operation *work = load->getParentOfType<cta::WorkOp>();
    size_t number = isShared ? 0 : counts[{work, load.getSource()}]++;
    bool isNew = number >= known.size();
    if (isNew) {
      rewriter.setInsertionPointToStart(&func.getBody().front());
      known.push_back(cta::RingOp::create(
          rewriter, load.getLoc(), type,
          isEach ? rewriter.getI64IntegerAttr(role.getTeams())
                 : IntegerAttr()));
      number = known.size() - 1;
    }
    std::string reason;
    if (failed(stageLoad(rewriter, load, known[number], reason))) {
      if (isNew)
        rewriter.eraseOp(known[number].getDefiningOp());
      return load.emitError("no other role can load this tile: ") << reason;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The loading role
//===----------------------------------------------------------------------===//

bool RoleSplit::isKnown(Value value) {
  return !role.getBody().isAncestor(value.getParentRegion()) ||
         mappings.front().contains(value);
}

LogicalResult RoleSplit::checkShared(Operation *op, ValueRange values,
                                     StringRef what) {
  for (Value value : values) {
    if (!isKnown(value))
      return op->emitError("a loading role cannot know ")
             << what << ": it depends on what the others compute";
    if (ofTeam.contains(value))
      return op->emitError(what)
             << " differs from team to team, but all share the copies";
  }
  return success();
}

/// Whether the loading role may compute `op` again: scalars, by loops as well,
/// that need nothing but scalars and tables.
static bool isRepeatable(Operation &op) {
  return !op.walk([](Operation *inner) {
              bool isScalar =
                  llvm::all_of(inner->getResultTypes(), [](Type type) {
                    return type.isIntOrIndexOrFloat();
                  });
              bool isPure =
                  isa<memref::LoadOp>(inner) ||
                  inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                  isMemoryEffectFree(inner);
              return isScalar && isPure ? WalkResult::advance()
                                        : WalkResult::interrupt();
            }).wasInterrupted();
}

void RoleSplit::cloneScalar(Operation &op) {
  SmallVector<Value> used(op.getOperands());
  op.walk([&](Operation *inner) {
    llvm::append_range(used, inner->getOperands());
  });
  auto isInside = [&](Value value) {
    return op.isAncestor(value.getParentBlock()->getParentOp());
  };
  llvm::erase_if(used, isInside);
  if (!llvm::all_of(used, [&](Value value) { return isKnown(value); }))
    return;
  if (!llvm::any_of(used,
                    [&](Value value) { return ofTeam.contains(value); })) {
    Operation *copy = rewriter.clone(op, mappings.front());
    for (auto [result, cloned] : llvm::zip(op.getResults(), copy->getResults()))
      map(result, cloned);
    return;
  }
  for (IRMapping &mapping : mappings)
    rewriter.clone(op, mapping);
  ofTeam.insert(op.result_begin(), op.result_end());
}

LogicalResult RoleSplit::emitCopy(cta::CopyOp copy) {
  auto acquire = copy.getTile().getDefiningOp<cta::AcquireOp>();
  SmallVector<Value> place(copy.getIndices());
  if (copy.getRowEnd())
    place.push_back(copy.getRowEnd());
  auto ring = acquire.getRing().getDefiningOp<cta::RingOp>();
  bool isEach = ring.getTeams().has_value();
  for (Value value : place)
    if (!isKnown(value) || (!isEach && ofTeam.contains(value)))
      return checkShared(copy, value, "the place of a tile");
  for (IRMapping &mapping :
       MutableArrayRef(mappings).take_front(isEach ? mappings.size() : 1)) {
    rewriter.clone(*acquire, mapping);
    rewriter.clone(*copy, mapping);
  }
  return success();
}

LogicalResult RoleSplit::emitLoop(scf::ForOp loop) {
  if (failed(checkShared(
          loop, {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
          "the range of a loop")))
    return failure();
  IRMapping &mapping = mappings.front();
  auto copy = scf::ForOp::create(rewriter, loop.getLoc(),
                                 mapping.lookupOrDefault(loop.getLowerBound()),
                                 mapping.lookupOrDefault(loop.getUpperBound()),
                                 mapping.lookupOrDefault(loop.getStep()));
  map(loop.getInductionVar(), copy.getInductionVar());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(copy.getBody());
  return emitLoads(*loop.getBody());
}

LogicalResult RoleSplit::emitBranch(scf::IfOp branch) {
  if (failed(checkShared(branch, branch.getCondition(), "a condition")))
    return failure();
  auto copy =
      scf::IfOp::create(rewriter, branch.getLoc(),
                        mappings.front().lookupOrDefault(branch.getCondition()),
                        /*withElseRegion=*/!branch.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(branch->getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&to.front());
    if (failed(emitLoads(from.front())))
      return failure();
  }
  return success();
}

LogicalResult RoleSplit::emitLoads(Operation &op) {
  if (auto copy = dyn_cast<cta::CopyOp>(op))
    return emitCopy(copy);
  if (auto work = dyn_cast<cta::WorkOp>(op))
    return emitWork(work);
  bool hasCopies = op.walk([](cta::CopyOp) {
                       return WalkResult::interrupt();
                     }).wasInterrupted();
  if (!hasCopies) {
    bool isThere = op.getNumResults() > 0 && isKnown(op.getResult(0));
    if (isRepeatable(op) && !isThere)
      cloneScalar(op);
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitLoop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitBranch(branch);
  return op.emitError("copies inside of '")
         << op.getName() << "' cannot go to another role";
}

LogicalResult RoleSplit::emitLoads(Block &block) {
  // 1. What is read from tables takes a while: it begins before the copies,
  // which may have to wait for their stages.
  if (llvm::any_of(block, llvm::IsaPred<memref::LoadOp>))
    for (Operation &op : block.without_terminator())
      if (op.getNumRegions() == 0 && isRepeatable(op))
        cloneScalar(op);

  // 2. The copies, with what else they need.
  for (Operation &op : block.without_terminator())
    if (failed(emitLoads(op)))
      return failure();
  return success();
}

LogicalResult RoleSplit::emitWork(cta::WorkOp work) {
  if (!work.getInits().empty())
    return work.emitError("--specialize-warps divides items that stand alone, "
                          "but these carry values to the next (run it first)");
  Location loc = work.getLoc();
  auto copy = cta::WorkOp::create(rewriter, loc, work.getExtents(),
                                  work.getOrderAttr(), work.getMarked());
  Block &from = work.getBody().front();
  SmallVector<Location> locs(from.getNumArguments(), loc);
  OpBuilder::InsertionGuard guard(rewriter);
  Block *body =
      rewriter.createBlock(&copy.getBody(), {}, from.getArgumentTypes(), locs);
  for (auto [argument, copied] :
       llvm::zip(from.getArguments(), body->getArguments()))
    map(argument, copied);
  rewriter.setInsertionPoint(cta::YieldOp::create(rewriter, loc));
  return emitLoads(from);
}

LogicalResult RoleSplit::buildLoading(int64_t registers) {
  // 1. The role, in front of the other one.
  rewriter.setInsertionPoint(role);
  Location loc = role.getLoc();
  auto loading =
      cta::RoleOp::create(rewriter, loc, "load", /*teams=*/1, kGroupWarps,
                          rewriter.getI64IntegerAttr(registers));
  rewriter.createBlock(&loading.getBody(), {}, {rewriter.getIndexType()},
                       {loc});
  rewriter.setInsertionPoint(cta::YieldOp::create(rewriter, loc));

  // 2. Its program.
  for (auto [team, mapping] : llvm::enumerate(mappings))
    mapping.map(role.getTeam(),
                arith::ConstantIndexOp::create(rewriter, loc, team));
  ofTeam.insert(role.getTeam());
  if (succeeded(emitLoads(role.getBody().front())))
    return success();
  rewriter.eraseOp(loading);
  return failure();
}

//===----------------------------------------------------------------------===//
// The computing role
//===----------------------------------------------------------------------===//

/// What is left of the role when others load.
void RoleSplit::makeComputing(int64_t registers) {
  rewriter.modifyOpInPlace(role, [&] {
    role.setName("compute");
    role.setRegs(registers);
  });
  SmallVector<Operation *> fills;
  role.walk([&](Operation *op) {
    if (isa<cta::AcquireOp, cta::CopyOp>(op))
      fills.push_back(op);
  });
  for (Operation *op : llvm::reverse(fills))
    rewriter.eraseOp(op);
}

LogicalResult RoleSplit::apply(RegisterBudgets budgets) {
  if (failed(stageLoads()) || failed(buildLoading(budgets.load)))
    return failure();
  makeComputing(budgets.compute);
  return success();
}

LogicalResult fa::splitRole(RewriterBase &rewriter, cta::RoleOp role,
                            RegisterBudgets budgets) {
  return RoleSplit(rewriter, role).apply(budgets);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether a tile's rows may end before those of what it is loaded from.
static bool cutsTiles(cta::RoleOp role) {
  auto endsEarly = [](auto load) {
    return load.getRowEnd() &&
           !load.getRowEnd().template getDefiningOp<memref::DimOp>();
  };
  return role
      .walk([&](Operation *op) {
        auto load = dyn_cast<cta::LoadOp>(op);
        auto copy = dyn_cast<cta::CopyOp>(op);
        return (load && endsEarly(load)) || (copy && endsEarly(copy))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct SpecializeWarps : public fa::impl::SpecializeWarpsBase<SpecializeWarps> {
  using Base::Base;

  void runOnOperation() override {
    for (gpu::GPUFuncOp func :
         findKernels(getOperation(), "--specialize-warps"))
      if (!readsNoTile(func) && failed(specialize(func)))
        return signalPassFailure();
  }

private:
  LogicalResult specialize(gpu::GPUFuncOp func) {
    // 1. The one role that loads and computes.
    SmallVector<cta::RoleOp> roles;
    func.walk([&](cta::RoleOp role) { roles.push_back(role); });
    cta::RoleOp role = roles.size() == 1 ? roles.front() : cta::RoleOp();
    auto work =
        role ? dyn_cast<cta::WorkOp>(role->getParentOp()) : cta::WorkOp();
    bool hasWork =
        work || (role && !role.getBody().getOps<cta::WorkOp>().empty());
    bool loads = hasWork && role.walk([](Operation *op) {
                                  return isa<cta::LoadOp, cta::CopyOp>(op)
                                             ? WalkResult::interrupt()
                                             : WalkResult::advance();
                                })
                                .wasInterrupted();
    if (!loads) {
      emitWarning(func.getLoc())
          << "specialize-warps finds no cta.work with one role that loads in '"
          << func.getName() << "'";
      return success();
    }
    if (role.getWarps() != kGroupWarps)
      return role.emitError("registers move between groups of ")
             << kGroupWarps << " warps, but the role's teams have "
             << role.getWarps();

    // 2. What each may have of the registers.
    FailureOr<RegisterBudgets> budgets = chooseBudgets(role);
    if (failed(budgets))
      return failure();

    // 3. The split.
    IRRewriter rewriter(func.getContext());
    int64_t teams = role.getTeams();
    if (work)
      role = putRoleAround(rewriter, work, role);
    if (failed(splitRole(rewriter, role, *budgets)))
      return failure();
    simplify(rewriter, func);
    ++numKernels;
    remarkDecision(func, "specialize-warps", "roles")
        << remark::metric("teams", teams)
        << remark::metric("loadRegs", budgets->load)
        << remark::metric("computeRegs", budgets->compute);
    return success();
  }

  FailureOr<RegisterBudgets> chooseBudgets(cta::RoleOp role) {
    int64_t teams = role.getTeams();
    RegisterBudgets budgets = divideRegisters(teams, cutsTiles(role));
    if (loadRegs != 0)
      budgets.load = loadRegs;
    if (computeRegs != 0)
      budgets.compute = computeRegs;
    int64_t pool = getRegisterPool(teams + 1);
    int64_t asked = budgets.load + teams * budgets.compute;
    if (asked <= pool)
      return budgets;
    return role.emitError("the roles' budgets, ")
           << budgets.load << " and " << teams << " times " << budgets.compute
           << ", are more than the " << pool
           << " registers of a thread of each: setmaxnreg would wait for ever";
  }
};
} // namespace
