//===- PingPong.cpp - Teams take turns on the tensor cores ----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Team w waits at barrier w for its turn, which team w - 1 gives it. The first
// turn is team 0's: the last team gives it before all work. The turn that it
// gives at the end is taken by team 0 after all work, so that every barrier is
// closed then. This holds for any number of turns, as long as all teams have
// the same number.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/GpuModules.h"
#include "fa/Support/Remarks.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_PINGPONG
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

namespace {
/// Products that are started one after the other, without a wait between them.
struct Turn {
  cta::MmaOp first, last;
};
} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// The turns in a loop's own body.
static SmallVector<Turn> findTurns(scf::ForOp loop) {
  SmallVector<Turn> turns;
  bool isOpen = false;
  for (Operation &op : *loop.getBody()) {
    if (isa<cta::WaitOp>(op) || op.getNumRegions() != 0)
      isOpen = false;
    auto product = dyn_cast<cta::MmaOp>(op);
    if (!product)
      continue;
    if (!isOpen)
      turns.push_back({product, product});
    turns.back().last = product;
    isOpen = true;
  }
  return turns;
}

/// Whether `value` is made from `team`, inside of `role`. Results of loops and
/// branches, and what loops carry, count as made from all that is inside.
static bool dependsOn(Value value, Value team, cta::RoleOp role,
                      DenseSet<Value> &seen) {
  if (value == team)
    return true;
  if (!role.getBody().isAncestor(value.getParentRegion()) ||
      !seen.insert(value).second)
    return false;
  auto anyDepends = [&](ValueRange operands) {
    return llvm::any_of(operands, [&](Value operand) {
      return dependsOn(operand, team, role, seen);
    });
  };
  Operation *op = value.getDefiningOp();
  if (!op)
    op = value.getParentBlock()->getParentOp();
  auto work = dyn_cast<cta::WorkOp>(op);
  if (work && llvm::is_contained(work.getCoordinates(), value))
    return false;
  auto loop = dyn_cast<scf::ForOp>(op);
  if (loop && value == loop.getInductionVar())
    return anyDepends(
        {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  return op
      ->walk([&](Operation *inner) {
        return anyDepends(inner->getOperands()) ? WalkResult::interrupt()
                                                : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The loop without products that goes through the blocks that `loop` leaves to
/// other teams (--trim-teams): both together have as many rounds as those have
/// in theirs. Null if there is none.
static scf::ForOp findDrain(scf::ForOp loop) {
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
    auto drain = dyn_cast<scf::ForOp>(op);
    if (drain && drain.getLowerBound() == loop.getUpperBound() &&
        drain.getStep() == loop.getStep() && findTurns(drain).empty())
      return drain;
  }
  return {};
}

/// Why teams may come to `loop` or through it a different number of times; null
/// where they do not. The rounds of `drain` count as those of `loop`.
static const char *findDifference(scf::ForOp loop, scf::ForOp drain,
                                  cta::RoleOp role) {
  for (Operation *op = loop; op != role; op = op->getParentOp()) {
    SmallVector<Value> decisive;
    if (auto around = dyn_cast<scf::ForOp>(op))
      decisive = {around.getLowerBound(),
                  op == loop && drain ? drain.getUpperBound()
                                      : around.getUpperBound(),
                  around.getStep()};
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      decisive = {branch.getCondition()};
    else if (!isa<cta::WorkOp>(op))
      return "it stands in a branch that each team takes for itself";
    DenseSet<Value> seen;
    for (Value value : decisive)
      if (dependsOn(value, role.getTeam(), role, seen))
        return "how often it runs differs from team to team";
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

/// `if (team == which) { make(turn[0]) }`.
template <typename Op>
static void buildForTeam(RewriterBase &rewriter, Location loc, Value team,
                         int64_t which, Value turn) {
  Value number = arith::ConstantIndexOp::create(rewriter, loc, which);
  Value isIt = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                     team, number);
  auto branch = scf::IfOp::create(rewriter, loc, isIt,
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Op::create(rewriter, loc, turn, zero);
}

/// `drains`: loops whose rounds only pass the turn on.
static void buildTurns(RewriterBase &rewriter, cta::RoleOp role,
                       ArrayRef<Turn> turns, ArrayRef<scf::ForOp> drains) {
  Location loc = role.getLoc();
  int64_t teams = role.getTeams();
  auto func = role->getParentOfType<gpu::GPUFuncOp>();
  rewriter.setInsertionPointToStart(&func.getBody().front());
  Value turn = cta::BarrierOp::create(
      rewriter, loc, cta::BarrierType::get(rewriter.getContext(), teams));

  // 1. The first turn, and who comes after whom.
  Block &body = role.getBody().front();
  Value team = role.getTeam();
  rewriter.setInsertionPointToStart(&body);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value count = arith::ConstantIndexOp::create(rewriter, loc, teams);
  Value after = arith::AddIOp::create(rewriter, loc, team, one);
  Value next = arith::RemUIOp::create(rewriter, loc, after, count);
  buildForTeam<cta::ArriveOp>(rewriter, loc, team, teams - 1, turn);

  // 2. The turns.
  for (Turn one : turns) {
    rewriter.setInsertionPoint(one.first);
    cta::SyncOp::create(rewriter, one.first.getLoc(), turn, team);
    rewriter.setInsertionPointAfter(one.last);
    cta::ArriveOp::create(rewriter, one.last.getLoc(), turn, next);
  }

  for (scf::ForOp drain : drains) {
    rewriter.setInsertionPointToStart(drain.getBody());
    cta::SyncOp::create(rewriter, drain.getLoc(), turn, team);
    cta::ArriveOp::create(rewriter, drain.getLoc(), turn, next);
  }

  // 3. The turn that is left.
  rewriter.setInsertionPoint(body.getTerminator());
  buildForTeam<cta::SyncOp>(rewriter, loc, team, 0, turn);
}

FailureOr<int64_t> fa::takeTurns(RewriterBase &rewriter, cta::RoleOp role,
                                 std::string &reason) {
  SmallVector<Turn> turns;
  SmallVector<scf::ForOp> drains;
  bool hasTurns = false;
  WalkResult result = role.walk([&](Operation *op) {
    hasTurns |= isa<cta::SyncOp>(op);
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return WalkResult::advance();
    SmallVector<Turn> found = findTurns(loop);
    if (found.empty())
      return WalkResult::advance();
    scf::ForOp drain = findDrain(loop);
    if (drain && found.size() > 1) {
      reason = "rounds of several turns are left to other teams";
      return WalkResult::interrupt();
    }
    if (const char *difference = findDifference(loop, drain, role)) {
      reason = difference;
      return WalkResult::interrupt();
    }
    llvm::append_range(turns, found);
    if (drain)
      drains.push_back(drain);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (hasTurns) {
    reason = "its teams wait for one another already";
    return failure();
  }
  if (!turns.empty())
    buildTurns(rewriter, role, turns, drains);
  return turns.size();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct PingPong : public fa::impl::PingPongBase<PingPong> {
  using Base::Base;

  void runOnOperation() override {
    for (gpu::GPUFuncOp func : findKernels(getOperation(), "--ping-pong"))
      if (!readsNoTile(func))
        takeTurns(func);
  }

private:
  void takeTurns(gpu::GPUFuncOp func) {
    // A role that is started anew for each work item has no place outside of
    // the items: its turns begin and end with each of them.
    SmallVector<cta::RoleOp> roles;
    func.walk([&](cta::RoleOp role) {
      if (role.getTeams() > 1)
        roles.push_back(role);
    });
    IRRewriter rewriter(func.getContext());
    int64_t found = 0;
    for (cta::RoleOp role : roles) {
      std::string reason;
      FailureOr<int64_t> turns = fa::takeTurns(rewriter, role, reason);
      if (failed(turns)) {
        emitWarning(role.getLoc())
            << "ping-pong leaves role \"" << role.getName() << "\": " << reason;
        return;
      }
      found += *turns;
      if (*turns > 0)
        remarkDecision(role, "ping-pong", "turns")
            << remark::metric("teams", role.getTeams())
            << remark::metric("turns", *turns);
    }
    numTurns += found;
    if (found == 0)
      emitWarning(func.getLoc())
          << "ping-pong finds no loop with products of two teams or more in '"
          << func.getName() << "'";
  }
};
} // namespace
