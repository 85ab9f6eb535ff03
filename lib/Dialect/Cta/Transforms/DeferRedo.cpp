//===- DeferRedo.cpp - What is done again is done at the end --------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work is there twice: as if no tile had to be done again, and, for those
// that have to, as if all had. The first marks items for the second.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Simplify.h"

#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/GpuModules.h"
#include "fa/Support/Remarks.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_DEFERREDO
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

namespace {
/// A branch of all teams, and where it stands.
struct Redo {
  cta::WorkOp work;
  cta::RoleOp role;
  cta::AnyOp question;
  scf::IfOp branch;
};
} // namespace

/// The branch that `question` is asked for. Fails with a diagnostic where it
/// cannot be deferred.
static FailureOr<Redo> findRedo(cta::AnyOp question) {
  Redo redo;
  redo.question = question;
  redo.role = dyn_cast<cta::RoleOp>(question->getParentOp());
  redo.work = redo.role ? dyn_cast<cta::WorkOp>(redo.role->getParentOp())
                        : cta::WorkOp();
  if (!redo.work)
    return question.emitError("--defer-redo takes a question that is asked "
                              "once in a work item: in a cta.role in a "
                              "cta.work (run it before --specialize-warps)");
  if (question.getResult().hasOneUse())
    redo.branch = dyn_cast<scf::IfOp>(*question.getResult().user_begin());
  if (!redo.branch || redo.branch.getCondition() != question.getResult() ||
      redo.branch->getBlock() != question->getBlock() ||
      redo.branch.getElseRegion().empty())
    return question.emitError("--defer-redo takes a question that decides one "
                              "scf.if with results behind it");
  WalkResult result = redo.work.walk([](Operation *op) -> WalkResult {
    if (!isa<cta::AcquireOp, cta::ConsumeOp>(op))
      return WalkResult::advance();
    return op->emitError("--defer-redo copies a program without rings: run it "
                         "before --stage-tiles");
  });
  if (result.wasInterrupted())
    return failure();
  return redo;
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

/// Puts the region that is taken in the place of `branch`.
static void takeRegion(RewriterBase &rewriter, scf::IfOp branch,
                       Region &region) {
  Block &block = region.front();
  Operation *yield = block.getTerminator();
  SmallVector<Value> results(yield->getOperands());
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(&block, branch);
  rewriter.replaceOp(branch, results);
}

/// Whether `op` does nothing that is seen where its results are not.
static bool onlyReads(Operation *op) {
  return !op->walk([](Operation *inner) {
              bool reads =
                  isa<cta::LoadOp, cta::ReadOp, cta::FetchOp, cta::MmaOp,
                      cta::WaitOp, memref::LoadOp>(inner) ||
                  inner->hasTrait<OpTrait::IsTerminator>() ||
                  inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                  isMemoryEffectFree(inner);
              return reads ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

/// Erases what nobody needs any more: loops and products as well, which dead
/// code elimination keeps.
static void eraseUnused(RewriterBase &rewriter, Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (&op != block.getTerminator() && op.use_empty() && onlyReads(&op))
      rewriter.eraseOp(&op);
}

/// Two works for that of `redo`.
static void defer(RewriterBase &rewriter, Redo redo) {
  // 1. The work, and a copy behind it, both in the role.
  putRoleAround(rewriter, redo.work, redo.role);
  cta::WorkOp work = redo.work;
  cta::AnyOp question = redo.question;
  rewriter.setInsertionPointAfter(work);
  IRMapping mapping;
  auto again = cast<cta::WorkOp>(rewriter.clone(*work, mapping));
  again.setMarked(true);
  auto other = mapping.lookup(question.getResult()).getDefiningOp<cta::AnyOp>();
  auto branch = cast<scf::IfOp>(*other.getResult().user_begin());

  // 2. The work itself only marks.
  rewriter.setInsertionPoint(question);
  cta::MarkOp::create(rewriter, question.getLoc(), question.getPredicate());
  takeRegion(rewriter, redo.branch, redo.branch.getElseRegion());
  rewriter.eraseOp(question);

  // 3. The copy knows the answer.
  takeRegion(rewriter, branch, branch.getThenRegion());
  rewriter.eraseOp(other);
  eraseUnused(rewriter, again.getBody().front());
}

namespace {
struct DeferRedo : public fa::impl::DeferRedoBase<DeferRedo> {
  using Base::Base;

  void runOnOperation() override {
    for (gpu::GPUFuncOp func : findKernels(getOperation(), "--defer-redo"))
      if (failed(defer(func)))
        return signalPassFailure();
  }

private:
  LogicalResult defer(gpu::GPUFuncOp func) {
    SmallVector<cta::AnyOp> questions;
    func.walk([&](cta::AnyOp op) { questions.push_back(op); });
    // What all rescaling policies but one leave; and a kernel whose result is
    // elements, as the classes of blocks, asks about those.
    bool storesElements =
        func.walk([](memref::StoreOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (questions.empty() || storesElements) {
      remarkMissed(func, "defer-redo", "redo")
          << remark::reason("nothing is done again (rescale=first-max does)");
      return success();
    }
    if (questions.size() > 1)
      return questions[1].emitError("--defer-redo takes kernels of one "
                                    "cta.any, but this is another one");
    FailureOr<Redo> redo = findRedo(questions.front());
    if (failed(redo))
      return failure();
    IRRewriter rewriter(func.getContext());
    ::defer(rewriter, *redo);
    simplify(rewriter, func);
    ++numKernels;
    remarkDecision(func, "defer-redo", "redo")
        << remark::reason("marked items are done again after the others");
    return success();
  }
};
} // namespace
