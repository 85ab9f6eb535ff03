//===- UpdateTiling.cpp - Tiling of attn.update -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileView.h"

#include "fa/Dialect/Attn/IR/AttnBuilders.h"
#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fa::attn;

using OFR = OpFoldResult;

//===----------------------------------------------------------------------===//
// UpdateOp
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> UpdateOp::getLoopIteratorTypes() {
  SmallVector<utils::IteratorType> types =
      parallelLoops(getMax().getType().getRank());
  types.push_back(utils::IteratorType::reduction);
  return types;
}

SmallVector<Range> UpdateOp::getIterationDomain(OpBuilder &builder) {
  unsigned rows = getMax().getType().getRank();
  SmallVector<Range> ranges = leadingRanges(builder, getLoc(), getQ(), rows);
  ranges.push_back({builder.getIndexAttr(0),
                    tensor::getMixedSize(builder, getLoc(), getK(), rows - 1),
                    builder.getIndexAttr(1)});
  return ranges;
}

/// Whether `size` is all of dimension `dim` of `tensor`.
static bool isWholeDim(OFR size, Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return isConstantIntValue(size, type.getDimSize(dim));
  auto value = dyn_cast<Value>(size);
  auto dimOp = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  return dimOp && dimOp.getSource() == tensor &&
         dimOp.getConstantIndex() == dim;
}

/// Position plus offset, folded where both are known.
static Value advance(OpBuilder &builder, Location loc, Value position,
                     OFR offset) {
  if (isConstantIntValue(offset, 0))
    return position;
  if (isConstantIntValue(position, 0))
    return getValueOrCreateConstantIndexOp(builder, loc, offset);
  return arith::AddIOp::create(
      builder, loc, position,
      getValueOrCreateConstantIndexOp(builder, loc, offset));
}

/// The tile of `op` for a tile of its iteration space, folding into the state
/// `state` (acc, max, sum), which is a tile already. `slices` gets the slices
/// of q, k and v.
static FailureOr<UpdateOp>
tileInto(UpdateOp op, OpBuilder &builder, TileView &view, ArrayRef<OFR> offsets,
         ArrayRef<OFR> sizes, function_ref<SmallVector<Value>()> sliceState,
         SmallVector<Value> &slices) {
  Location loc = op.getLoc();

  // 1. The heads of K and V: the one that a head of Q reads, or all for all.
  //    Any other number of heads in one tile has no slice of K and V.
  SmallVector<OFR> keyHeads(view.getHeadOffsets());
  SmallVector<OFR> keyHeadSizes(view.getHeadSizes());
  if (!keyHeads.empty()) {
    unsigned head = keyHeads.size() - 1;
    if (isConstantIntValue(sizes[head], 1))
      keyHeads[head] =
          buildKeyHead(builder, loc, op.getQ(), op.getK(), offsets[head]);
    else if (isConstantIntValue(offsets[head], 0) &&
             isWholeDim(sizes[head], op.getQ(), head))
      keyHeadSizes[head] = tensor::getMixedSize(builder, loc, op.getK(), head);
    else
      return op.emitOpError("tiles over heads by one, or not at all");
  }

  // 2. Slices of the operands.
  Value q = view.matrix(op.getQ());
  auto keyTile = [&](Value source) {
    return view.matrix(source, keyHeads, keyHeadSizes, offsets.back(),
                       sizes.back());
  };
  Value k = keyTile(op.getK()), v = keyTile(op.getV());
  SmallVector<Value> state = sliceState();
  slices = {q, k, v};
  llvm::append_range(slices, state);

  // 3. Where the tile lies in the whole problem.
  SmallVector<Value> position{op.getBatchPosition(), op.getHeadPosition(),
                              op.getRowPosition(), op.getKeyPosition()};
  unsigned first = position.size() - offsets.size();
  for (unsigned dim = first; dim < position.size(); ++dim)
    position[dim] = advance(builder, loc, position[dim], offsets[dim - first]);

  // 4. The same fold on the tile.
  auto tiled = UpdateOp::create(builder, loc, q, k, v, position[0], position[1],
                                position[2], position[3], op.getSeqQ(),
                                op.getSeqKV(), op.getScale(), state[0],
                                state[1], state[2], op.getNormalizedAttr());
  IRMapping mapping;
  op.getScoreRegion().cloneInto(&tiled.getScoreRegion(), mapping);
  op.getMaskRegion().cloneInto(&tiled.getMaskRegion(), mapping);
  return tiled;
}

FailureOr<TilingResult> UpdateOp::getTiledImplementation(OpBuilder &builder,
                                                         ArrayRef<OFR> offsets,
                                                         ArrayRef<OFR> sizes) {
  TileView view(builder, getLoc(), getMax().getType().getRank() - 1, offsets,
                sizes);
  auto sliceState = [&] {
    return SmallVector<Value>{view.matrix(getAccInit()),
                              view.rows(getMaxInit()), view.rows(getSumInit())};
  };
  SmallVector<Value> slices;
  FailureOr<UpdateOp> tiled =
      tileInto(*this, builder, view, offsets, sizes, sliceState, slices);
  if (failed(tiled))
    return failure();
  return tilingResult(*tiled, slices);
}

LogicalResult UpdateOp::getResultTilePosition(OpBuilder &builder,
                                              unsigned resultNumber,
                                              ArrayRef<OFR> offsets,
                                              ArrayRef<OFR> sizes,
                                              SmallVector<OFR> &resultOffsets,
                                              SmallVector<OFR> &resultSizes) {
  return resultPosition(builder, getResult(resultNumber), resultNumber == 0,
                        offsets, sizes, resultOffsets, resultSizes);
}

FailureOr<TilingResult> UpdateOp::generateResultTileValue(OpBuilder &builder,
                                                          unsigned resultNumber,
                                                          ArrayRef<OFR> offsets,
                                                          ArrayRef<OFR> sizes) {
  // All keys: a tile of the result needs the whole reduction.
  SmallVector<Range> domain = getIterationDomain(builder);
  unsigned rows = domain.size() - 1;
  SmallVector<OFR> tileOffsets(offsets.take_front(rows));
  SmallVector<OFR> tileSizes(sizes.take_front(rows));
  tileOffsets.push_back(domain.back().offset);
  tileSizes.push_back(domain.back().size);
  FailureOr<TilingResult> tiled =
      getTiledImplementation(builder, tileOffsets, tileSizes);
  if (failed(tiled))
    return failure();
  return TilingResult{tiled->tiledOps,
                      {tiled->tiledValues[resultNumber]},
                      tiled->generatedSlices};
}

//===----------------------------------------------------------------------===//
// UpdateOp as a partial reduction
//===----------------------------------------------------------------------===//

/// Splits whose parts are states of their own: whole tensors, and the keys in
/// tiles that go to different states.
static bool canSplit(UpdateOp op, const SetVector<unsigned> &reductionDims) {
  unsigned keys = op.getMax().getType().getRank();
  return !op.isTile() && reductionDims.size() == 1 &&
         reductionDims.contains(keys);
}

FailureOr<SmallVector<Value>>
UpdateOp::generateInitialTensorForPartialReduction(
    OpBuilder &builder, Location loc, ArrayRef<OFR> sizes,
    const SetVector<unsigned> &reductionDims) {
  if (!canSplit(*this, reductionDims))
    return emitOpError("splits over its keys alone, on whole tensors");
  auto emptyPartial = [&](Value state) -> Value {
    SmallVector<OFR> shape{sizes.back()};
    llvm::append_range(shape, tensor::getMixedSizes(builder, loc, state));
    return tensor::EmptyOp::create(builder, loc, shape, builder.getF32Type());
  };
  auto init =
      InitOp::create(builder, loc, emptyPartial(getAccInit()),
                     emptyPartial(getMaxInit()), emptyPartial(getSumInit()));
  return SmallVector<Value>(init->getResults());
}

FailureOr<TilingResult> UpdateOp::tileToPartialReduction(
    OpBuilder &builder, Location loc, ReductionTilingStrategy strategy,
    ValueRange init, ArrayRef<OFR> offsets, ArrayRef<OFR> sizes,
    const SetVector<unsigned> &reductionDims, ArrayRef<OFR> splits) {
  if (!canSplit(*this, reductionDims))
    return emitOpError("splits over its keys alone, on whole tensors");
  // A state for each key of a tile, which the other strategy means, is no state
  // of attention.
  if (strategy != ReductionTilingStrategy::PartialReductionOuterParallel)
    return emitOpError("splits into parallel parts only");
  TileView view(builder, loc, getMax().getType().getRank() - 1, offsets, sizes);
  OFR one = builder.getIndexAttr(1);
  auto sliceState = [&] {
    return SmallVector<Value>{
        view.partial(init[0], /*isMatrix=*/true, splits.front(), one),
        view.partial(init[1], /*isMatrix=*/false, splits.front(), one),
        view.partial(init[2], /*isMatrix=*/false, splits.front(), one)};
  };
  SmallVector<Value> slices;
  FailureOr<UpdateOp> tiled =
      tileInto(*this, builder, view, offsets, sizes, sliceState, slices);
  if (failed(tiled))
    return failure();
  return tilingResult(*tiled, slices);
}

LogicalResult UpdateOp::getPartialResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ReductionTilingStrategy,
    ArrayRef<OFR> offsets, ArrayRef<OFR> sizes, const SetVector<unsigned> &,
    ArrayRef<OFR> splits, SmallVector<OFR> &resultOffsets,
    SmallVector<OFR> &resultSizes) {
  if (failed(getResultTilePosition(builder, resultNumber, offsets, sizes,
                                   resultOffsets, resultSizes)))
    return failure();
  resultOffsets.insert(resultOffsets.begin(), splits.front());
  resultSizes.insert(resultSizes.begin(), builder.getIndexAttr(1));
  return success();
}

FailureOr<MergeResult> UpdateOp::mergeReductions(OpBuilder &builder,
                                                 Location loc,
                                                 ValueRange partialReduce,
                                                 const SetVector<unsigned> &) {
  // The unit of max: a score region has applied the scale already.
  Value unit = getScale();
  if (hasScore())
    unit = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1));
  auto merge = MergeOp::create(builder, loc, partialReduce[0], partialReduce[1],
                               partialReduce[2], unit, getAccInit(),
                               getMaxInit(), getSumInit(), getNormalizedAttr());
  return MergeResult{{merge}, SmallVector<Value>(merge->getResults())};
}
