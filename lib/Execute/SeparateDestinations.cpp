//===- SeparateDestinations.cpp - A tensor of its own for each result -----===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CSE makes one tensor.empty of those of one shape, and so one tensor may be
// the destination of several results of one op. Upstream's bufferization then
// gives them one buffer where the op is a scf.forall inside another one.
//
//===----------------------------------------------------------------------===//

#include "CPUPasses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

/// Leaves each empty tensor one place among the operands of `op`.
static void separateOperands(Operation *op) {
  llvm::SmallPtrSet<Operation *, 4> seen;
  for (OpOperand &operand : op->getOpOperands()) {
    auto empty = operand.get().getDefiningOp<tensor::EmptyOp>();
    if (empty && !seen.insert(empty).second)
      operand.set(OpBuilder(empty).clone(*empty)->getResult(0));
  }
}

namespace {
struct SeparateDestinations
    : public PassWrapper<SeparateDestinations, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SeparateDestinations)

  StringRef getArgument() const override { return "separate-destinations"; }

  void runOnOperation() override { getOperation().walk(separateOperands); }
};
} // namespace

std::unique_ptr<Pass> fa::execute::createSeparateDestinations() {
  return std::make_unique<SeparateDestinations>();
}
