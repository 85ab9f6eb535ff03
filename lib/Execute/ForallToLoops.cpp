//===- ForallToLoops.cpp - Parallel tiles on one core or all -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPUPasses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

using namespace mlir;

namespace {
struct ForallToLoops
    : public PassWrapper<ForallToLoops, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForallToLoops)

  explicit ForallToLoops(bool parallel) : parallel(parallel) {}

  StringRef getArgument() const override { return "forall-to-loops"; }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<scf::ForallOp> foralls;
    getOperation()->walk([&](scf::ForallOp op) { foralls.push_back(op); });
    // The walk ends with the outermost. Parallel loops in parallel ones would
    // wait for each other's threads.
    llvm::SmallPtrSet<Operation *, 4> nests;
    for (scf::ForallOp op : foralls)
      for (Operation *parent = op->getParentOp(); parent;
           parent = parent->getParentOp())
        nests.insert(parent);
    for (scf::ForallOp op : foralls) {
      rewriter.setInsertionPoint(op);
      bool isNest = nests.contains(op);
      if (failed(parallel && !isNest ? scf::forallToParallelLoop(rewriter, op)
                                     : scf::forallToForLoop(rewriter, op)))
        return signalPassFailure();
    }
  }

  bool parallel;
};
} // namespace

std::unique_ptr<Pass> fa::execute::createForallToLoops(bool parallel) {
  return std::make_unique<ForallToLoops>(parallel);
}
