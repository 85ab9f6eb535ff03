//===- PassOrder.cpp - Passes refuse an order that cannot work ------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/Transforms/PassOrder.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Support/Remarks.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

/// Where the attention of `function` must go, or come from, for a pass on
/// `level` to find it; "" where no order of passes would help.
static StringRef findRemedy(FunctionOpInterface function, PassLevel level) {
  bool hasWhole = false, hasBlocks = false;
  function->walk([&](Operation *op) {
    hasWhole |= isa<ForwardOp>(op);
    hasBlocks |= isa<InitOp, UpdateOp, MergeOp, FinalizeOp>(op);
  });
  bool isLowered =
      !hasWhole && !hasBlocks && function->hasAttr(kScheduleAttrName);
  if (level == PassLevel::Whole && (hasBlocks || isLowered))
    return "it works on whole attention: run it before --tile";
  if (level == PassLevel::Blocks && hasWhole)
    return "it works on blocks: run --tile first";
  if (level == PassLevel::Blocks && isLowered)
    return "it works on blocks: run it before --online-softmax";
  return "";
}

LogicalResult fa::attn::reportNothingFound(FunctionOpInterface function,
                                           StringRef pass, PassLevel level,
                                           StringRef what) {
  StringRef remedy = findRemedy(function, level);
  if (!remedy.empty())
    return function->emitError("--")
           << pass << " found no " << what << "; " << remedy;
  function->emitWarning("--") << pass << " found no " << what;
  return success();
}

LogicalResult fa::attn::reportObstacle(Operation *op, StringRef pass,
                                       const Obstacle &obstacle) {
  if (obstacle.isOrder)
    return op->emitError("--")
           << pass << " does not apply: " << obstacle.reason;
  op->emitWarning("--") << pass << " does not apply: " << obstacle.reason;
  remarkMissed(op, pass, "fold") << remark::reason("{0}", obstacle.reason);
  return success();
}
