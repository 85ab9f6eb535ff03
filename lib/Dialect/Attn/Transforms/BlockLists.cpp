//===- BlockLists.cpp - KV loops over lists of blocks -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockLists.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace fa::attn;

namespace {
/// A batch or a head of a block list.
struct ListAxis {
  OpFoldResult extent; ///< how many the list has
  Value index;         ///< the one at hand, inside the parallel loop
  Value fixed;         ///< what stands for the region's argument, if it is one
};

/// Builds the list and the loops for one KV loop.
class BlockLister {
public:
  BlockLister(RewriterBase &rewriter, scf::ForOp loop, UpdateOp update)
      : rewriter(rewriter), loc(update.getLoc()), loop(loop), update(update),
        forall(loop->getParentOfType<scf::ForallOp>()),
        block(*getConstantIntValue(loop.getStep())) {}

  std::string findObstacle();
  void run();

private:
  std::optional<unsigned> findInductionVar(Value position);
  ListAxis makeAxis(BlockArgument argument, Value position);
  BlockListOp buildList(const ListAxis &batch, const ListAxis &head);
  Value readCount(BlockListOp list, ValueRange at, int64_t which);
  void addLoop(BlockListOp list, ValueRange at, Value begin, Value end,
               bool isFull, SmallVector<Value> &state);

  RewriterBase &rewriter;
  Location loc;
  scf::ForOp loop;
  UpdateOp update;
  scf::ForallOp forall;
  int64_t block;
};
} // namespace

/// Which of the parallel loop's induction variables `position` is.
std::optional<unsigned> BlockLister::findInductionVar(Value position) {
  for (auto [number, iv] : llvm::enumerate(forall.getInductionVars()))
    if (iv == position)
      return number;
  return std::nullopt;
}

std::string BlockLister::findObstacle() {
  if (!forall)
    return "a list of blocks needs a parallel loop over blocks of queries";
  std::optional<unsigned> row = findInductionVar(update.getRowPosition());
  if (!row || !isConstantIntValue(forall.getMixedLowerBound()[*row], 0) ||
      !getConstantIntValue(forall.getMixedStep()[*row]))
    return "the parallel loop's blocks of queries do not start at zero with a "
           "constant step";
  if (!isConstantIntValue(loop.getLowerBound(), 0))
    return "a list of blocks needs all keys in one loop";
  auto isOutside = [&](Value value) {
    return value.getParentRegion()->isAncestor(forall->getParentRegion());
  };
  for (Value position : {update.getBatchPosition(), update.getHeadPosition()})
    if (!findInductionVar(position) && !isOutside(position))
      return "a batch or head is computed inside the parallel loop";
  if (!isOutside(update.getSeqQ()) || !isOutside(update.getSeqKV()))
    return "the lengths are computed inside the parallel loop";
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(update.getMaskRegion(), captured);
  if (!llvm::all_of(captured, isOutside))
    return "the mask uses values from inside the parallel loop";
  return "";
}

/// The batches or heads of the list; one where the mask does not ask for them.
ListAxis BlockLister::makeAxis(BlockArgument argument, Value position) {
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  std::optional<unsigned> iv = findInductionVar(position);
  if (!iv || argument.use_empty())
    return {rewriter.getIndexAttr(1), zero, iv ? Value() : position};
  return {forall.getMixedUpperBound()[*iv], position, {}};
}

/// The list, in front of the parallel loop.
BlockListOp BlockLister::buildList(const ListAxis &batch,
                                   const ListAxis &head) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(forall);
  unsigned row = *findInductionVar(update.getRowPosition());
  int64_t br = *getConstantIntValue(forall.getMixedStep()[row]);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  auto sizeOf = [&](const ListAxis &axis) {
    return getConstantIntValue(axis.extent).value_or(dynamic);
  };
  Type i32 = rewriter.getI32Type();
  SmallVector<int64_t> shape{sizeOf(batch), sizeOf(head), dynamic, dynamic};
  auto blocksType = RankedTensorType::get(shape, i32);
  shape.back() = 2;
  auto countsType = RankedTensorType::get(shape, i32);
  auto valueOf = [&](const ListAxis &axis) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, axis.extent);
  };
  auto list = BlockListOp::create(
      rewriter, loc, blocksType, countsType, valueOf(batch), valueOf(head),
      update.getSeqQ(), update.getSeqKV(), br, block);
  IRMapping mapping;
  update.getMaskRegion().cloneInto(&list.getMaskRegion(), mapping);
  for (auto [number, axis] : {std::pair(0u, batch), std::pair(1u, head)})
    if (axis.fixed)
      rewriter.replaceAllUsesWith(list.getMaskRegion().getArgument(number),
                                  axis.fixed);
  return list;
}

/// The index read from `tensor`.
static Value readIndex(OpBuilder &builder, Location loc, Value tensor,
                       ValueRange at) {
  Value entry = tensor::ExtractOp::create(builder, loc, tensor, at);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    entry);
}

Value BlockLister::readCount(BlockListOp list, ValueRange at, int64_t which) {
  SmallVector<Value> indexes(at);
  indexes.push_back(arith::ConstantIndexOp::create(rewriter, loc, which));
  return readIndex(rewriter, loc, list.getCounts(), indexes);
}

/// A loop over the entries [begin, end) of the list.
void BlockLister::addLoop(BlockListOp list, ValueRange at, Value begin,
                          Value end, bool isFull, SmallVector<Value> &state) {
  OpBuilder::InsertionGuard guard(rewriter);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  auto entries =
      scf::ForOp::create(rewriter, loop.getLoc(), begin, end, one, state);
  rewriter.setInsertionPointToStart(entries.getBody());
  SmallVector<Value> indexes(at);
  indexes.push_back(entries.getInductionVar());
  Value number = readIndex(rewriter, loc, list.getBlocks(), indexes);
  Value key = arith::MulIOp::create(
      rewriter, loc, number,
      arith::ConstantIndexOp::create(rewriter, loc, block));
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), key);
  mapping.map(loop.getRegionIterArgs(), entries.getRegionIterArgs());
  for (Operation &op : *loop.getBody())
    rewriter.clone(op, mapping);
  if (isFull)
    makeFullBlock(rewriter,
                  cast<UpdateOp>(mapping.lookup(update.getOperation())), block);
  state.assign(entries.getResults().begin(), entries.getResults().end());
}

void BlockLister::run() {
  Region &mask = update.getMaskRegion();
  rewriter.setInsertionPoint(loop);
  ListAxis batch = makeAxis(mask.getArgument(0), update.getBatchPosition());
  ListAxis head = makeAxis(mask.getArgument(1), update.getHeadPosition());
  BlockListOp list = buildList(batch, head);
  Value br = arith::ConstantIndexOp::create(rewriter, loc, list.getBr());
  Value queryBlock =
      arith::DivUIOp::create(rewriter, loc, update.getRowPosition(), br);
  SmallVector<Value> at{batch.index, head.index, queryBlock};
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value numFull = readCount(list, at, 0);
  Value numAll =
      arith::AddIOp::create(rewriter, loc, numFull, readCount(list, at, 1));
  SmallVector<Value> state(loop.getInitArgs());
  addLoop(list, at, zero, numFull, /*isFull=*/true, state);
  addLoop(list, at, numFull, numAll, /*isFull=*/false, state);
  rewriter.replaceOp(loop, state);
}

LogicalResult fa::attn::listBlocks(RewriterBase &rewriter, scf::ForOp loop,
                                   UpdateOp update, std::string &reason) {
  BlockLister lister(rewriter, loop, update);
  reason = lister.findObstacle();
  if (!reason.empty())
    return failure();
  lister.run();
  return success();
}
