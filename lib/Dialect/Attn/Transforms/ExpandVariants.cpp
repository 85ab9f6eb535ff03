//===- ExpandVariants.cpp - Sugar into regions -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_EXPANDVARIANTS
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

/// The block of `op`'s mask region with its yield, made where there is none: a
/// mask that hides nothing.
static YieldOp getOrCreateMask(RewriterBase &rewriter, ForwardOp op) {
  Region &region = op.getMaskRegion();
  if (!region.empty())
    return cast<YieldOp>(region.front().getTerminator());
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Type> types(4, rewriter.getIndexType());
  SmallVector<Location> locs(4, op.getLoc());
  rewriter.createBlock(&region, region.end(), types, locs);
  Value all = arith::ConstantOp::create(rewriter, op.getLoc(),
                                        rewriter.getBoolAttr(true));
  return YieldOp::create(rewriter, op.getLoc(), all);
}

/// Joins one variant's mask to the region by `and`.
static void joinMask(RewriterBase &rewriter, ForwardOp op,
                     VariantAttrInterface variant, Value seqQ, Value seqKV) {
  bool hadMask = !op.getMaskRegion().empty();
  YieldOp yield = getOrCreateMask(rewriter, op);
  rewriter.setInsertionPoint(yield);
  Value sees = variant.buildMask(
      rewriter, op.getLoc(), op.getMaskRegion().getArguments(), seqQ, seqKV);
  if (hadMask)
    sees = arith::AndIOp::create(rewriter, op.getLoc(), yield.getValue(), sees);
  Operation *old = yield.getValue().getDefiningOp();
  rewriter.modifyOpInPlace(yield,
                           [&] { yield.getValueMutable().assign(sees); });
  if (!hadMask)
    rewriter.eraseOp(old);
}

unsigned fa::attn::expandVariants(RewriterBase &rewriter, ForwardOp op) {
  ArrayAttr variants = op.getVariantsAttr();
  if (!variants || variants.empty())
    return 0;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value seqQ = tensor::DimOp::create(rewriter, op.getLoc(), op.getQ(), 2);
  Value seqKV = tensor::DimOp::create(rewriter, op.getLoc(), op.getK(), 2);
  for (auto variant : variants.getAsRange<VariantAttrInterface>())
    if (variant.hasMask())
      joinMask(rewriter, op, variant, seqQ, seqKV);
  rewriter.modifyOpInPlace(op, [&] { op.removeVariantsAttr(); });
  return variants.size();
}

namespace {
struct ExpandVariantsPass
    : public fa::attn::impl::ExpandVariantsBase<ExpandVariantsPass> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk(
        [&](ForwardOp op) { numVariants += expandVariants(rewriter, op); });
  }
};
} // namespace
