//===- DecomposeAttention.cpp - Attention in three steps on whole tensors -===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowArithmetic.h"
#include "VariantRegions.h"

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"
#include "fa/Dialect/Attn/IR/AttnBuilders.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace fa;

using OFR = OpFoldResult;

namespace fa {
#define GEN_PASS_DEF_DECOMPOSEATTENTION
#include "fa/Conversion/AttnToLinalg/Passes.h.inc"
} // namespace fa

namespace {
/// The three steps of one attention. Each is a loop over batch, where there is
/// one, and query heads.
class AttentionSteps {
public:
  AttentionSteps(RewriterBase &rewriter, attn::ForwardOp op)
      : rewriter(rewriter), op(op), loc(op.getLoc()),
        element(op.getQ().getType().getElementType()),
        numLoops(op.getSequenceAxis()) {}

  /// s = scale q k^T after score and mask, in f32: [B, Hq, Sq, Skv].
  Value buildScores();
  /// p = softmax(s) in the inputs' type, and lse.
  std::pair<Value, Value> buildWeights(Value scores);
  /// o = p v: [B, Hq, Sq, Dv].
  Value buildOutput(Value weights);

private:
  /// From slices of the step's results, of one head, to what they become.
  using HeadBody = function_ref<SmallVector<Value>(
      GenericBuilder &, ArrayRef<OFR> head, ValueRange targets)>;
  SmallVector<Value> forEachHead(ArrayRef<Value> targets, HeadBody body);
  Value emptyWhole(Type type, ArrayRef<OFR> inner);
  Value sliceHead(Value whole, ArrayRef<OFR> head);
  Value sliceKeyHead(Value whole, ArrayRef<OFR> head);
  SmallVector<Value> buildOrigin(ArrayRef<OFR> head);

  RewriterBase &rewriter;
  attn::ForwardOp op;
  Location loc;
  Type element;
  int64_t numLoops;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loops and slices
//===----------------------------------------------------------------------===//

/// A tensor of [B, Hq, inner...].
Value AttentionSteps::emptyWhole(Type type, ArrayRef<OFR> inner) {
  SmallVector<OFR> sizes = tensor::getMixedSizes(rewriter, loc, op.getQ());
  sizes.truncate(numLoops);
  llvm::append_range(sizes, inner);
  return tensor::EmptyOp::create(rewriter, loc, sizes, type);
}

/// Where one head lies in `whole`.
static void locateHead(OpBuilder &builder, Value whole, ArrayRef<OFR> head,
                       SmallVector<OFR> &offsets, SmallVector<OFR> &sizes) {
  sizes = tensor::getMixedSizes(builder, whole.getLoc(), whole);
  offsets.assign(sizes.size(), builder.getIndexAttr(0));
  for (auto [dim, position] : llvm::enumerate(head)) {
    offsets[dim] = position;
    sizes[dim] = builder.getIndexAttr(1);
  }
}

Value AttentionSteps::sliceHead(Value whole, ArrayRef<OFR> head) {
  SmallVector<OFR> offsets, sizes;
  locateHead(rewriter, whole, head, offsets, sizes);
  auto type = cast<RankedTensorType>(whole.getType());
  auto sliceType = RankedTensorType::get(type.getShape().drop_front(numLoops),
                                         type.getElementType());
  SmallVector<OFR> strides(offsets.size(), rewriter.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(rewriter, loc, sliceType, whole,
                                        offsets, sizes, strides);
}

/// The head of K or V that query head `head` reads.
Value AttentionSteps::sliceKeyHead(Value whole, ArrayRef<OFR> head) {
  SmallVector<OFR> keyHead(head);
  keyHead.back() =
      attn::buildKeyHead(rewriter, loc, op.getQ(), op.getK(), head.back());
  return sliceHead(whole, keyHead);
}

SmallVector<Value> AttentionSteps::forEachHead(ArrayRef<Value> targets,
                                               HeadBody body) {
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<OFR> counts = tensor::getMixedSizes(rewriter, loc, op.getQ());
  counts.truncate(numLoops);
  auto forall = scf::ForallOp::create(rewriter, loc, counts,
                                      ValueRange(targets), std::nullopt);
  rewriter.setInsertionPoint(forall.getTerminator());
  SmallVector<OFR> head = getAsOpFoldResult(forall.getInductionVars());
  SmallVector<Value> slices;
  for (Value target : forall.getRegionIterArgs())
    slices.push_back(sliceHead(target, head));
  GenericBuilder b(rewriter, loc);
  SmallVector<Value> results = body(b, head, slices);
  for (auto [result, target] :
       llvm::zip_equal(results, forall.getRegionIterArgs())) {
    SmallVector<OFR> offsets, sizes;
    locateHead(rewriter, target, head, offsets, sizes);
    SmallVector<OFR> strides(offsets.size(), rewriter.getIndexAttr(1));
    OpBuilder::InsertionGuard inner(rewriter);
    rewriter.setInsertionPointToEnd(forall.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(rewriter, loc, result, target,
                                          offsets, sizes, strides);
  }
  return SmallVector<Value>(forall.getResults());
}

/// The (b, h, i, j) of the first score of `head`.
SmallVector<Value> AttentionSteps::buildOrigin(ArrayRef<OFR> head) {
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  SmallVector<Value> origin(op.isBatched() ? 0 : 1, zero);
  for (OFR position : head)
    origin.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, position));
  origin.append(2, zero);
  return origin;
}

//===----------------------------------------------------------------------===//
// The steps
//===----------------------------------------------------------------------===//

Value AttentionSteps::buildScores() {
  int64_t axis = op.getSequenceAxis();
  OFR rows = tensor::getMixedSize(rewriter, loc, op.getQ(), axis);
  OFR columns = tensor::getMixedSize(rewriter, loc, op.getK(), axis);
  Value scale = attn::buildScale(rewriter, op);
  Value whole = emptyWhole(rewriter.getF32Type(), {rows, columns});
  return forEachHead(
             {whole},
             [&](GenericBuilder &b, ArrayRef<OFR> head,
                 ValueRange targets) -> SmallVector<Value> {
               Value q = sliceHead(op.getQ(), head);
               Value k = sliceKeyHead(op.getK(), head);
               Value zeros = b.fill(b.f32(0.0), targets[0]);
               Value product =
                   linalg::MatmulTransposeBOp::create(
                       rewriter, loc, zeros.getType(), ValueRange{q, k}, zeros)
                       .getResult(0);
               return {applyVariant(b, product, scale, op.getScoreRegion(),
                                    op.getMaskRegion(), buildOrigin(head))};
             })
      .front();
}

/// p and lse of one head.
static SmallVector<Value> softmaxRows(GenericBuilder &b, Value scores, Value p,
                                      Value lse) {
  // 1. The maximum of each row; a row without a visible key has -inf, and 0 as
  //    the guard, so that exp2(-inf) = 0 comes of it and not NaN.
  Value max = rowMaxima(b, scores, lse);
  Exponent exponent{b.f32(kLog2E), /*mayBeLarge=*/true};
  Value guard =
      b.generic({max}, {b.emptyLike(max)}, 1, false,
                [&](GenericBuilder &in, ValueRange args) {
                  return SmallVector<Value>{exponent.guardOf(in, args[0])};
                })
          .front();

  // 2. The sum, then p: the exponential twice instead of a third whole tensor.
  Value factors = exponent.factorsOf(b, max);
  Value zeros = b.fill(b.f32(0.0), b.emptyLike(max));
  Value sum = b.generic({scores, factors, guard}, {zeros}, 2, true,
                        [&](GenericBuilder &in, ValueRange args) {
                          Value exp =
                              in.exp2(in.mulSub(args[0], args[1], args[2]));
                          return SmallVector<Value>{in.add(args[3], exp)};
                        })
                  .front();
  Value inverse = inverseSums(b, sum, /*empty=*/0.0);
  p = b.generic({scores, factors, guard, inverse}, {p}, 2, false,
                [&](GenericBuilder &in, ValueRange args) {
                  Value exp = in.exp2(in.mulSub(args[0], args[1], args[2]));
                  Value weight = in.mul(exp, args[3]);
                  return SmallVector<Value>{
                      in.narrow(weight, args[4].getType())};
                })
          .front();
  return {p, buildLse(b, max, sum, exponent, lse)};
}

std::pair<Value, Value> AttentionSteps::buildWeights(Value scores) {
  SmallVector<OFR> sizes = tensor::getMixedSizes(rewriter, loc, scores);
  ArrayRef<OFR> inner = ArrayRef<OFR>(sizes).drop_front(numLoops);
  Value p = emptyWhole(element, inner);
  Value lse = emptyWhole(rewriter.getF32Type(), inner.front());
  SmallVector<Value> results = forEachHead(
      {p, lse}, [&](GenericBuilder &b, ArrayRef<OFR> head, ValueRange targets) {
        return softmaxRows(b, sliceHead(scores, head), targets[0], targets[1]);
      });
  return {results[0], results[1]};
}

Value AttentionSteps::buildOutput(Value weights) {
  OFR rows = tensor::getMixedSize(rewriter, loc, weights, numLoops);
  Value whole =
      emptyWhole(element, {rows, rewriter.getIndexAttr(op.getHeadDimV())});
  return forEachHead(
             {whole},
             [&](GenericBuilder &b, ArrayRef<OFR> head,
                 ValueRange targets) -> SmallVector<Value> {
               Value p = sliceHead(weights, head);
               Value v = sliceKeyHead(op.getV(), head);
               bool isF32 = element.isF32();
               Value target =
                   isF32 ? targets[0]
                         : b.emptyLike(targets[0], rewriter.getF32Type());
               Value zeros = b.fill(b.f32(0.0), target);
               Value product =
                   linalg::MatmulOp::create(rewriter, loc, zeros.getType(),
                                            ValueRange{p, v}, zeros)
                       .getResult(0);
               if (isF32)
                 return {product};
               return b.generic({product}, {targets[0]}, 2, false,
                                [&](GenericBuilder &in, ValueRange args) {
                                  return SmallVector<Value>{
                                      in.narrow(args[0], element)};
                                });
             })
      .front();
}

void fa::decomposeAttention(RewriterBase &rewriter, attn::ForwardOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  if (op.isRagged())
    op = attn::splitSequences(rewriter, op);
  attn::expandVariants(rewriter, op);
  rewriter.setInsertionPoint(op);
  AttentionSteps steps(rewriter, op);
  auto [weights, lse] = steps.buildWeights(steps.buildScores());
  SmallVector<Value> results{steps.buildOutput(weights), lse};
  for (auto [value, type] : llvm::zip_equal(results, op->getResultTypes()))
    if (value.getType() != type)
      value = tensor::CastOp::create(rewriter, op.getLoc(), type, value);
  rewriter.replaceOp(op, results);
}

namespace {
struct DecomposeAttentionPass
    : public fa::impl::DecomposeAttentionBase<DecomposeAttentionPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<attn::ForwardOp> ops;
    getOperation().walk([&](attn::ForwardOp op) { ops.push_back(op); });
    if (ops.empty())
      getOperation().emitWarning("--decompose-attention found no attn.forward");
    IRRewriter rewriter(&getContext());
    for (attn::ForwardOp op : ops) {
      decomposeAttention(rewriter, op);
      ++numDecomposed;
    }
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};
} // namespace
