//===- TileView.cpp - Tiles of attention operands -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileView.h"

using namespace mlir;
using namespace fa::attn;

using OFR = OpFoldResult;

TileView::TileView(OpBuilder &builder, Location loc, unsigned numLeading,
                   ArrayRef<OFR> offsets, ArrayRef<OFR> sizes)
    : builder(builder), loc(loc), headOffsets(offsets.take_front(numLeading)),
      headSizes(sizes.take_front(numLeading)), rowOffset(offsets[numLeading]),
      rowSize(sizes[numLeading]) {
  dropsLeading = numLeading > 0 && llvm::all_of(headSizes, [](OFR size) {
                   return isConstantIntValue(size, 1);
                 });
}

/// Takes a slice of `source`, without the dimensions that are `dropped`.
Value TileView::slice(Value source, ArrayRef<OFR> offsets, ArrayRef<OFR> sizes,
                      ArrayRef<bool> dropped) {
  SmallVector<OFR> strides(offsets.size(), builder.getIndexAttr(1));
  auto sourceType = cast<RankedTensorType>(source.getType());
  SmallVector<int64_t> shape;
  for (auto [size, isDropped] : llvm::zip_equal(sizes, dropped))
    if (!isDropped)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, sourceType.getElementType());
  return tensor::ExtractSliceOp::create(builder, loc, type, source, offsets,
                                        sizes, strides);
}

Value TileView::matrix(Value source, ArrayRef<OFR> heads,
                       ArrayRef<OFR> headSizes, OFR offset, OFR size) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<OFR> offsets(heads), sizes(headSizes);
  SmallVector<bool> dropped(heads.size(), dropsLeading);
  offsets.append({offset, builder.getIndexAttr(0)});
  sizes.append({size, builder.getIndexAttr(type.getShape().back())});
  dropped.append({false, false});
  return slice(source, offsets, sizes, dropped);
}

Value TileView::rows(Value source) {
  SmallVector<OFR> offsets(headOffsets), sizes(headSizes);
  SmallVector<bool> dropped(headOffsets.size(), dropsLeading);
  offsets.push_back(rowOffset);
  sizes.push_back(rowSize);
  dropped.push_back(false);
  return slice(source, offsets, sizes, dropped);
}

Value TileView::partial(Value source, bool isMatrix, OFR offset, OFR count) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<OFR> offsets{offset}, sizes{count};
  SmallVector<bool> dropped{isConstantIntValue(count, 1)};
  llvm::append_range(offsets, headOffsets);
  llvm::append_range(sizes, headSizes);
  dropped.append(headOffsets.size(), dropsLeading);
  offsets.push_back(rowOffset);
  sizes.push_back(rowSize);
  if (isMatrix) {
    offsets.push_back(builder.getIndexAttr(0));
    sizes.push_back(builder.getIndexAttr(type.getShape().back()));
  }
  dropped.resize(offsets.size(), false);
  return slice(source, offsets, sizes, dropped);
}

SmallVector<Range> fa::attn::leadingRanges(OpBuilder &builder, Location loc,
                                           Value source, unsigned count) {
  SmallVector<Range> ranges;
  for (unsigned dim = 0; dim < count; ++dim)
    ranges.push_back({builder.getIndexAttr(0),
                      tensor::getMixedSize(builder, loc, source, dim),
                      builder.getIndexAttr(1)});
  return ranges;
}

SmallVector<utils::IteratorType> fa::attn::parallelLoops(unsigned count) {
  return SmallVector<utils::IteratorType>(count, utils::IteratorType::parallel);
}

LogicalResult fa::attn::resultPosition(OpBuilder &builder, Value result,
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

TilingResult fa::attn::tilingResult(Operation *tiled, ValueRange slices) {
  SmallVector<Operation *> sliceOps;
  for (Value slice : slices)
    sliceOps.push_back(slice.getDefiningOp());
  return {{tiled}, SmallVector<Value>(tiled->getResults()), sliceOps};
}
