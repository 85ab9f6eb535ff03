//===- TeamPatterns.cpp - What teams do together --------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fa;

/// Whether any of a thread's flags is true.
static Value joinFlags(ImplicitLocOpBuilder &b, ArrayRef<Value> flags) {
  Value any = flags.front();
  for (Value flag : flags.drop_front())
    any = arith::OrIOp::create(b, any, flag);
  return any;
}

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
    Value own = joinFlags(b, elements);
    return NVVM::VoteSyncOp::create(b, b.getI1Type(),
                                    I32Builder{b}.constant(0xffffffff), own,
                                    NVVM::VoteSyncKind::any);
  }
};

/// The block's barrier joins the threads' flags.
struct ConvertAny : OpConversionPattern<cta::AnyOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(cta::AnyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    I32Builder i{b};
    Value own = joinFlags(b, toElements(b, adaptor.getPredicate()));
    Value flag = arith::ExtUIOp::create(b, b.getI32Type(), own);
    auto reduction = NVVM::BarrierReductionAttr::get(
        b.getContext(), NVVM::BarrierReduction::OR);
    auto barrier =
        NVVM::BarrierOp::create(b, b.getI32Type(), /*barrierId=*/Value(),
                                /*numberOfThreads=*/Value(), reduction, flag);
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(op, arith::CmpIPredicate::ne,
                                               barrier.getRes(), i.constant(0));
    return success();
  }
};

/// Each team leaves its fragment in shared memory, each thread where only the
/// same threads of the teams look, and reads all of them.
struct ConvertCombine : OpConversionPattern<cta::CombineOp> {
  ConvertCombine(const FragmentTypeConverter &converter, MLIRContext *context,
                 const Kernel &kernel)
      : OpConversionPattern(converter, context), converter(converter),
        kernel(kernel) {}

  LogicalResult
  matchAndRewrite(cta::CombineOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    I32Builder i{b};
    int64_t bytes = getCombineBytes(kernel, op);
    Value own = i.add(i.add(kernel.shared, kernel.sharedOffset.lookup(op)),
                      i.mul(kernel.teamThread, kWord));
    if (mayStillBeRead(op))
      NVVM::BarrierOp::create(b);
    SmallVector<Value> elements = toElements(b, adaptor.getValue());
    Value mine = i.add(own, i.mul(kernel.team, bytes));
    for (auto [n, element] : llvm::enumerate(elements))
      LLVM::StoreOp::create(b, element, sharedPointer(b, mine, place(n)));
    NVVM::BarrierOp::create(b);
    for (int64_t team = 0; team < kernel.teams; ++team)
      for (auto [n, element] : llvm::enumerate(elements)) {
        Value part = LLVM::LoadOp::create(
            b, b.getF32Type(), sharedPointer(b, own, team * bytes + place(n)));
        element = team == 0 ? part
                            : vector::makeArithReduction(
                                  b, b.getLoc(), op.getKind(), element, part);
      }
    rewriter.replaceOp(op,
                       fromElements(b, adaptor.getValue().getType(), elements));
    return success();
  }

private:
  /// The bytes of an element.
  static constexpr int64_t kWord = 4;

  /// Where element `n` of a thread lies, from the team's first byte and without
  /// the thread's own part: neighbours in a warp are neighbours in memory.
  int64_t place(int64_t n) const {
    return n * kernel.warps * kWarpThreads * kWord;
  }

  /// Whether a team may come here again while another one still reads: not
  /// where all teams meet at another combination in between.
  static bool mayStillBeRead(cta::CombineOp op) {
    if (!op->getParentOfType<LoopLikeOpInterface>())
      return false;
    return llvm::all_of(*op->getBlock(), [&](Operation &other) {
      return &other == op || !isa<cta::CombineOp>(other);
    });
  }

  const FragmentTypeConverter &converter;
  const Kernel &kernel;
};

struct ConvertMeet : OpConversionPattern<cta::MeetOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(cta::MeetOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVM::BarrierOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
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
                              const Kernel &kernel,
                              RewritePatternSet &patterns) {
  patterns.add<ConvertCombine>(converter, patterns.getContext(), kernel);
  patterns.add<ConvertAny, ConvertIfAny, ConvertMeet, ConvertYield>(
      converter, patterns.getContext());
}
