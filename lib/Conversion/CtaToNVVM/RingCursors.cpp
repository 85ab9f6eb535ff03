//===- RingCursors.cpp - Where the sides of rings are ---------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RingCursors.h"
#include "Builders.h"

using namespace mlir;
using namespace fa;

namespace {
/// The stage or the parity of a side's cursor.
using CursorPart = std::pair<Side, Value Cursor::*>;
} // namespace

/// The constant that names the team of `acquire`; 0 where its ring is all
/// teams'.
static int64_t getTeam(cta::AcquireOp acquire) {
  return acquire.getTeam() ? *getConstantIntValue(acquire.getTeam()) : 0;
}

std::optional<Side> fa::getSide(Operation *op) {
  if (auto acquire = dyn_cast<cta::AcquireOp>(op))
    return Side(acquire.getRing().getDefiningOp(), getTeam(acquire), 1);
  if (auto consume = dyn_cast<cta::ConsumeOp>(op))
    return Side(consume.getRing().getDefiningOp(), 0, 0);
  if (isa<cta::LoadOp>(op))
    return Side(op, 0, 0);
  return std::nullopt;
}

SmallVector<Side> fa::findMoved(Operation *op) {
  llvm::SetVector<Side> sides;
  op->walk([&](Operation *inner) {
    if (std::optional<Side> side = getSide(inner))
      sides.insert(*side);
  });
  return sides.takeVector();
}

Cursor fa::advance(ImplicitLocOpBuilder &b, Cursor cursor, int64_t stages) {
  I32Builder i{b};
  auto flip = [&](Value by) {
    return b.createOrFold<arith::XOrIOp>(cursor.parity, by);
  };
  if (stages == 1)
    return {cursor.stage, flip(i.constant(1))};
  if (stages == 2)
    return {b.createOrFold<arith::XOrIOp>(cursor.stage, i.constant(1)),
            flip(cursor.stage)};
  Value next = i.add(cursor.stage, 1);
  Value wraps = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, next,
                                              i.constant(stages));
  return {b.createOrFold<arith::SelectOp>(wraps, i.constant(0), next),
          b.createOrFold<arith::SelectOp>(wraps, flip(i.constant(1)),
                                          cursor.parity)};
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// How far the operations of `block` advance `side`, modulo `modulus`; none
/// where that depends on the way through it.
static std::optional<int64_t> countAdvances(Block &block, const Side &side,
                                            int64_t modulus) {
  int64_t count = 0;
  for (Operation &op : block) {
    if (getSide(&op) == side)
      ++count;
    std::optional<int64_t> inner;
    for (Region &region : op.getRegions()) {
      std::optional<int64_t> branch =
          region.empty() ? 0 : countAdvances(region.front(), side, modulus);
      if (!branch || (inner && *inner != *branch))
        return std::nullopt;
      inner = branch;
    }
    // A loop may run any number of times.
    if (isa<LoopLikeOpInterface>(op) && inner.value_or(0))
      return std::nullopt;
    count += inner.value_or(0);
  }
  return count % modulus;
}

/// What of the cursors `loop`, whose round is `body`, must carry.
static SmallVector<CursorPart> findCarried(Operation *loop, Block &body,
                                           const HopperKernel &kernel) {
  SmallVector<CursorPart> carried;
  for (const Side &side : findMoved(loop)) {
    int64_t stages = kernel.stagings.find(std::get<0>(side))->second.stages;
    auto returns = [&](int64_t modulus) {
      return countAdvances(body, side, modulus) == 0;
    };
    if (stages > 1 && !returns(stages))
      carried.push_back({side, &Cursor::stage});
    if (!returns(2 * stages))
      carried.push_back({side, &Cursor::parity});
  }
  return carried;
}

void fa::carryThroughLoop(RewriterBase &rewriter, scf::ForOp loop,
                          const HopperKernel &kernel, Cursors &cursors,
                          BlockExpander expand) {
  SmallVector<CursorPart> carried = findCarried(loop, *loop.getBody(), kernel);
  SmallVector<Value> inits;
  for (auto [side, part] : carried)
    inits.push_back(cursors[side].*part);
  auto yieldSame = [](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
    return SmallVector<Value>(args);
  };
  size_t first = loop.getNumResults();
  if (!carried.empty())
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, yieldSame));
  Cursors inside = cursors;
  for (auto [n, part] : llvm::enumerate(carried))
    inside[part.first].*part.second = loop.getRegionIterArg(first + n);
  expand(*loop.getBody(), inside);
  for (auto [n, part] : llvm::enumerate(carried)) {
    loop.getBody()->getTerminator()->setOperand(first + n, inside[part.first].*
                                                               part.second);
    cursors[part.first].*part.second = loop.getResult(first + n);
  }
}

/// Makes `loop` again with `inits` carried behind what it carries already; its
/// second region does not yield them yet.
static scf::WhileOp growWhile(RewriterBase &rewriter, scf::WhileOp loop,
                              ValueRange inits) {
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> operands(loop.getInits());
  llvm::append_range(operands, inits);
  SmallVector<Type> results(loop.getResultTypes());
  llvm::append_range(results, inits.getTypes());
  auto grown = scf::WhileOp::create(rewriter, loop.getLoc(), results, operands);
  grown.getBefore().takeBody(loop.getBefore());
  grown.getAfter().takeBody(loop.getAfter());
  for (Value init : inits) {
    Value argument =
        grown.getBeforeBody()->addArgument(init.getType(), loop.getLoc());
    grown.getAfterBody()->addArgument(init.getType(), loop.getLoc());
    grown.getConditionOp().getArgsMutable().append(argument);
  }
  rewriter.replaceOp(loop, grown.getResults().take_front(loop.getNumResults()));
  return grown;
}

void fa::carryThroughWhile(RewriterBase &rewriter, scf::WhileOp loop,
                           const HopperKernel &kernel, Cursors &cursors,
                           BlockExpander expand) {
  SmallVector<CursorPart> carried =
      findCarried(loop, *loop.getAfterBody(), kernel);
  SmallVector<Value> inits;
  for (auto [side, part] : carried)
    inits.push_back(cursors[side].*part);
  size_t first = loop.getNumResults();
  loop = growWhile(rewriter, loop, inits);
  Cursors inside = cursors;
  for (auto [n, part] : llvm::enumerate(carried))
    inside[part.first].*part.second =
        loop.getAfterBody()->getArgument(first + n);
  expand(*loop.getAfterBody(), inside);
  Operation *yield = loop.getYieldOp();
  for (auto [n, part] : llvm::enumerate(carried)) {
    yield->insertOperands(yield->getNumOperands(),
                          inside[part.first].*part.second);
    cursors[part.first].*part.second = loop.getResult(first + n);
  }
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

void fa::carryThroughBranch(RewriterBase &rewriter, Operation *op,
                            Cursors &cursors, BlockExpander expand) {
  // 1. Both ways, each from the same cursors.
  Cursors before = cursors;
  SmallVector<Cursors> after;
  for (Region &region : op->getRegions()) {
    after.push_back(before);
    if (!region.empty())
      expand(region.front(), after.back());
  }
  // 2. Where they end differently, the branch yields how.
  SmallVector<CursorPart> yielded;
  SmallVector<Value> unchanged;
  rewriter.setInsertionPoint(op);
  for (auto &[side, cursor] : cursors)
    for (Value Cursor::*part : {&Cursor::stage, &Cursor::parity}) {
      Value left = after[0][side].*part, right = after[1][side].*part;
      std::optional<int64_t> known = getConstantIntValue(left);
      if (left == right)
        continue;
      if (known && known == getConstantIntValue(right)) {
        cursor.*part = arith::ConstantIntOp::create(
            rewriter, op->getLoc(), rewriter.getI32Type(), *known);
        continue;
      }
      yielded.push_back({side, part});
      unchanged.push_back(before[side].*part);
    }
  if (yielded.empty())
    return;
  for (auto [region, ends] : llvm::zip(op->getRegions(), after)) {
    if (region.empty())
      continue;
    Operation *yield = region.front().getTerminator();
    for (auto [side, part] : yielded)
      yield->insertOperands(yield->getNumOperands(), ends[side].*part);
  }
  size_t first = op->getNumResults();
  Operation *branch = growBranch(rewriter, op, unchanged);
  for (auto [n, part] : llvm::enumerate(yielded))
    cursors[part.first].*part.second = branch->getResult(first + n);
}
