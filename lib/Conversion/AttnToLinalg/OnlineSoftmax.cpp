//===- OnlineSoftmax.cpp - The pass --online-softmax -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace fa;

namespace fa {
#define GEN_PASS_DEF_ONLINESOFTMAX
#include "fa/Conversion/AttnToLinalg/Passes.h.inc"
} // namespace fa

namespace {
struct OnlineSoftmaxPass
    : public fa::impl::OnlineSoftmaxBase<OnlineSoftmaxPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (rescale != "always") {
      function.emitError("unknown rescale policy '")
          << rescale << "', expected always";
      return signalPassFailure();
    }
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (isa<attn::InitOp, attn::UpdateOp, attn::MergeOp, attn::FinalizeOp>(
              op))
        ops.push_back(op);
      else if (isa<attn::ForwardOp>(op))
        op->emitWarning("--online-softmax leaves whole attention alone: run "
                        "--tile first");
    });
    if (ops.empty())
      function.emitWarning("--online-softmax found no attention on tiles");
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops)
      if (failed(lower(rewriter, op)))
        return signalPassFailure();
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
  }

private:
  LogicalResult lower(RewriterBase &rewriter, Operation *op) {
    if (auto init = dyn_cast<attn::InitOp>(op)) {
      lowerInit(rewriter, init);
      return success();
    }
    if (auto merge = dyn_cast<attn::MergeOp>(op)) {
      lowerMerge(rewriter, merge);
      return success();
    }
    if (auto finalize = dyn_cast<attn::FinalizeOp>(op)) {
      lowerFinalize(rewriter, finalize);
      return success();
    }
    ++numUpdates;
    return lowerUpdate(rewriter, cast<attn::UpdateOp>(op));
  }
};
} // namespace
