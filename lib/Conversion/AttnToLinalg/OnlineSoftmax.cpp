//===- OnlineSoftmax.cpp - The pass --online-softmax -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"
#include "fa/Dialect/Attn/Transforms/PassOrder.h"

#include "fa/Dialect/Attn/Transforms/Transforms.h"
#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
    std::optional<Rescale> policy = choosePolicy();
    IRRewriter rewriter(&getContext());
    if (!policy ||
        (*policy == Rescale::FirstMax && failed(addExactFolds(rewriter))))
      return signalPassFailure();
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (isa<attn::InitOp, attn::UpdateOp, attn::MergeOp, attn::FinalizeOp,
              attn::BlockListOp>(op))
        ops.push_back(op);
    });
    bool hasWhole =
        function.walk([](attn::ForwardOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if ((ops.empty() || hasWhole) &&
        failed(attn::reportNothingFound(function, "online-softmax",
                                        attn::PassLevel::Blocks,
                                        "attention on tiles")))
      return signalPassFailure();
    for (Operation *op : ops)
      if (failed(lower(rewriter, op, *policy)))
        return signalPassFailure();
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
  }

private:
  /// The option, else the schedule's choice, else always; nothing after a
  /// diagnostic. What the option overrules is changed in the schedule too.
  std::optional<Rescale> choosePolicy() {
    func::FuncOp function = getOperation();
    std::optional<Schedule> schedule = attn::getSchedule(function);
    if (rescale.empty()) {
      if (!schedule)
        return report(Rescale::Always, "the default: no option, no schedule");
      return report(schedule->rescale, "the schedule's");
    }
    std::optional<Rescale> policy = parseRescale(rescale);
    if (!policy) {
      function.emitError("unknown rescale policy '")
          << rescale << "', expected always, lazy or first-max";
      return std::nullopt;
    }
    if (schedule) {
      schedule->rescale = *policy;
      attn::setSchedule(function, *schedule);
    }
    return report(*policy, "the option's");
  }

  /// `policy`, after a remark that it was chosen, and why.
  Rescale report(Rescale policy, const char *why) {
    remarkDecision(getOperation(), "online-softmax", "rescale")
        << remark::metric("policy", nameRescale(policy))
        << remark::reason("{0}", why);
    return policy;
  }

  /// Adds the exact folds of `first-max`. What is left out of `checked` is
  /// rescaled always.
  LogicalResult addExactFolds(RewriterBase &rewriter) {
    SmallVector<attn::FinalizeOp> finalizes;
    getOperation().walk([&](attn::FinalizeOp op) { finalizes.push_back(op); });
    for (attn::FinalizeOp finalize : finalizes) {
      FailureOr<SmallVector<attn::UpdateOp>> updates =
          addExactFold(rewriter, finalize);
      if (failed(updates))
        return failure();
      checked.insert(updates->begin(), updates->end());
    }
    return success();
  }

  LogicalResult lower(RewriterBase &rewriter, Operation *op, Rescale policy) {
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
    if (auto list = dyn_cast<attn::BlockListOp>(op)) {
      lowerBlockList(rewriter, list);
      return success();
    }
    ++numUpdates;
    auto update = cast<attn::UpdateOp>(op);
    if (policy == Rescale::FirstMax && !checked.contains(update))
      policy = Rescale::Always;
    return lowerUpdate(rewriter, update, policy);
  }

  /// Updates behind which a check stands.
  llvm::DenseSet<attn::UpdateOp> checked;
};
} // namespace
