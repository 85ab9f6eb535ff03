//===- AttnTiling.cpp - TilingInterface of the row-wise operations --------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Init, merge and finalize: parallel over batches, heads and rows. Those of the
// update, which reduces over keys, are in UpdateTiling.cpp.
//
//===----------------------------------------------------------------------===//

#include "TileView.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"

using namespace mlir;
using namespace fa::attn;

using OFR = OpFoldResult;

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
  TileView view(builder, getLoc(), getMax().getType().getRank() - 1, offsets,
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
// MergeOp
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> MergeOp::getLoopIteratorTypes() {
  return parallelLoops(getMax().getType().getRank());
}

SmallVector<Range> MergeOp::getIterationDomain(OpBuilder &builder) {
  return leadingRanges(builder, getLoc(), getMaxInit(),
                       getMax().getType().getRank());
}

FailureOr<TilingResult> MergeOp::getTiledImplementation(OpBuilder &builder,
                                                        ArrayRef<OFR> offsets,
                                                        ArrayRef<OFR> sizes) {
  TileView view(builder, getLoc(), getMax().getType().getRank() - 1, offsets,
                sizes);
  OFR first = builder.getIndexAttr(0);
  OFR count = tensor::getMixedSize(builder, getLoc(), getPartialAcc(), 0);
  SmallVector<Value> slices{
      view.partial(getPartialAcc(), /*isMatrix=*/true, first, count),
      view.partial(getPartialMax(), /*isMatrix=*/false, first, count),
      view.partial(getPartialSum(), /*isMatrix=*/false, first, count),
      view.matrix(getAccInit()),
      view.rows(getMaxInit()),
      view.rows(getSumInit())};
  auto tiled = MergeOp::create(builder, getLoc(), slices[0], slices[1],
                               slices[2], getUnit(), slices[3], slices[4],
                               slices[5], getNormalizedAttr());
  return tilingResult(tiled, slices);
}

LogicalResult MergeOp::getResultTilePosition(OpBuilder &builder,
                                             unsigned resultNumber,
                                             ArrayRef<OFR> offsets,
                                             ArrayRef<OFR> sizes,
                                             SmallVector<OFR> &resultOffsets,
                                             SmallVector<OFR> &resultSizes) {
  return resultPosition(builder, getResult(resultNumber), resultNumber == 0,
                        offsets, sizes, resultOffsets, resultSizes);
}

FailureOr<TilingResult> MergeOp::generateResultTileValue(OpBuilder &builder,
                                                         unsigned resultNumber,
                                                         ArrayRef<OFR> offsets,
                                                         ArrayRef<OFR> sizes) {
  return tileFromResult(*this, builder, resultNumber, offsets, sizes);
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
  TileView view(builder, getLoc(), getMax().getType().getRank() - 1, offsets,
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
