//===- LowerMerge.cpp - attn.merge into reductions over states ------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowArithmetic.h"

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"

using namespace mlir;
using namespace fa;

/// The maximum of the partial states' maxima.
static Value buildPartialsMax(GenericBuilder &b, attn::MergeOp op) {
  Value start = b.fill(b.negativeInfinity(), b.emptyLike(op.getMaxInit()));
  return b
      .reduceStates({op.getPartialMax()}, {start},
                    op.getPartialMax().getType().getRank(),
                    [](GenericBuilder &in, ValueRange args) {
                      return SmallVector<Value>{in.max(args[0], args[1])};
                    })
      .front();
}

/// w[s] = exp2 of max[s]'s exponent, which is 0 where max[s] is -inf: the guard
/// is finite. It is exactly 1 for the state that has the maximum.
static Value buildStateWeights(GenericBuilder &b, attn::MergeOp op,
                               const Exponent &exponent, Value guard) {
  int64_t rank = op.getPartialMax().getType().getRank();
  AffineMap all = b.identity(rank), rows = all.getMinorSubMap(rank - 1);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  Value target = b.emptyLike(op.getPartialMax());
  return b
      .generic({op.getPartialMax(), guard}, {target}, {all, rows, all},
               iterators,
               [&](GenericBuilder &in, ValueRange args) {
                 return SmallVector<Value>{
                     in.exp2(exponent.of(in, args[0], args[1]))};
               })
      .front();
}

/// sum + sum_s w[s] * sum[s].
static Value addSums(GenericBuilder &b, attn::MergeOp op, Value weights,
                     Value sum) {
  return b
      .reduceStates({weights, op.getPartialSum()}, {sum},
                    op.getPartialSum().getType().getRank(),
                    [](GenericBuilder &in, ValueRange args) {
                      return SmallVector<Value>{
                          in.mulAdd(args[0], args[1], args[2])};
                    })
      .front();
}

/// acc + sum_s w[s] * acc[s], where a normalised acc[s] is times sum[s] too.
static Value addAccumulators(GenericBuilder &b, attn::MergeOp op, Value weights,
                             Value acc) {
  SmallVector<Value> inputs{weights, op.getPartialAcc()};
  if (op.getNormalized())
    inputs.push_back(op.getPartialSum());
  return b
      .reduceStates(inputs, {acc}, op.getPartialAcc().getType().getRank(),
                    [&](GenericBuilder &in, ValueRange args) {
                      Value weight = args[0];
                      if (op.getNormalized())
                        weight = in.mul(weight, args[2]);
                      return SmallVector<Value>{
                          in.mulAdd(weight, args[1], args.back())};
                    })
      .front();
}

void fa::lowerMerge(RewriterBase &rewriter, attn::MergeOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  GenericBuilder b(rewriter, op.getLoc());

  // 1. The maximum of all states; the state in `outs` at it.
  Exponent exponent = makeExponent(b, op.getUnit());
  RowStatistics rows = rescaleState(b, buildPartialsMax(b, op), op.getMaxInit(),
                                    op.getSumInit(), exponent);

  // 2. The partial states, each with its weight.
  Value weights = buildStateWeights(b, op, exponent, rows.guard);
  Value sum = addSums(b, op, weights, rows.sum);
  Value ofOld = op.getNormalized() ? rows.sum : rows.alpha;
  Value acc =
      addAccumulators(b, op, weights, scaleRows(b, op.getAccInit(), ofOld));
  if (op.getNormalized())
    acc = scaleRows(b, acc, inverseSums(b, sum, /*empty=*/1.0));
  rewriter.replaceOp(op, {acc, rows.max, sum});
}
