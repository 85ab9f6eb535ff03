//===- AttnTiling.cpp - TilingInterface of the state operations -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// init, update and finalize tile over (b, h, i), and update over the keys j
// as a reduction. Tiles of one batch and one head drop those two dimensions, so
// that what a block computes reads as on paper: Q [Br, D], K [Bc, D].
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fa::attn;

using OFR = OpFoldResult;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Whether a tile with these leading (b, h) sizes drops those dimensions.
static bool isOneHead(ArrayRef<OFR> sizes) {
  return sizes.size() >= 2 && isConstantIntValue(sizes[0], 1) &&
         isConstantIntValue(sizes[1], 1);
}

/// Takes a slice of `source`; the leading `dropped` dimensions, of size one,
/// disappear from its type.
static Value sliceOf(OpBuilder &builder, Location loc, Value source,
                     ArrayRef<OFR> offsets, ArrayRef<OFR> sizes,
                     unsigned dropped) {
  SmallVector<OFR> strides(offsets.size(), builder.getIndexAttr(1));
  auto sourceType = cast<RankedTensorType>(source.getType());
  SmallVector<int64_t> shape;
  for (OFR size : sizes.drop_front(dropped))
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, sourceType.getElementType());
  return tensor::ExtractSliceOp::create(builder, loc, type, source, offsets,
                                        sizes, strides);
}

/// How an iteration tile (b, h, i[, j]) or (i[, j]) selects from tensors.
struct TileView {
  OpBuilder &builder;
  Location loc;
  bool whole;       ///< operands have the (b, h) dimensions
  unsigned dropped; ///< leading dimensions that the tile drops: 2 or 0
  SmallVector<OFR> headOffsets, headSizes;
  OFR rowOffset, rowSize;

  TileView(OpBuilder &builder, Location loc, bool whole, ArrayRef<OFR> offsets,
           ArrayRef<OFR> sizes)
      : builder(builder), loc(loc), whole(whole),
        dropped(whole && isOneHead(sizes) ? 2 : 0) {
    unsigned row = whole ? 2 : 0;
    headOffsets.assign(offsets.begin(), offsets.begin() + row);
    headSizes.assign(sizes.begin(), sizes.begin() + row);
    rowOffset = offsets[row];
    rowSize = sizes[row];
  }

  /// Rows of a matrix ([B, H, S, D] or [S, D]) of `offset`, `size`.
  Value matrix(Value source, ArrayRef<OFR> heads, OFR offset, OFR size) {
    auto type = cast<RankedTensorType>(source.getType());
    SmallVector<OFR> offsets(heads), sizes(headSizes);
    offsets.append({offset, builder.getIndexAttr(0)});
    sizes.append({size, builder.getIndexAttr(type.getShape().back())});
    return sliceOf(builder, loc, source, offsets, sizes, dropped);
  }
  Value matrix(Value source) {
    return matrix(source, headOffsets, rowOffset, rowSize);
  }
  /// Rows of a row tensor ([B, H, S] or [S]).
  Value rows(Value source) {
    SmallVector<OFR> offsets(headOffsets), sizes(headSizes);
    offsets.push_back(rowOffset);
    sizes.push_back(rowSize);
    return sliceOf(builder, loc, source, offsets, sizes, dropped);
  }
};

/// The ranges [0, size) of the leading dimensions of `source`.
static SmallVector<Range> leadingRanges(OpBuilder &builder, Location loc,
                                        Value source, unsigned count) {
  SmallVector<Range> ranges;
  for (unsigned dim = 0; dim < count; ++dim)
    ranges.push_back({builder.getIndexAttr(0),
                      tensor::getMixedSize(builder, loc, source, dim),
                      builder.getIndexAttr(1)});
  return ranges;
}

static SmallVector<utils::IteratorType> parallelLoops(unsigned count) {
  return SmallVector<utils::IteratorType>(count, utils::IteratorType::parallel);
}

/// The position of a matrix result (`isMatrix`) or of a row result in the
/// whole tensor.
static LogicalResult resultPosition(OpBuilder &builder, Value result,
                                    bool isMatrix, ArrayRef<OFR> offsets,
                                    ArrayRef<OFR> sizes,
                                    SmallVector<OFR> &resultOffsets,
                                    SmallVector<OFR> &resultSizes) {
  auto type = cast<RankedTensorType>(result.getType());
  unsigned rows = type.getRank() - (isMatrix ? 1 : 0);
  resultOffsets.assign(offsets.begin(), offsets.begin() + rows);
  resultSizes.assign(sizes.begin(), sizes.begin() + rows);
  if (isMatrix) {
    resultOffsets.push_back(builder.getIndexAttr(0));
    resultSizes.push_back(builder.getIndexAttr(type.getShape().back()));
  }
  return success();
}

static TilingResult tilingResult(Operation *tiled, ValueRange slices) {
  SmallVector<Operation *> sliceOps;
  for (Value slice : slices)
    sliceOps.push_back(slice.getDefiningOp());
  return {{tiled}, SmallVector<Value>(tiled->getResults()), sliceOps};
}

//===----------------------------------------------------------------------===//
// InitOp
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> InitOp::getLoopIteratorTypes() {
  return parallelLoops(getMax().getType().getRank());
}

SmallVector<Range> InitOp::getIterationDomain(OpBuilder &builder) {
  return leadingRanges(builder, getLoc(), getMaxInit(),
                       getMax().getType().getRank());
}

FailureOr<TilingResult> InitOp::getTiledImplementation(OpBuilder &builder,
                                                       ArrayRef<OFR> offsets,
                                                       ArrayRef<OFR> sizes) {
  TileView view(builder, getLoc(), getAcc().getType().getRank() == 4, offsets,
                sizes);
  Value acc = view.matrix(getAccInit());
  Value max = view.rows(getMaxInit()), sum = view.rows(getSumInit());
  auto tiled = InitOp::create(builder, getLoc(), acc, max, sum);
  return tilingResult(tiled, {acc, max, sum});
}

LogicalResult InitOp::getResultTilePosition(OpBuilder &builder,
                                            unsigned resultNumber,
                                            ArrayRef<OFR> offsets,
                                            ArrayRef<OFR> sizes,
                                            SmallVector<OFR> &resultOffsets,
                                            SmallVector<OFR> &resultSizes) {
  return resultPosition(builder, getResult(resultNumber), resultNumber == 0,
                        offsets, sizes, resultOffsets, resultSizes);
}

/// The tile of an op parallel over rows from a tile of one of its results.
template <typename OpTy>
static FailureOr<TilingResult>
tileFromResult(OpTy op, OpBuilder &builder, unsigned resultNumber,
               ArrayRef<OFR> offsets, ArrayRef<OFR> sizes) {
  unsigned loops = op.getLoopIteratorTypes().size();
  FailureOr<TilingResult> tiled = op.getTiledImplementation(
      builder, offsets.take_front(loops), sizes.take_front(loops));
  if (failed(tiled))
    return failure();
  return TilingResult{tiled->tiledOps,
                      {tiled->tiledValues[resultNumber]},
                      tiled->generatedSlices};
}

FailureOr<TilingResult> InitOp::generateResultTileValue(OpBuilder &builder,
                                                        unsigned resultNumber,
                                                        ArrayRef<OFR> offsets,
                                                        ArrayRef<OFR> sizes) {
  return tileFromResult(*this, builder, resultNumber, offsets, sizes);
}

//===----------------------------------------------------------------------===//
// UpdateOp
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> UpdateOp::getLoopIteratorTypes() {
  SmallVector<utils::IteratorType> types = parallelLoops(isTile() ? 1 : 3);
  types.push_back(utils::IteratorType::reduction);
  return types;
}

SmallVector<Range> UpdateOp::getIterationDomain(OpBuilder &builder) {
  SmallVector<Range> ranges =
      leadingRanges(builder, getLoc(), getQ(), isTile() ? 1 : 3);
  ranges.push_back(
      {builder.getIndexAttr(0),
       tensor::getMixedSize(builder, getLoc(), getK(), isTile() ? 0 : 2),
       builder.getIndexAttr(1)});
  return ranges;
}

/// The head of K and V that query head `head` reads: head / (Hq / Hkv).
static OFR keyHead(OpBuilder &builder, Location loc, Value q, Value k,
                   OFR head) {
  OFR headsQ = tensor::getMixedSize(builder, loc, q, 1);
  OFR headsKV = tensor::getMixedSize(builder, loc, k, 1);
  std::optional<int64_t> staticQ = getConstantIntValue(headsQ);
  std::optional<int64_t> staticKV = getConstantIntValue(headsKV);
  if (staticQ && staticKV && *staticQ == *staticKV)
    return head;
  auto value = [&](OFR ofr) {
    return getValueOrCreateConstantIndexOp(builder, loc, ofr);
  };
  Value group =
      arith::DivUIOp::create(builder, loc, value(headsQ), value(headsKV));
  return arith::DivUIOp::create(builder, loc, value(head), group).getResult();
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

FailureOr<TilingResult> UpdateOp::getTiledImplementation(OpBuilder &builder,
                                                         ArrayRef<OFR> offsets,
                                                         ArrayRef<OFR> sizes) {
  Location loc = getLoc();
  bool whole = !isTile();
  TileView view(builder, loc, whole, offsets, sizes);

  // 1. Several heads of a group in one tile would need several heads of K and
  //    V: only tiles of one head have a head of K and V.
  SmallVector<OFR> keyHeads(view.headOffsets);
  if (whole) {
    if (!isConstantIntValue(sizes[1], 1))
      return emitOpError("tiles over heads by one, found another tile size");
    keyHeads[1] = keyHead(builder, loc, getQ(), getK(), offsets[1]);
  }

  // 2. Slices of the operands.
  Value q = view.matrix(getQ());
  Value k = view.matrix(getK(), keyHeads, offsets.back(), sizes.back());
  Value v = view.matrix(getV(), keyHeads, offsets.back(), sizes.back());
  Value acc = view.matrix(getAccInit());
  Value max = view.rows(getMaxInit()), sum = view.rows(getSumInit());

  // 3. Where the tile lies in the whole problem.
  SmallVector<Value> position{getBatchPosition(), getHeadPosition(),
                              getRowPosition(), getKeyPosition()};
  unsigned first = whole ? 0 : 2;
  for (unsigned dim = first; dim < 4; ++dim)
    position[dim] = advance(builder, loc, position[dim], offsets[dim - first]);

  // 4. The same fold on the tile.
  auto tiled = UpdateOp::create(builder, loc, q, k, v, position[0], position[1],
                                position[2], position[3], getSeqQ(), getSeqKV(),
                                getScale(), acc, max, sum, getNormalizedAttr());
  IRMapping mapping;
  getScoreRegion().cloneInto(&tiled.getScoreRegion(), mapping);
  getMaskRegion().cloneInto(&tiled.getMaskRegion(), mapping);
  return tilingResult(tiled, {q, k, v, acc, max, sum});
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
// FinalizeOp
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> FinalizeOp::getLoopIteratorTypes() {
  return parallelLoops(getLse().getType().getRank());
}

SmallVector<Range> FinalizeOp::getIterationDomain(OpBuilder &builder) {
  return leadingRanges(builder, getLoc(), getMax(),
                       getLse().getType().getRank());
}

FailureOr<TilingResult>
FinalizeOp::getTiledImplementation(OpBuilder &builder, ArrayRef<OFR> offsets,
                                   ArrayRef<OFR> sizes) {
  TileView view(builder, getLoc(), getAcc().getType().getRank() == 4, offsets,
                sizes);
  Value acc = view.matrix(getAcc());
  Value max = view.rows(getMax()), sum = view.rows(getSum());
  Value o = view.matrix(getOInit()), lse = view.rows(getLseInit());
  auto tiled = FinalizeOp::create(builder, getLoc(), acc, max, sum, getUnit(),
                                  o, lse, getNormalizedAttr());
  return tilingResult(tiled, {acc, max, sum, o, lse});
}

LogicalResult FinalizeOp::getResultTilePosition(OpBuilder &builder,
                                                unsigned resultNumber,
                                                ArrayRef<OFR> offsets,
                                                ArrayRef<OFR> sizes,
                                                SmallVector<OFR> &resultOffsets,
                                                SmallVector<OFR> &resultSizes) {
  return resultPosition(builder, getResult(resultNumber), resultNumber == 0,
                        offsets, sizes, resultOffsets, resultSizes);
}

FailureOr<TilingResult>
FinalizeOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                    ArrayRef<OFR> offsets,
                                    ArrayRef<OFR> sizes) {
  return tileFromResult(*this, builder, resultNumber, offsets, sizes);
}

LogicalResult FinalizeOp::getIterationDomainTileFromOperandTiles(
    OpBuilder &, ArrayRef<unsigned>, ArrayRef<SmallVector<OFR>> offsets,
    ArrayRef<SmallVector<OFR>> sizes, SmallVectorImpl<OFR> &domainOffsets,
    SmallVectorImpl<OFR> &domainSizes) {
  // Every operand leads with the dimensions of the domain.
  unsigned loops = getLoopIteratorTypes().size();
  domainOffsets.assign(offsets.front().begin(),
                       offsets.front().begin() + loops);
  domainSizes.assign(sizes.front().begin(), sizes.front().begin() + loops);
  return success();
}

FailureOr<TilingResult> FinalizeOp::getTiledImplementationFromOperandTiles(
    OpBuilder &builder, ArrayRef<unsigned> operands,
    ArrayRef<SmallVector<OFR>> offsets, ArrayRef<SmallVector<OFR>> sizes) {
  SmallVector<OFR> domainOffsets, domainSizes;
  if (failed(getIterationDomainTileFromOperandTiles(
          builder, operands, offsets, sizes, domainOffsets, domainSizes)))
    return failure();
  return getTiledImplementation(builder, domainOffsets, domainSizes);
}
