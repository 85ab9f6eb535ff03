//===- FlattenSequences.cpp - One loop over all sequences' blocks ---------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over sequences around a loop over one sequence's blocks becomes one
// loop. Packed sequences have different numbers of blocks: the loop counts
// slots. Sequence b has the slots from floor(cu[b] / br) + b up to the same of
// b + 1, which are at least as many as its blocks and at most one more. So
// their number follows from sizes alone, and a slot's sequence from a binary
// search.
//
//===----------------------------------------------------------------------===//

#include "Simplify.h"

#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_FLATTENSEQUENCES
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

using OFR = OpFoldResult;

namespace {
/// Merges a loop over sequences with the loop over blocks in it.
class SequenceFlattener {
public:
  SequenceFlattener(RewriterBase &rewriter, scf::ForallOp outer,
                    scf::ForallOp inner, bool pairs)
      : rewriter(rewriter), loc(outer.getLoc()), outer(outer), inner(inner),
        pairs(pairs) {}

  std::string findObstacle();
  scf::ForallOp run();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  Value materialize(OFR value) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, value);
  }
  bool isInOuter(OFR value) {
    auto v = dyn_cast<Value>(value);
    return v && outer.getRegion().isAncestor(v.getParentRegion());
  }
  tensor::ParallelInsertSliceOp findInsert(unsigned result);
  Value findRowCount();
  Value buildSlotCount();
  Value buildSequence(Value slot);
  Value buildSlotStart(Value sequence);
  void cloneOuter();
  Value buildPairedBlock(Value number, Value rows);
  void enterSlot(Value slot);
  void cloneInner(scf::ForallOp flat);
  void composeSlice(tensor::ExtractSliceOp slice, BlockArgument dest);
  void composeInsert(tensor::ParallelInsertSliceOp insert);
  void compose(tensor::ParallelInsertSliceOp whole, ArrayRef<OFR> offsets,
               ArrayRef<OFR> sizes, SmallVector<OFR> &wholeOffsets,
               SmallVector<OFR> &wholeSizes);

  RewriterBase &rewriter;
  Location loc;
  scf::ForallOp outer, inner;
  bool pairs; ///< slots alternate a sequence's last blocks and its first
  IRMapping mapping;
  Value starts; ///< the first rows of packed sequences; null: all of one length
};
} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// The op of the outer loop that inserts a result of the inner one, or null.
tensor::ParallelInsertSliceOp SequenceFlattener::findInsert(unsigned result) {
  Value value = inner.getResult(result);
  if (!value.hasOneUse())
    return {};
  return dyn_cast<tensor::ParallelInsertSliceOp>(*value.user_begin());
}

/// The tensor that `length` is a difference of neighbours of, at `index` and
/// behind it; else null.
static Value matchPackedLength(Value length, Value index) {
  auto difference = length.getDefiningOp<arith::SubIOp>();
  if (!difference)
    return {};
  auto readOf = [](Value value) {
    auto cast = value.getDefiningOp<arith::IndexCastOp>();
    return cast ? cast.getIn().getDefiningOp<tensor::ExtractOp>()
                : tensor::ExtractOp();
  };
  tensor::ExtractOp end = readOf(difference.getLhs());
  tensor::ExtractOp begin = readOf(difference.getRhs());
  if (!begin || !end || begin.getTensor() != end.getTensor() ||
      begin.getIndices().size() != 1 || begin.getIndices()[0] != index)
    return {};
  auto next = end.getIndices()[0].getDefiningOp<arith::AddIOp>();
  bool isNext = next && next.getLhs() == index &&
                isConstantIntValue(getAsOpFoldResult(next.getRhs()), 1);
  return isNext ? begin.getTensor() : Value();
}

std::string SequenceFlattener::findObstacle() {
  if (outer.getRank() != 1 || !outer.isNormalized())
    return "the loop over sequences is not one from zero in steps of one";
  for (unsigned n = 0; n < inner.getNumResults(); ++n) {
    if (!findInsert(n) ||
        findInsert(n)->getParentOfType<scf::ForallOp>() != outer)
      return "a result of the loop over blocks is used beside its sequence's "
             "place";
    for (Operation *user : inner.getRegionIterArgs()[n].getUsers())
      if (!isa<tensor::ExtractSliceOp, tensor::ParallelInsertSliceOp>(user))
        return "the loop over blocks reads its outputs";
  }
  for (auto [lower, upper, step] :
       llvm::zip_equal(inner.getMixedLowerBound(), inner.getMixedUpperBound(),
                       inner.getMixedStep()))
    if (!isConstantIntValue(lower, 0) || !getConstantIntValue(step))
      return "the loop over blocks does not start at zero with constant steps";
  for (OFR upper : llvm::drop_begin(inner.getMixedUpperBound()))
    if (isInOuter(upper))
      return "a number of heads differs from sequence to sequence";
  OFR rows = inner.getMixedUpperBound().front();
  if (!isInOuter(rows))
    return "";
  starts = matchPackedLength(cast<Value>(rows), outer.getInductionVar(0));
  if (!starts)
    return "the sequences' lengths are no differences of cu_seqlens";
  return findRowCount() ? "" : "no output has rows that are packed";
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// How many rows all packed sequences have together at most.
Value SequenceFlattener::findRowCount() {
  for (unsigned n = 0; n < inner.getNumResults(); ++n) {
    tensor::ParallelInsertSliceOp insert = findInsert(n);
    auto empty = outer.getTiedOpOperand(cast<BlockArgument>(insert.getDest()))
                     ->get()
                     .getDefiningOp<tensor::EmptyOp>();
    for (auto [dim, offset] : llvm::enumerate(insert.getMixedOffsets()))
      if (isInOuter(offset) && empty)
        return materialize(empty.getMixedSizes()[dim]);
  }
  return {};
}

/// ceil(rows / br) + entries of `starts`: one more than there are sequences.
Value SequenceFlattener::buildSlotCount() {
  Value blocks = arith::CeilDivUIOp::create(
      rewriter, loc, findRowCount(), materialize(inner.getMixedStep().front()));
  Value entries = tensor::DimOp::create(rewriter, loc, starts, 0);
  return arith::AddIOp::create(rewriter, loc, blocks, entries);
}

/// The first slot of a sequence.
Value SequenceFlattener::buildSlotStart(Value sequence) {
  Value row = tensor::ExtractOp::create(rewriter, loc, starts, sequence);
  Value first =
      arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(), row);
  Value blocks = arith::DivUIOp::create(
      rewriter, loc, first, materialize(inner.getMixedStep().front()));
  return arith::AddIOp::create(rewriter, loc, blocks, sequence);
}

/// The last sequence whose first slot is not behind `slot`; 0 where all are.
Value SequenceFlattener::buildSequence(Value slot) {
  // 1. As many halvings as [0, number of sequences) takes.
  Value one = constant(1), zero = constant(0);
  Value count = arith::SubIOp::create(
      rewriter, loc, tensor::DimOp::create(rewriter, loc, starts, 0), one);
  count = arith::MaxSIOp::create(rewriter, loc, count, one);
  Type i32 = rewriter.getI32Type();
  Value last = arith::IndexCastOp::create(
      rewriter, loc, i32, arith::SubIOp::create(rewriter, loc, count, one));
  Value zeros = math::CountLeadingZerosOp::create(rewriter, loc, last);
  Value bits =
      arith::SubIOp::create(rewriter, loc, constant(32),
                            arith::IndexCastOp::create(
                                rewriter, loc, rewriter.getIndexType(), zeros));

  // 2. The range that holds it, halved.
  auto search = scf::ForOp::create(rewriter, loc, zero, bits, one,
                                   ValueRange{zero, count});
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(search.getBody());
  Value low = search.getRegionIterArg(0), high = search.getRegionIterArg(1);
  Value middle = arith::DivUIOp::create(
      rewriter, loc, arith::AddIOp::create(rewriter, loc, low, high),
      constant(2));
  Value isUpper = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::sle, buildSlotStart(middle), slot);
  Value nextLow = arith::SelectOp::create(rewriter, loc, isUpper, middle, low);
  Value nextHigh =
      arith::SelectOp::create(rewriter, loc, isUpper, high, middle);
  scf::YieldOp::create(rewriter, loc, ValueRange{nextLow, nextHigh});
  return search.getResult(0);
}

/// The block in slot `number` of a sequence with so many rows: the last one,
/// the first, the last but one, the second and so on.
Value SequenceFlattener::buildPairedBlock(Value number, Value rows) {
  Value blocks = arith::CeilDivUIOp::create(
      rewriter, loc, rows, materialize(inner.getMixedStep().front()));
  Value last = arith::SubIOp::create(rewriter, loc, blocks, constant(1));
  Value pair = arith::DivUIOp::create(rewriter, loc, number, constant(2));
  Value side = arith::RemUIOp::create(rewriter, loc, number, constant(2));
  Value isLater = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                        side, constant(0));
  Value later = arith::SubIOp::create(rewriter, loc, last, pair);
  return arith::SelectOp::create(rewriter, loc, isLater, later, pair);
}

/// Maps what one sequence's blocks use for those of `slot`, whose sequence is
/// mapped. A slot without a block becomes a block without rows or keys.
void SequenceFlattener::enterSlot(Value slot) {
  Value sequence = mapping.lookup(outer.getInductionVar(0));
  Value number =
      arith::SubIOp::create(rewriter, loc, slot, buildSlotStart(sequence));
  Value step = materialize(inner.getMixedStep().front());
  Value first = arith::MulIOp::create(rewriter, loc, number, step);
  Value rows = cast<Value>(inner.getMixedUpperBound().front());
  Value isLow = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sge,
                                      number, constant(0));
  Value isHigh = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                       first, mapping.lookup(rows));
  Value exists = arith::AndIOp::create(rewriter, loc, isLow, isHigh);
  if (pairs)
    first = arith::MulIOp::create(
        rewriter, loc, buildPairedBlock(number, mapping.lookup(rows)), step);
  Value zero = constant(0);
  auto orNone = [&](Value value) -> Value {
    return arith::SelectOp::create(rewriter, loc, exists, value, zero);
  };
  mapping.map(inner.getInductionVar(0), orNone(first));
  SetVector<Value> lengths;
  lengths.insert(rows);
  inner.walk([&](UpdateOp update) { lengths.insert(update.getSeqKV()); });
  for (Value length : lengths)
    mapping.map(length, orNone(mapping.lookupOrDefault(length)));
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// Clones what is computed once for each sequence.
void SequenceFlattener::cloneOuter() {
  Value sequence = outer.getInductionVar(0);
  for (Operation &op : outer.getBody()->without_terminator()) {
    if (&op == inner)
      continue;
    rewriter.clone(op, mapping);
    auto sum = dyn_cast<arith::AddIOp>(op);
    if (!starts || !sum || sum.getLhs() != sequence)
      continue;
    // Where there is no sequence there is no entry behind the first.
    Value last = arith::SubIOp::create(
        rewriter, loc, tensor::DimOp::create(rewriter, loc, starts, 0),
        constant(1));
    mapping.map(sum.getResult(),
                arith::MinSIOp::create(rewriter, loc,
                                       mapping.lookup(sum.getResult()), last)
                    .getResult());
  }
}

/// `offsets` and `sizes` in a sequence's tensor, as they are in the whole that
/// `whole` puts it into.
void SequenceFlattener::compose(tensor::ParallelInsertSliceOp whole,
                                ArrayRef<OFR> offsets, ArrayRef<OFR> sizes,
                                SmallVector<OFR> &wholeOffsets,
                                SmallVector<OFR> &wholeSizes) {
  auto mapped = [&](OFR value) -> OFR {
    if (auto v = dyn_cast<Value>(value))
      return mapping.lookupOrDefault(v);
    return value;
  };
  llvm::SmallBitVector dropped = whole.getDroppedDims();
  unsigned dim = 0;
  for (auto [wholeDim, base] : llvm::enumerate(whole.getMixedOffsets())) {
    if (dropped.test(wholeDim)) {
      wholeOffsets.push_back(mapped(base));
      wholeSizes.push_back(rewriter.getIndexAttr(1));
      continue;
    }
    OFR offset = mapped(offsets[dim]);
    if (!isConstantIntValue(base, 0))
      offset = arith::AddIOp::create(rewriter, loc, materialize(mapped(base)),
                                     materialize(offset))
                   .getResult();
    wholeOffsets.push_back(offset);
    wholeSizes.push_back(mapped(sizes[dim]));
    ++dim;
  }
}

/// Replaces a slice of a sequence's output by one of the whole output.
void SequenceFlattener::composeSlice(tensor::ExtractSliceOp slice,
                                     BlockArgument dest) {
  unsigned number = dest.getArgNumber() - inner.getRank();
  tensor::ParallelInsertSliceOp whole = findInsert(number);
  SmallVector<OFR> offsets, sizes;
  compose(whole, slice.getMixedOffsets(), slice.getMixedSizes(), offsets,
          sizes);
  SmallVector<OFR> strides(offsets.size(), rewriter.getIndexAttr(1));
  Value composed = tensor::ExtractSliceOp::create(
      rewriter, slice.getLoc(), slice.getType(),
      mapping.lookup(whole.getDest()), offsets, sizes, strides);
  mapping.map(slice.getResult(), composed);
}

void SequenceFlattener::composeInsert(tensor::ParallelInsertSliceOp insert) {
  auto dest = cast<BlockArgument>(insert.getDest());
  tensor::ParallelInsertSliceOp whole =
      findInsert(dest.getArgNumber() - inner.getRank());
  SmallVector<OFR> offsets, sizes;
  compose(whole, insert.getMixedOffsets(), insert.getMixedSizes(), offsets,
          sizes);
  SmallVector<OFR> strides(offsets.size(), rewriter.getIndexAttr(1));
  OpBuilder::InsertionGuard guard(rewriter);
  auto flat = cast<scf::ForallOp>(rewriter.getBlock()->getParentOp());
  rewriter.setInsertionPointToEnd(flat.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      rewriter, insert.getLoc(), mapping.lookupOrDefault(insert.getSource()),
      mapping.lookup(whole.getDest()), offsets, sizes, strides);
}

/// Clones one block's work into `flat`.
void SequenceFlattener::cloneInner(scf::ForallOp flat) {
  for (Operation &op : inner.getBody()->without_terminator()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    auto dest =
        slice ? dyn_cast<BlockArgument>(slice.getSource()) : BlockArgument();
    if (dest && dest.getOwner() == inner.getBody())
      composeSlice(slice, dest);
    else
      rewriter.clone(op, mapping);
  }
  for (Operation &op : inner.getTerminator().getYieldingOps())
    composeInsert(cast<tensor::ParallelInsertSliceOp>(op));
}

scf::ForallOp SequenceFlattener::run() {
  // 1. The loop: blocks, heads, sequences; or slots, heads.
  rewriter.setInsertionPoint(outer);
  SmallVector<OFR> lower = inner.getMixedLowerBound();
  SmallVector<OFR> upper = inner.getMixedUpperBound();
  SmallVector<OFR> step = inner.getMixedStep();
  if (starts) {
    upper.front() = buildSlotCount();
    step.front() = rewriter.getIndexAttr(1);
  } else {
    lower.push_back(outer.getMixedLowerBound().front());
    upper.push_back(outer.getMixedUpperBound().front());
    step.push_back(outer.getMixedStep().front());
  }
  auto flat = scf::ForallOp::create(rewriter, loc, lower, upper, step,
                                    outer.getOutputs(), std::nullopt);
  rewriter.setInsertionPoint(flat.getTerminator());

  // 2. Its body.
  SmallVector<Value> ivs(flat.getInductionVars());
  for (auto [iv, flatIv] : llvm::zip(inner.getInductionVars(), ivs))
    mapping.map(iv, flatIv);
  mapping.map(outer.getInductionVar(0),
              starts ? buildSequence(ivs.front()) : ivs.back());
  for (auto [arg, flatArg] :
       llvm::zip_equal(outer.getRegionIterArgs(), flat.getRegionIterArgs()))
    mapping.map(arg, flatArg);
  cloneOuter();
  if (starts)
    enterSlot(ivs.front());
  cloneInner(flat);
  rewriter.replaceOp(outer, flat.getResults());
  return flat;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

FailureOr<scf::ForallOp> fa::attn::flattenSequences(RewriterBase &rewriter,
                                                    scf::ForallOp outer,
                                                    scf::ForallOp inner,
                                                    std::string &reason,
                                                    bool pairs) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(outer);
  SequenceFlattener flattener(rewriter, outer, inner, pairs);
  reason = flattener.findObstacle();
  if (!reason.empty())
    return failure();
  return flattener.run();
}

namespace {
struct FlattenSequencesPass
    : public fa::attn::impl::FlattenSequencesBase<FlattenSequencesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForallOp> inners;
    getOperation()->walk([&](scf::ForallOp loop) {
      if (isa<scf::ForallOp>(loop->getParentOp()))
        inners.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    bool hasChanged = false;
    for (scf::ForallOp inner : inners) {
      auto outer = cast<scf::ForallOp>(inner->getParentOp());
      std::string reason;
      if (succeeded(flattenSequences(rewriter, outer, inner, reason, pairs))) {
        ++numFlattened;
        hasChanged = true;
        remarkDecision(getOperation(), "flatten-sequences", "loops")
            << remark::reason("one loop over the blocks of all sequences");
      } else if (failed(reportObstacle(inner, "flatten-sequences", {reason}))) {
        return signalPassFailure();
      }
    }
    if (hasChanged)
      removeRedundancy(rewriter, getOperation());
  }
};
} // namespace
