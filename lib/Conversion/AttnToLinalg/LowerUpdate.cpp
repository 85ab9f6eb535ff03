//===- LowerUpdate.cpp - attn.update into products and the online softmax -===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenericBuilder.h"

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fa;

namespace {
/// Row statistics after the block's maximum is known; tensors [Br] of f32.
struct RowStatistics {
  Value max;   ///< the new running maximum
  Value guard; ///< c * max, or 0 where max is -inf
  Value sum;   ///< the old sum, rescaled
  Value alpha; ///< the factor of the old accumulator
};

/// Lowers one update on tiles.
class UpdateLowering {
public:
  UpdateLowering(RewriterBase &rewriter, attn::UpdateOp op)
      : rewriter(rewriter), op(op), b(rewriter, op.getLoc()),
        element(op.getQ().getType().getElementType()) {}

  void run();

private:
  Value buildScores();
  Value applyVariant(Value scores);
  Value buildFactor();
  RowStatistics buildStatistics(Value scores, Value factor);
  Value buildWeights(Value scores, Value factor, Value guard);
  Value addRowSums(Value weights, Value sum);
  Value scaleRows(Value matrix, Value rows);
  Value narrowed(Value weights);
  Value addWeightedValues(Value weights, Value acc);
  Value inverseSums(Value sum);

  RewriterBase &rewriter;
  attn::UpdateOp op;
  GenericBuilder b;
  Type element;
};
} // namespace

/// s = q k^T in f32, [Br, Bc].
Value UpdateLowering::buildScores() {
  Location loc = op.getLoc();
  OpFoldResult rows = tensor::getMixedSize(rewriter, loc, op.getQ(), 0);
  OpFoldResult columns = tensor::getMixedSize(rewriter, loc, op.getK(), 0);
  Value empty = tensor::EmptyOp::create(rewriter, loc, {rows, columns},
                                        rewriter.getF32Type());
  Value zeros = b.fill(b.f32(0.0), empty);
  auto product = linalg::MatmulTransposeBOp::create(
      rewriter, loc, TypeRange{zeros.getType()},
      ValueRange{op.getQ(), op.getK()}, ValueRange{zeros});
  return product.getResult(0);
}

/// Inlines a score or mask region at the builder's place and returns what it
/// yields.
static Value inlineRegion(OpBuilder &builder, Region &region, ValueRange args) {
  IRMapping mapping;
  mapping.map(region.getArguments(), args);
  for (Operation &nested : region.front().without_terminator())
    builder.clone(nested, mapping);
  return mapping.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

/// Scaled, scored and masked: -inf where a key is hidden.
Value UpdateLowering::applyVariant(Value scores) {
  if (!op.hasScore() && !op.hasMask())
    return scores;
  return b
      .generic(
          {}, {scores}, 2, false,
          [&](GenericBuilder &in, ValueRange args) {
            auto position = [&](Value start, int64_t dim) {
              Value local = linalg::IndexOp::create(in.builder, in.loc, dim);
              return arith::AddIOp::create(in.builder, in.loc, start, local)
                  .getResult();
            };
            SmallVector<Value> bhij{op.getBatchPosition(), op.getHeadPosition(),
                                    position(op.getRowPosition(), 0),
                                    position(op.getKeyPosition(), 1)};
            Value score = args[0];
            if (op.hasScore()) {
              SmallVector<Value> operands{in.mul(score, op.getScale())};
              llvm::append_range(operands, bhij);
              score = inlineRegion(in.builder, op.getScoreRegion(), operands);
            }
            if (op.hasMask()) {
              Value sees = inlineRegion(in.builder, op.getMaskRegion(), bhij);
              score = in.select(sees, score, in.negativeInfinity());
            }
            return SmallVector<Value>{score};
          })
      .front();
}

/// c: from the unit of the scores to the exponent of 2.
Value UpdateLowering::buildFactor() {
  Value log2e = b.f32(kLog2E);
  return op.hasScore() ? log2e : b.mul(op.getScale(), log2e);
}

RowStatistics UpdateLowering::buildStatistics(Value scores, Value factor) {
  // 1. The block's own maximum.
  Value start = b.fill(b.negativeInfinity(), b.emptyLike(op.getMaxInit()));
  Value blockMax =
      b.generic({scores}, {start}, 2, true,
                [](GenericBuilder &in, ValueRange args) {
                  return SmallVector<Value>{in.max(args[0], args[1])};
                })
          .front();

  // 2. All row statistics in one generic: it reads the old maximum and sum and
  //    writes the new ones in their place, which keeps bufferization free of
  //    copies.
  SmallVector<Value> results = b.generic(
      {blockMax},
      {op.getMaxInit(), op.getSumInit(), b.emptyLike(op.getMaxInit()),
       b.emptyLike(op.getMaxInit())},
      1, false, [&](GenericBuilder &in, ValueRange args) {
        Value oldMax = args[1], oldSum = args[2];
        Value max = in.max(oldMax, args[0]);
        Value empty = in.equal(max, in.negativeInfinity());
        Value guard = in.select(empty, in.f32(0.0), in.mul(max, factor));
        // Rounded as the old guard was: where the maximum stays, alpha is
        // exactly 1. A fused product would be off by its rounding, in every
        // block, and the state would drift with their number.
        Value oldGuard = in.mul(oldMax, factor);
        Value alpha = in.exp2(in.sub(oldGuard, guard));
        return SmallVector<Value>{max, in.mul(oldSum, alpha), guard, alpha};
      });
  return {results[0], results[2], results[1], results[3]};
}

/// p = exp2(c s - guard) in f32; 0 for hidden keys, whose s is -inf.
Value UpdateLowering::buildWeights(Value scores, Value factor, Value guard) {
  return b
      .generic({guard}, {scores}, 2, false,
               [&](GenericBuilder &in, ValueRange args) {
                 return SmallVector<Value>{
                     in.exp2(in.mulSub(args[1], factor, args[0]))};
               })
      .front();
}

Value UpdateLowering::addRowSums(Value weights, Value sum) {
  return b
      .generic({weights}, {sum}, 2, true,
               [](GenericBuilder &in, ValueRange args) {
                 return SmallVector<Value>{in.add(args[1], args[0])};
               })
      .front();
}

Value UpdateLowering::scaleRows(Value matrix, Value rows) {
  return b
      .generic({rows}, {matrix}, 2, false,
               [](GenericBuilder &in, ValueRange args) {
                 return SmallVector<Value>{in.mul(args[1], args[0])};
               })
      .front();
}

/// p in the inputs' element type, as the tensor cores take it.
Value UpdateLowering::narrowed(Value weights) {
  if (element == rewriter.getF32Type())
    return weights;
  return b
      .generic({weights}, {b.emptyLike(weights, element)}, 2, false,
               [&](GenericBuilder &in, ValueRange args) {
                 return SmallVector<Value>{in.narrow(args[0], element)};
               })
      .front();
}

Value UpdateLowering::addWeightedValues(Value weights, Value acc) {
  auto product = linalg::MatmulOp::create(
      rewriter, op.getLoc(), TypeRange{acc.getType()},
      ValueRange{narrowed(weights), op.getV()}, ValueRange{acc});
  return product.getResult(0);
}

/// 1 / sum, 1 where nothing was summed (acc is 0 there).
Value UpdateLowering::inverseSums(Value sum) {
  return b
      .generic({sum}, {b.emptyLike(sum)}, 1, false,
               [](GenericBuilder &in, ValueRange args) {
                 Value one = in.f32(1.0);
                 Value inverse =
                     arith::DivFOp::create(in.builder, in.loc, one, args[0]);
                 return SmallVector<Value>{
                     in.select(in.equal(args[0], in.f32(0.0)), one, inverse)};
               })
      .front();
}

void UpdateLowering::run() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value scores = applyVariant(buildScores());
  Value factor = buildFactor();
  RowStatistics rows = buildStatistics(scores, factor);
  Value weights = buildWeights(scores, factor, rows.guard);
  Value sum = addRowSums(weights, rows.sum);
  // A normalised accumulator is acc / sum: the old sum, already rescaled, takes
  // alpha's place, and the new one divides.
  Value factorOfOld = op.getNormalized() ? rows.sum : rows.alpha;
  Value acc =
      addWeightedValues(weights, scaleRows(op.getAccInit(), factorOfOld));
  if (op.getNormalized())
    acc = scaleRows(acc, inverseSums(sum));
  rewriter.replaceOp(op, {acc, rows.max, sum});
}

LogicalResult fa::lowerUpdate(RewriterBase &rewriter, attn::UpdateOp op) {
  if (!op.isTile())
    return op.emitOpError("is not on tiles of one head: run --tile first");
  UpdateLowering(rewriter, op).run();
  return success();
}
