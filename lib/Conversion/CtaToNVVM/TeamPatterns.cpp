//===- TeamPatterns.cpp - Branches that a team takes together -------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fa;

namespace {
/// A vote of the warp decides, for its own rows.
struct ConvertIfAny : OpConversionPattern<cta::IfAnyOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(cta::IfAnyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, "result types not convertible");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value any = buildVote(b, toElements(b, adaptor.getPredicate()));
    auto branch = scf::IfOp::create(b, types, any, /*addThenBlock=*/false,
                                    /*addElseBlock=*/false);
    rewriter.inlineRegionBefore(op.getThenRegion(), branch.getThenRegion(),
                                branch.getThenRegion().end());
    rewriter.inlineRegionBefore(op.getElseRegion(), branch.getElseRegion(),
                                branch.getElseRegion().end());
    rewriter.replaceOp(op, branch);
    return success();
  }

private:
  static Value buildVote(ImplicitLocOpBuilder &b, ArrayRef<Value> elements) {
    Value own = elements.front();
    for (Value element : elements.drop_front())
      own = arith::OrIOp::create(b, own, element);
    return NVVM::VoteSyncOp::create(b, b.getI1Type(),
                                    I32Builder{b}.constant(0xffffffff), own,
                                    NVVM::VoteSyncKind::any);
  }
};

struct ConvertYield : OpConversionPattern<cta::YieldOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(cta::YieldOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, adaptor.getOperands());
    return success();
  }
};
} // namespace

void fa::populateTeamPatterns(const FragmentTypeConverter &converter,
                              RewritePatternSet &patterns) {
  patterns.add<ConvertIfAny, ConvertYield>(converter, patterns.getContext());
}
