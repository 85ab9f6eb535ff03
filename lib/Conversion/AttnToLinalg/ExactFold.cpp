//===- ExactFold.cpp - A check behind a fold, and an exact copy -----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RescalePolicies.h"

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"
#include "fa/Support/Remarks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fa;

/// The ops between `init` and `finalize`, which share a block, that the state
/// goes through.
static SmallVector<Operation *> findNest(attn::InitOp init,
                                         attn::FinalizeOp finalize) {
  llvm::SmallDenseSet<Value> state(init->result_begin(), init->result_end());
  SmallVector<Operation *> nest;
  for (Operation *op = init->getNextNode(); op != finalize;
       op = op->getNextNode()) {
    auto uses = [&](Operation *nested) {
      return llvm::any_of(nested->getOperands(),
                          [&](Value value) { return state.contains(value); });
    };
    bool usesState = op->walk([&](Operation *nested) {
                         return uses(nested) ? WalkResult::interrupt()
                                             : WalkResult::advance();
                       }).wasInterrupted();
    if (!usesState)
      continue;
    nest.push_back(op);
    state.insert(op->result_begin(), op->result_end());
  }
  return nest;
}

/// Builds the fold once more, from an empty state. Its tensors are those of the
/// state that is given up, where their types allow.
static void buildExactFold(OpBuilder &builder, Location loc, attn::InitOp init,
                           ArrayRef<Operation *> nest, ValueRange state) {
  SmallVector<Value> targets(init.getOperands());
  if (llvm::equal(state.getTypes(), init->getOperandTypes()))
    targets.assign(state.begin(), state.end());
  auto empty =
      attn::InitOp::create(builder, loc, targets[0], targets[1], targets[2]);
  IRMapping mapping;
  mapping.map(init->getResults(), empty->getResults());
  for (Operation *op : nest)
    builder.clone(*op, mapping);
  SmallVector<Value> results = llvm::map_to_vector(
      state, [&](Value value) { return mapping.lookupOrDefault(value); });
  scf::YieldOp::create(builder, loc, results);
}

FailureOr<SmallVector<attn::UpdateOp>>
fa::addExactFold(RewriterBase &rewriter, attn::FinalizeOp finalize) {
  // 1. The fold, from its init on.
  FailureOr<attn::Fold> fold = attn::traceFold(finalize);
  if (failed(fold))
    return finalize.emitOpError("rescale=first-max repeats a fold from its "
                                "attn.init on; the state is none that updates "
                                "in loops and slices alone have made, as after "
                                "--split-kv");
  if (fold->init->getBlock() != finalize->getBlock())
    return finalize.emitOpError("rescale=first-max repeats a fold from its "
                                "attn.init on, which must be in the block of "
                                "the attn.finalize");
  if (fold->updates.empty())
    return SmallVector<attn::UpdateOp>();
  SmallVector<Operation *> nest = findNest(fold->init, finalize);

  // 2. Whether every p of every row was in range: no sum is over the bound, nor
  //    NaN.
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(finalize);
  Location loc = finalize.getLoc();
  GenericBuilder b(rewriter, loc);
  Type element = fold->updates.front().getV().getType().getElementType();
  double bound = getFirstMaxBound(element);
  Value ok = allOf(b, finalize.getSum(), [&](GenericBuilder &in, Value sum) {
    return in.atMost(sum, in.f32(bound));
  });

  // 3. The state that was found, or the exact one.
  SmallVector<Value> state{finalize.getAcc(), finalize.getMax(),
                           finalize.getSum()};
  auto branch = scf::IfOp::create(
      rewriter, loc, ok,
      [&](OpBuilder &builder, Location loc) {
        scf::YieldOp::create(builder, loc, state);
      },
      [&](OpBuilder &builder, Location loc) {
        buildExactFold(builder, loc, fold->init, nest, state);
      });
  rewriter.modifyOpInPlace(finalize, [&] {
    finalize.getAccMutable().assign(branch.getResult(0));
    finalize.getMaxMutable().assign(branch.getResult(1));
    finalize.getSumMutable().assign(branch.getResult(2));
  });
  remarkDecision(finalize, "online-softmax", "exact fold")
      << remark::metric("bound", bound)
      << remark::reason("a row whose sum is above it may have overflowed");
  return fold->updates;
}
