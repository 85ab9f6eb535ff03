//===- FoldFactors.cpp - One product for several uniform factors ----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A factor that is the same for all elements of a fragment multiplies another
// such factor, once, instead of all elements once more.
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/GpuModules.h"
#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_FOLDFACTORS
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

/// Whether `op` says that its products may be taken in another order.
static bool mayReassociate(arith::ArithFastMathInterface op) {
  arith::FastMathFlagsAttr flags = op.getFastMathFlagsAttr();
  return flags &&
         bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::reassoc);
}

/// Whether all elements of `value` are the same by how it is made.
static bool isUniform(Value value) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return isa<SplatElementsAttr>(constant.getValue());
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  return broadcast && !isa<VectorType>(broadcast.getSourceType());
}

/// The element that all elements of the uniform `value` are.
static Value getElement(RewriterBase &rewriter, Value value) {
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    return broadcast.getSource();
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto splat = cast<SplatElementsAttr>(constant.getValue());
  return arith::ConstantOp::create(rewriter, value.getLoc(),
                                   splat.getSplatValue<TypedAttr>());
}

/// The product of two uniform fragments, as one of its elements broadcast; or
/// its negative.
static Value multiplyUniform(RewriterBase &rewriter, Location loc, Value lhs,
                             Value rhs, bool isNegative = false) {
  Value product = rewriter.createOrFold<arith::MulFOp>(
      loc, getElement(rewriter, lhs), getElement(rewriter, rhs));
  if (isNegative)
    product = rewriter.createOrFold<arith::NegFOp>(loc, product);
  return rewriter.createOrFold<vector::BroadcastOp>(loc, lhs.getType(),
                                                    product);
}

/// The product `value` of a fragment and a uniform factor, which may be taken
/// in another order; fails if it is none.
static FailureOr<std::pair<Value, Value>> matchScaled(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || !isa<VectorType>(value.getType()) || !mayReassociate(product))
    return failure();
  Value lhs = product.getLhs(), rhs = product.getRhs();
  if (isUniform(rhs) && !isUniform(lhs))
    return std::make_pair(lhs, rhs);
  if (isUniform(lhs) && !isUniform(rhs))
    return std::make_pair(rhs, lhs);
  return failure();
}

namespace {
/// (x * a) * b into x * (a * b).
struct FoldIntoProduct : OpRewritePattern<arith::MulFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MulFOp op,
                                PatternRewriter &rewriter) const override {
    auto outer = matchScaled(op.getResult());
    if (failed(outer))
      return rewriter.notifyMatchFailure(op, "not scaled uniformly");
    auto inner = matchScaled(outer->first);
    if (failed(inner))
      return rewriter.notifyMatchFailure(op, "its operand is not scaled");
    Value factor =
        multiplyUniform(rewriter, op.getLoc(), inner->second, outer->second);
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, inner->first, factor,
                                               op.getFastmath());
    return success();
  }
};

/// fma(x * a, b, c) into fma(x, a * b, c).
struct FoldIntoFma : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    if (!mayReassociate(op))
      return rewriter.notifyMatchFailure(op, "its order is given");
    auto scaled = matchScaled(op.getA());
    if (failed(scaled) || !isUniform(op.getB()))
      return rewriter.notifyMatchFailure(op, "not two uniform factors");
    Value factor =
        multiplyUniform(rewriter, op.getLoc(), scaled->second, op.getB());
    rewriter.replaceOpWithNewOp<math::FmaOp>(op, scaled->first, factor,
                                             op.getC(), op.getFastmath());
    return success();
  }
};
} // namespace

/// The branch beside `op` that `user` is in; null if it is in none.
static cta::IfAnyOp findBranch(Operation *op, Operation *user) {
  auto branch = user->getParentOfType<cta::IfAnyOp>();
  return branch && branch->getBlock() == op->getBlock() ? branch
                                                        : cta::IfAnyOp();
}

/// Moves `op` into the branch that alone reads it, if there is one.
static void sinkIntoBranch(Operation *op) {
  Block *block = nullptr;
  for (Operation *user : op->getUsers()) {
    cta::IfAnyOp branch = findBranch(op, user);
    if (!branch)
      return;
    Region *region = branch.getThenRegion().isAncestor(user->getParentRegion())
                         ? &branch.getThenRegion()
                         : &branch.getElseRegion();
    if (block && block != &region->front())
      return;
    block = &region->front();
  }
  if (block)
    op->moveBefore(&block->front());
}

namespace {
/// fma(x * a + y * b, c, d) into fma(x, a * c, fma(y, b * c, d)), where the sum
/// is for this alone, or else for branches.
struct Distribute : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    Operation *sum = op.getA().getDefiningOp();
    if (!mayReassociate(op) || !isUniform(op.getB()) ||
        !isa_and_present<arith::AddFOp, arith::SubFOp>(sum) ||
        !mayReassociate(cast<arith::ArithFastMathInterface>(sum)))
      return rewriter.notifyMatchFailure(op, "not a sum that is scaled");
    auto lhs = matchScaled(sum->getOperand(0));
    auto rhs = matchScaled(sum->getOperand(1));
    if (failed(lhs) || failed(rhs))
      return rewriter.notifyMatchFailure(op, "not a sum of products");
    if (!llvm::all_of(sum->getUsers(), [&](Operation *user) {
          return user == op || findBranch(sum, user);
        }))
      return rewriter.notifyMatchFailure(op, "the sum has other uses");
    Location loc = op.getLoc();
    Value rest = math::FmaOp::create(
        rewriter, loc, rhs->first,
        multiplyUniform(rewriter, loc, rhs->second, op.getB(),
                        /*isNegative=*/isa<arith::SubFOp>(sum)),
        op.getC(), op.getFastmath());
    rewriter.replaceOpWithNewOp<math::FmaOp>(
        op, lhs->first, multiplyUniform(rewriter, loc, lhs->second, op.getB()),
        rest, op.getFastmath());
    return success();
  }
};
} // namespace

namespace {
struct FoldFactors : public fa::impl::FoldFactorsBase<FoldFactors> {
  using Base::Base;

  void runOnOperation() override {
    for (gpu::GPUFuncOp func : findKernels(getOperation(), "--fold-factors"))
      foldFactors(func);
  }

private:
  void foldFactors(gpu::GPUFuncOp func) {
    const int64_t before = countProducts(func);
    RewritePatternSet patterns(func.getContext());
    patterns.add<FoldIntoProduct, FoldIntoFma, Distribute>(func.getContext());
    // Nothing else is folded: later passes look for what --map-warps makes.
    walkAndApplyPatterns(func, std::move(patterns));
    // Users come before what they use.
    SmallVector<Operation *> scores;
    func.walk([&](Operation *op) {
      auto relaxed = dyn_cast<arith::ArithFastMathInterface>(op);
      if (isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(op) && relaxed &&
          mayReassociate(relaxed) &&
          isa<VectorType>(op->getResult(0).getType()))
        scores.push_back(op);
    });
    for (Operation *op : llvm::reverse(scores)) {
      if (isOpTriviallyDead(op))
        op->erase();
      else
        sinkIntoBranch(op);
    }

    const int64_t folded = before - countProducts(func);
    if (folded == 0) {
      remarkMissed(func, "fold-factors", "factors")
          << remark::reason("no fragment has two uniform factors whose "
                            "order is free");
      return;
    }
    numFactors += folded;
    remarkDecision(func, "fold-factors", "factors")
        << remark::metric("factors", folded);
  }

  /// The products of all elements with a uniform factor outside branches.
  static int64_t countProducts(gpu::GPUFuncOp func) {
    int64_t count = 0;
    func.walk([&](arith::MulFOp product) {
      count += succeeded(matchScaled(product)) &&
               !product->getParentOfType<cta::IfAnyOp>();
    });
    return count;
  }
};
} // namespace
