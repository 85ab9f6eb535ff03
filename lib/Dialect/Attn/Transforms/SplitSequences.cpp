//===- SplitSequences.cpp - A loop over sequences of any length -----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simplify.h"

#include "fa/Dialect/Attn/Transforms/PassOrder.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_SPLITSEQUENCES
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

using OFR = OpFoldResult;

namespace {
/// Where one sequence lies in whole tensors: in a batch, or from a row on.
class SequenceSlicer {
public:
  SequenceSlicer(RewriterBase &rewriter, ForwardOp op, Value batch)
      : rewriter(rewriter), loc(op.getLoc()), op(op), batch(batch) {}

  /// The offsets and sizes of the slice of `tensor`, a matrix or a row tensor
  /// whose first row is `firstRow` and which has `numRows` rows: all rows where
  /// these are null.
  void locate(Value tensor, Value firstRow, Value numRows,
              SmallVector<OFR> &offsets, SmallVector<OFR> &sizes);
  /// The slice, without the batch dimension.
  Value extract(Value tensor, Value firstRow, Value numRows);

private:
  RewriterBase &rewriter;
  Location loc;
  ForwardOp op;
  Value batch;
};
} // namespace

void SequenceSlicer::locate(Value tensor, Value firstRow, Value numRows,
                            SmallVector<OFR> &offsets,
                            SmallVector<OFR> &sizes) {
  offsets.assign(cast<RankedTensorType>(tensor.getType()).getRank(),
                 rewriter.getIndexAttr(0));
  sizes = tensor::getMixedSizes(rewriter, loc, tensor);
  if (op.isBatched()) {
    offsets[0] = batch;
    sizes[0] = rewriter.getIndexAttr(1);
  }
  int64_t axis = op.getSequenceAxis();
  if (firstRow)
    offsets[axis] = firstRow;
  if (numRows)
    sizes[axis] = numRows;
}

/// `shape` without the batch dimension, if it has one.
static RankedTensorType sequenceType(ForwardOp op, ArrayRef<OFR> sizes,
                                     Type element) {
  SmallVector<int64_t> shape;
  for (OFR size : sizes.drop_front(op.isBatched() ? 1 : 0))
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, element);
}

Value SequenceSlicer::extract(Value tensor, Value firstRow, Value numRows) {
  SmallVector<OFR> offsets, sizes;
  locate(tensor, firstRow, numRows, offsets, sizes);
  SmallVector<OFR> strides(offsets.size(), rewriter.getIndexAttr(1));
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  return tensor::ExtractSliceOp::create(rewriter, loc,
                                        sequenceType(op, sizes, element),
                                        tensor, offsets, sizes, strides);
}

/// The first row of sequence `batch` of a packed tensor.
static Value firstRowOf(RewriterBase &rewriter, Location loc, Value cuSeqlens,
                        Value batch) {
  Value row = tensor::ExtractOp::create(rewriter, loc, cuSeqlens, batch);
  return arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(),
                                    row);
}

/// The attention of one sequence: `op` on slices, its regions' b the loop's.
static ForwardOp buildSequence(RewriterBase &rewriter, ForwardOp op,
                               Value batch, ValueRange qkv) {
  auto rowType = cast<RankedTensorType>(qkv[0].getType());
  SmallVector<int64_t> oShape(rowType.getShape());
  oShape.back() = op.getHeadDimV();
  auto oType = RankedTensorType::get(oShape, rowType.getElementType());
  auto lseType = RankedTensorType::get(ArrayRef(oShape).drop_back(),
                                       rewriter.getF32Type());
  auto sequence = ForwardOp::create(
      rewriter, op.getLoc(), TypeRange{oType, lseType}, qkv[0], qkv[1], qkv[2],
      /*cuSeqlensQ=*/Value(), /*cuSeqlensKV=*/Value(), /*kvLens=*/Value(),
      op.getScale(), op.getVariantsAttr());
  IRMapping mapping;
  op.getScoreRegion().cloneInto(&sequence.getScoreRegion(), mapping);
  op.getMaskRegion().cloneInto(&sequence.getMaskRegion(), mapping);
  // Variants are written with this sequence's lengths, but the whole's batch.
  expandVariants(rewriter, sequence);
  for (Region *region : {&sequence.getScoreRegion(), &sequence.getMaskRegion()})
    if (!region->empty()) {
      BlockArgument b =
          region->getArgument(region->getNumArguments() == 5 ? 1 : 0);
      rewriter.replaceAllUsesWith(b, batch);
    }
  return sequence;
}

/// How many sequences `op` has.
static OFR countSequences(RewriterBase &rewriter, ForwardOp op) {
  if (op.isBatched())
    return tensor::getMixedSize(rewriter, op.getLoc(), op.getQ(), 0);
  OFR entries =
      tensor::getMixedSize(rewriter, op.getLoc(), op.getCuSeqlensQ(), 0);
  if (std::optional<int64_t> count = getConstantIntValue(entries))
    return rewriter.getIndexAttr(*count - 1);
  Value one = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 1);
  return arith::SubIOp::create(rewriter, op.getLoc(), cast<Value>(entries), one)
      .getResult();
}

ForwardOp fa::attn::splitSequences(RewriterBase &rewriter, ForwardOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();

  // 1. A loop over the sequences, which fills o and lse.
  SmallVector<Value> dests;
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<OFR> sizes = tensor::getMixedSizes(rewriter, loc, op.getQ());
    sizes.resize(type.getRank());
    if (type.getRank() == op.getQ().getType().getRank())
      sizes.back() = rewriter.getIndexAttr(op.getHeadDimV());
    dests.push_back(
        tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType()));
  }
  SmallVector<OFR> count{countSequences(rewriter, op)};
  auto forall =
      scf::ForallOp::create(rewriter, loc, count, dests, std::nullopt);
  rewriter.setInsertionPoint(forall.getTerminator());
  Value batch = forall.getInductionVar(0);

  // 2. Attention on this sequence's slices.
  auto [seqQ, seqKV] = buildSequenceLengths(rewriter, loc, op, batch);
  Value firstQ, firstKV;
  if (!op.isPacked()) {
    seqQ = {};
  } else {
    firstQ = firstRowOf(rewriter, loc, op.getCuSeqlensQ(), batch);
    firstKV = firstRowOf(rewriter, loc, op.getCuSeqlensKV(), batch);
  }
  SequenceSlicer slicer(rewriter, op, batch);
  SmallVector<Value> qkv{slicer.extract(op.getQ(), firstQ, seqQ),
                         slicer.extract(op.getK(), firstKV, seqKV),
                         slicer.extract(op.getV(), firstKV, seqKV)};
  ForwardOp sequence = buildSequence(rewriter, op, batch, qkv);

  // 3. Its rows of o and lse. Sequences share no row.
  for (auto [result, dest] :
       llvm::zip_equal(sequence->getResults(), forall.getRegionIterArgs())) {
    SmallVector<OFR> offsets, sizes;
    slicer.locate(dest, firstQ, seqQ, offsets, sizes);
    SmallVector<OFR> strides(offsets.size(), rewriter.getIndexAttr(1));
    OpBuilder::InsertionGuard inner(rewriter);
    rewriter.setInsertionPointToEnd(forall.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(rewriter, loc, result, dest, offsets,
                                          sizes, strides);
  }
  rewriter.setInsertionPointAfter(forall);
  SmallVector<Value> results(forall.getResults());
  for (auto [value, type] : llvm::zip_equal(results, op->getResultTypes()))
    if (value.getType() != type)
      value = tensor::CastOp::create(rewriter, loc, type, value);
  rewriter.replaceOp(op, results);
  return sequence;
}

namespace {
struct SplitSequencesPass
    : public fa::attn::impl::SplitSequencesBase<SplitSequencesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ForwardOp> ops;
    getOperation()->walk([&](ForwardOp op) {
      if (op.isRagged())
        ops.push_back(op);
    });
    if (ops.empty() && failed(reportNothingFound(
                           getOperation(), "split-sequences", PassLevel::Whole,
                           "attn.forward with cu_seqlens or kv_lens")))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (ForwardOp op : ops) {
      splitSequences(rewriter, op);
      ++numSplit;
    }
    removeRedundancy(rewriter, getOperation());
  }
};
} // namespace
