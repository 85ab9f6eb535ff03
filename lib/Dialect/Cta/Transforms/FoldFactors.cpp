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

/// The product of two uniform fragments, as one of its elements broadcast.
static Value multiplyUniform(RewriterBase &rewriter, Location loc, Value lhs,
                             Value rhs) {
  Value product = rewriter.createOrFold<arith::MulFOp>(
      loc, getElement(rewriter, lhs), getElement(rewriter, rhs));
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

/// Moves `product` into the branch that alone reads it, if there is one.
static void sinkIntoBranch(arith::MulFOp product) {
  Block *block = nullptr;
  for (Operation *user : product->getUsers()) {
    auto branch = user->getParentOfType<cta::IfAnyOp>();
    if (!branch || branch->getBlock() != product->getBlock())
      return;
    Region *region = branch.getThenRegion().isAncestor(user->getParentRegion())
                         ? &branch.getThenRegion()
                         : &branch.getElseRegion();
    if (block && block != &region->front())
      return;
    block = &region->front();
  }
  if (block)
    product->moveBefore(&block->front());
}

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
    patterns.add<FoldIntoProduct, FoldIntoFma>(func.getContext());
    // Nothing else is folded: later passes look for what --map-warps makes.
    walkAndApplyPatterns(func, std::move(patterns));
    SmallVector<arith::MulFOp> products;
    func.walk([&](arith::MulFOp product) {
      if (succeeded(matchScaled(product)))
        products.push_back(product);
    });
    for (arith::MulFOp product : llvm::reverse(products)) {
      if (isOpTriviallyDead(product))
        product.erase();
      else
        sinkIntoBranch(product);
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
