//===- TrimTeams.cpp - A team ends where its own rows see no more ---------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread block's loop over partly hidden blocks ends with the last block that
// any of its rows sees. Each team computes as far as its own rows see; the
// stages that are filled after that it only gives back.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/Conjuncts.h"
#include "fa/Support/GpuModules.h"
#include "fa/Support/Remarks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_TRIMTEAMS
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

//===----------------------------------------------------------------------===//
// How far a team's last row sees
//===----------------------------------------------------------------------===//

namespace {
/// Copies what a loop computes from values of outside to in front of it.
class Hoister {
public:
  Hoister(ImplicitLocOpBuilder &b, scf::ForOp loop) : b(b), loop(loop) {}

  /// `value` in front of the loop; fails where it differs from round to round.
  FailureOr<Value> hoist(Value value);
  /// What a vector of limits, one for each row, has for the last row. The
  /// limits must not fall from row to row.
  FailureOr<Value> hoistLast(Value limits);

private:
  FailureOr<Value> hoistLastOf(Operation *op);

  ImplicitLocOpBuilder &b;
  scf::ForOp loop;
  IRMapping mapping;
};
} // namespace

FailureOr<Value> Hoister::hoist(Value value) {
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return value;
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return failure();
  for (Value operand : op->getOperands()) {
    FailureOr<Value> outside = hoist(operand);
    if (failed(outside))
      return failure();
    mapping.map(operand, *outside);
  }
  b.clone(*op, mapping);
  return mapping.lookup(value);
}

FailureOr<Value> Hoister::hoistLast(Value limits) {
  if (!isa<VectorType>(limits.getType()))
    return hoist(limits);
  SplatElementsAttr splat;
  if (matchPattern(limits, m_Constant(&splat)))
    return arith::ConstantOp::create(b, splat.getSplatValue<TypedAttr>())
        .getResult();
  if (Operation *op = limits.getDefiningOp())
    return hoistLastOf(op);
  return failure();
}

FailureOr<Value> Hoister::hoistLastOf(Operation *op) {
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return hoistLast(broadcast.getSource());
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op))
    return hoistLast(cast.getSource());
  if (auto row = dyn_cast<cta::RowOp>(op)) {
    FailureOr<Value> base = hoist(row.getBase());
    if (failed(base))
      return failure();
    int64_t rows = cast<VectorType>(row.getType()).getDimSize(0);
    Value last = arith::ConstantIntOp::create(b, rows - 1, 32);
    return arith::AddIOp::create(b, *base, last).getResult();
  }
  // These do not fall where their operands do not.
  if (!isa<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return failure();
  FailureOr<Value> lhs = hoistLast(op->getOperand(0));
  FailureOr<Value> rhs = hoistLast(op->getOperand(1));
  if (failed(lhs) || failed(rhs))
    return failure();
  OperationState state(op->getLoc(), op->getName());
  state.addOperands({*lhs, *rhs});
  state.addTypes((*lhs).getType());
  return b.create(state)->getResult(0);
}

/// Whether `value` is the number of each element's column in a block that
/// begins at the loop's induction variable.
static bool isColumn(Value value, scf::ForOp loop) {
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    value = broadcast.getSource();
  auto column = value.getDefiningOp<cta::ColOp>();
  if (!column)
    return false;
  auto base = column.getBase().getDefiningOp<arith::IndexCastOp>();
  return base && base.getIn() == loop.getInductionVar();
}

/// The selection of the scores that `loop` does not hide; null if it has none.
static arith::SelectOp findVisible(scf::ForOp loop) {
  for (auto select : loop.getBody()->getOps<arith::SelectOp>()) {
    auto type = dyn_cast<VectorType>(select.getType());
    if (type && type.getRank() == 2 &&
        matchPattern(select.getFalseValue(), m_NegInfFloat()))
      return select;
  }
  return {};
}

/// `hoistLast` in front of `loop`, where `b` builds; nothing is left behind
/// where it fails.
static FailureOr<Value> buildLast(ImplicitLocOpBuilder &b, scf::ForOp loop,
                                  Value limits) {
  Operation *place = &*b.getInsertionPoint();
  Operation *before = place->getPrevNode();
  FailureOr<Value> last = Hoister(b, loop).hoistLast(limits);
  while (failed(last) && place->getPrevNode() != before)
    place->getPrevNode()->erase();
  return last;
}

/// The number of the first key, counted from 0, that no row of the team sees,
/// in front of `loop`: of a mask that is "column <= limit" and what else hides.
static FailureOr<Value> buildVisibleEnd(ImplicitLocOpBuilder &b,
                                        scf::ForOp loop,
                                        arith::SelectOp select) {
  SmallVector<Value> conditions;
  collectConjuncts(select.getCondition(), conditions);
  for (Value condition : conditions) {
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    if (!compare || !isColumn(compare.getLhs(), loop))
      continue;
    const bool isClosed = compare.getPredicate() == arith::CmpIPredicate::sle;
    if (!isClosed && compare.getPredicate() != arith::CmpIPredicate::slt)
      continue;
    FailureOr<Value> last = buildLast(b, loop, compare.getRhs());
    if (failed(last))
      continue;
    Value end = arith::IndexCastOp::create(b, b.getIndexType(), *last);
    if (!isClosed)
      return end;
    Value one = arith::ConstantIndexOp::create(b, 1);
    return arith::AddIOp::create(b, end, one).getResult();
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// Trimming
//===----------------------------------------------------------------------===//

/// What the loop's body waits for, in its order; fails if the body does more
/// than products and arithmetic with it.
static FailureOr<SmallVector<cta::ConsumeOp>> findConsumed(scf::ForOp loop) {
  SmallVector<cta::ConsumeOp> consumed;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto consume = dyn_cast<cta::ConsumeOp>(op))
      consumed.push_back(consume);
    else if (!isa<cta::ReleaseOp, cta::MmaOp, cta::WaitOp, cta::IfAnyOp,
                  cta::LookupOp, cta::ReadOp>(op) &&
             !isMemoryEffectFree(&op))
      return failure();
  }
  if (consumed.empty())
    return failure();
  return consumed;
}

/// The end of the blocks of `loop` of which a row of the team sees a key; of
/// one block at least, if there is any, so that all teams begin with the same.
static Value buildTeamEnd(ImplicitLocOpBuilder &b, scf::ForOp loop,
                          Value visibleEnd) {
  Value begin = loop.getLowerBound(), step = loop.getStep();
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value keys = arith::SubIOp::create(b, visibleEnd, begin);
  keys = arith::MaxSIOp::create(b, keys, one);
  Value blocks = arith::CeilDivUIOp::create(b, keys, step);
  Value end =
      arith::AddIOp::create(b, begin, arith::MulIOp::create(b, blocks, step));
  return arith::MinSIOp::create(b, end, loop.getUpperBound());
}

/// Gives back, behind `loop`, the stages of the blocks from its end to `end`.
static void buildDrain(RewriterBase &rewriter, scf::ForOp loop,
                       ArrayRef<cta::ConsumeOp> consumed, Value end) {
  Operation *after = loop->getNextNode();
  while (isa<cta::ReleaseOp>(after))
    after = after->getNextNode();
  rewriter.setInsertionPoint(after);
  auto drain = scf::ForOp::create(rewriter, loop.getLoc(), loop.getUpperBound(),
                                  end, loop.getStep());
  rewriter.setInsertionPointToStart(drain.getBody());
  for (cta::ConsumeOp consume : consumed) {
    auto stage = cast<cta::ConsumeOp>(rewriter.clone(*consume));
    cta::ReleaseOp::create(rewriter, consume.getLoc(), stage.getTile());
  }
}

/// The operation in front of which the range of `loop` is built: the first loop
/// of its block that both bounds are known at, since loops that follow one
/// another may be made one pipeline.
static Operation *findPlace(scf::ForOp loop) {
  DominanceInfo dominance;
  for (scf::ForOp other : loop->getBlock()->getOps<scf::ForOp>())
    if (dominance.properlyDominates(loop.getLowerBound(), other) &&
        dominance.properlyDominates(loop.getUpperBound(), other))
      return other;
  return loop;
}

bool fa::trimTeams(RewriterBase &rewriter, scf::ForOp loop, int64_t teams) {
  arith::SelectOp visible = findVisible(loop);
  FailureOr<SmallVector<cta::ConsumeOp>> consumed = findConsumed(loop);
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!visible || failed(consumed) || !step)
    return false;
  // Where blocks hold as many keys as the thread block has rows, or a multiple,
  // a row of each team sees a key of the last one.
  int64_t rows = cast<VectorType>(visible.getType()).getDimSize(0) * teams;
  if (*step % rows == 0)
    return false;
  ImplicitLocOpBuilder b(loop.getLoc(), findPlace(loop));
  FailureOr<Value> visibleEnd = buildVisibleEnd(b, loop, visible);
  if (failed(visibleEnd))
    return false;
  Value end = loop.getUpperBound();
  Value teamEnd = buildTeamEnd(b, loop, *visibleEnd);
  rewriter.modifyOpInPlace(
      loop, [&] { loop.getUpperBoundMutable().assign(teamEnd); });
  buildDrain(rewriter, loop, *consumed, end);
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct TrimTeams : public fa::impl::TrimTeamsBase<TrimTeams> {
  using Base::Base;

  void runOnOperation() override {
    for (gpu::GPUFuncOp func : findKernels(getOperation(), "--trim-teams"))
      if (!readsNoTile(func))
        trim(func);
  }

private:
  void trim(gpu::GPUFuncOp func) {
    IRRewriter rewriter(func.getContext());
    int64_t found = 0;
    func.walk([&](cta::RoleOp role) {
      if (role.getTeams() == 1)
        return;
      SmallVector<scf::ForOp> loops;
      role.walk([&](scf::ForOp loop) {
        if (loop->hasAttr(cta::kPartialAttr))
          loops.push_back(loop);
      });
      for (scf::ForOp loop : loops)
        found += trimTeams(rewriter, loop, role.getTeams());
    });
    numLoops += found;
    if (found == 0)
      remarkMissed(func, "trim-teams", "blocks")
          << remark::reason("all teams see as far as their thread block");
    else
      remarkDecision(func, "trim-teams", "blocks")
          << remark::metric("loops", found);
  }
};
} // namespace
