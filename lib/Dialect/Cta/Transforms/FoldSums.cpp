//===- FoldSums.cpp - Row sums in parts until the end ---------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum that a loop carries and only adds to need not be complete before the
// loop ends: it is carried as sums of columns, which threads have for
// themselves.
//
//===----------------------------------------------------------------------===//

#include "Simplify.h"

#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/GpuModules.h"
#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_FOLDSUMS
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

/// The columns of which a fragment holds whole blocks, two for each thread.
static constexpr int64_t kPartCols = 8;

/// The reduction that adds to carried value `number` of `loop`, if that is all
/// that its body does with it.
static vector::MultiDimReductionOp findSum(scf::ForOp loop, unsigned number) {
  auto sum = loop.getYieldedValues()[number]
                 .getDefiningOp<vector::MultiDimReductionOp>();
  BlockArgument carried = loop.getRegionIterArg(number);
  if (!sum || sum->getBlock() != loop.getBody() || !sum->hasOneUse() ||
      sum.getAcc() != carried || !carried.hasOneUse() ||
      sum.getKind() != vector::CombiningKind::ADD)
    return {};
  VectorType type = sum.getSourceVectorType();
  bool isRowSum = type.getRank() == 2 && type.getElementType().isF32() &&
                  sum.getReductionDims() == ArrayRef<int64_t>{1} &&
                  type.getDimSize(1) > kPartCols &&
                  type.getDimSize(1) % kPartCols == 0;
  return isRowSum ? sum : vector::MultiDimReductionOp();
}

/// The parts that `start`, what a loop's sums begin with, is the sum of: those
/// of a loop before it, or zeros; else null.
static Value findParts(RewriterBase &rewriter, Value start, VectorType type) {
  if (matchPattern(start, m_AnyZeroFloat()))
    return arith::ConstantOp::create(rewriter, start.getLoc(),
                                     rewriter.getZeroAttr(type));
  auto sum = start.getDefiningOp<vector::MultiDimReductionOp>();
  bool isOfParts = sum && sum.getKind() == vector::CombiningKind::ADD &&
                   sum.getSourceVectorType() == type &&
                   matchPattern(sum.getAcc(), m_AnyZeroFloat());
  return isOfParts ? sum.getSource() : Value();
}

/// Carries sum `number` of `loop` in parts; returns whether it can.
static bool foldSum(RewriterBase &rewriter, scf::ForOp loop, unsigned number) {
  vector::MultiDimReductionOp sum = findSum(loop, number);
  if (!sum)
    return false;
  Location loc = sum.getLoc();
  auto rowType = cast<VectorType>(sum.getType());
  auto type = VectorType::get({rowType.getDimSize(0), kPartCols},
                              rewriter.getF32Type());
  rewriter.setInsertionPoint(loop);
  Value parts = findParts(rewriter, loop.getInits()[number], type);
  if (!parts)
    return false;

  // 1. The loop carries the parts.
  OpResult result = loop->getResult(number);
  BlockArgument carried = loop.getRegionIterArg(number);
  rewriter.modifyOpInPlace(loop, [&] {
    loop.getInitArgsMutable()[number].assign(parts);
    carried.setType(type);
    result.setType(type);
  });
  rewriter.setInsertionPoint(sum);
  rewriter.replaceOpWithNewOp<cta::FoldOp>(sum, type, sum.getSource(), carried);

  // 2. Behind it they are summed up.
  rewriter.setInsertionPointAfter(loop);
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(rowType));
  auto total = vector::MultiDimReductionOp::create(rewriter, loc, result, zero,
                                                   ArrayRef<bool>{false, true},
                                                   vector::CombiningKind::ADD);
  rewriter.replaceAllUsesExcept(result, total, total);
  return true;
}

namespace {
struct FoldSums : public fa::impl::FoldSumsBase<FoldSums> {
  using Base::Base;

  void runOnOperation() override {
    for (gpu::GPUFuncOp func : findKernels(getOperation(), "--fold-sums"))
      foldSums(func);
  }

private:
  void foldSums(gpu::GPUFuncOp func) {
    // In the order of the program: a loop's sums may go on in the next one.
    SmallVector<scf::ForOp> loops;
    func.walk<WalkOrder::PreOrder>(
        [&](scf::ForOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(func.getContext());
    int64_t found = 0;
    for (scf::ForOp loop : loops)
      for (unsigned number = 0; number < loop.getNumResults(); ++number)
        found += foldSum(rewriter, loop, number);
    if (found == 0) {
      remarkMissed(func, "fold-sums", "sums")
          << remark::reason("each loop rescales its sums, or has none");
      return;
    }
    simplify(rewriter, func);
    numSums += found;
    remarkDecision(func, "fold-sums", "sums") << remark::metric("sums", found);
  }
};
} // namespace
