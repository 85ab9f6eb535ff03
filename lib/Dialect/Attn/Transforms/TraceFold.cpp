//===- TraceFold.cpp - Following the state of a fold -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fa::attn;

/// One step back from a state value to the value it was made from, or null
/// where there is no single one. Loops are entered at their yield and left at
/// their init.
static Value previousState(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<LoopLikeOpInterface>(arg.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(arg) : nullptr;
    return init ? init->get() : Value();
  }
  Operation *op = value.getDefiningOp();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return insert.getSource();
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
    return extract.getSource();
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return pad.getSource();
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return cast.getSource();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loop.getYieldedValues()[cast<OpResult>(value).getResultNumber()];
  return {};
}

FailureOr<Fold> fa::attn::traceFold(FinalizeOp finalize) {
  Fold fold;
  fold.finalize = finalize;
  Value state = finalize.getAcc();
  while (state) {
    if (auto init = state.getDefiningOp<InitOp>()) {
      fold.init = init;
      return fold;
    }
    if (auto update = state.getDefiningOp<UpdateOp>()) {
      // A loop whose body has no update of its own leads back here.
      if (llvm::is_contained(fold.updates, update))
        return failure();
      fold.updates.push_back(update);
      state = update.getAccInit();
      continue;
    }
    state = previousState(state);
  }
  return failure();
}
