//===- TileAccess.cpp - Slices as loads and stores of tiles ---------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileAccess.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fa;

using OFR = OpFoldResult;

/// Adds `value` to `sum`, unless it is 0.
static void addTo(PositionSum &sum, OFR value) {
  if (!isConstantIntValue(value, 0))
    sum.push_back(value);
}

/// `end` and `start` where `expr`, a result of `op`'s map, is `end - start`;
/// else null.
static std::pair<OFR, Value> matchRemainder(AffineExpr expr,
                                            affine::AffineMinOp op) {
  AffineMap map = op.getAffineMap();
  auto operand = [&](AffineExpr e) -> Value {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      return op.getOperand(dim.getPosition());
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      return op.getOperand(map.getNumDims() + symbol.getPosition());
    return {};
  };
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return {};
  for (auto [negated, end] : {std::pair(sum.getLHS(), sum.getRHS()),
                              std::pair(sum.getRHS(), sum.getLHS())}) {
    auto product = dyn_cast<AffineBinaryOpExpr>(negated);
    if (!product || product.getKind() != AffineExprKind::Mul)
      continue;
    auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
    Value start = operand(product.getLHS());
    if (!factor || factor.getValue() != -1 || !start)
      continue;
    if (auto constant = dyn_cast<AffineConstantExpr>(end))
      return {IntegerAttr::get(IndexType::get(op.getContext()),
                               constant.getValue()),
              start};
    return {OFR(operand(end)), start};
  }
  return {};
}

/// What stands before `start` in `offset`: 0 for itself, base for base + start;
/// else nothing.
static std::optional<PositionSum> matchBase(OFR offset, Value start) {
  auto value = dyn_cast<Value>(offset);
  if (value == start)
    return PositionSum();
  auto sum = value ? value.getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  if (sum && sum.getRhs() == start)
    return PositionSum{sum.getLhs()};
  if (sum && sum.getLhs() == start)
    return PositionSum{sum.getRhs()};
  return std::nullopt;
}

/// The end of the rows of a slice at `offset` where its `size` is
/// min(`tileSize`, end - offset); else nothing.
static std::optional<PositionSum> matchCut(OFR size, int64_t tileSize,
                                           OFR offset) {
  auto value = dyn_cast<Value>(size);
  auto min = value ? value.getDefiningOp<affine::AffineMinOp>()
                   : affine::AffineMinOp();
  if (!min || min.getAffineMap().getNumResults() != 2)
    return std::nullopt;
  bool hasTile = false;
  std::optional<PositionSum> rowEnd;
  for (AffineExpr expr : min.getAffineMap().getResults()) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      hasTile |= constant.getValue() == tileSize;
      continue;
    }
    auto [end, start] = matchRemainder(expr, min);
    if (start)
      rowEnd = matchBase(offset, start);
    if (rowEnd)
      addTo(*rowEnd, end);
  }
  return hasTile ? rowEnd : std::nullopt;
}

/// Whether the leading dimensions of a slice, which the tile has not, are one.
static bool hasUnitLeadingSizes(ArrayRef<OFR> sizes, int64_t tileRank) {
  return llvm::all_of(sizes.drop_back(tileRank),
                      [](OFR size) { return isConstantIntValue(size, 1); });
}

/// Matches the sizes of a slice against a tile's: equal, or, for the rows,
/// those up to an end. Gives the end of the rows where some are cut.
static LogicalResult matchSizes(ArrayRef<OFR> offsets, ArrayRef<OFR> sizes,
                                ArrayRef<int64_t> tileShape,
                                std::optional<PositionSum> &rowEnd) {
  int64_t first = sizes.size() - tileShape.size();
  for (auto [dim, tileSize] : llvm::enumerate(tileShape)) {
    OFR size = sizes[first + dim];
    if (isConstantIntValue(size, tileSize))
      continue;
    if (dim == 0)
      rowEnd = matchCut(size, tileSize, offsets[first]);
    if (dim != 0 || !rowEnd)
      return failure();
  }
  return success();
}

/// `offsets` as sums of one.
static SmallVector<PositionSum> sumsOf(ArrayRef<OFR> offsets) {
  SmallVector<PositionSum> sums(offsets.size());
  for (auto [sum, offset] : llvm::zip_equal(sums, offsets))
    addTo(sum, offset);
  return sums;
}

tensor::ExtractSliceOp fa::sliceAround(tensor::ExtractSliceOp slice) {
  return slice.getSource().getDefiningOp<tensor::ExtractSliceOp>();
}

/// Makes an access of the slice `around` one of what that is a slice of. Its
/// rows are there up to the slice's end.
static void widenAccess(TileAccess &access, tensor::ExtractSliceOp around,
                        int64_t tileRank) {
  SmallVector<OFR> offsets = around.getMixedOffsets();
  llvm::SmallBitVector dropped = around.getDroppedDims();
  SmallVector<PositionSum> wide = sumsOf(offsets);
  unsigned dim = 0;
  for (auto [wideDim, sum] : llvm::enumerate(wide))
    if (!dropped.test(wideDim))
      llvm::append_range(sum, access.offsets[dim++]);
  int64_t row = wide.size() - tileRank;
  if (!access.rowEnd)
    access.rowEnd = PositionSum{around.getMixedSizes()[row]};
  addTo(*access.rowEnd, offsets[row]);
  access.offsets = wide;
  access.whole = around.getSource();
}

namespace {
/// A slice of a whole tensor, and how it is padded.
struct PaddedSlice {
  tensor::ExtractSliceOp base; ///< of the whole tensor
  SmallVector<OFR> offsets, sizes;
  Value padding; ///< null: it is not padded
  /// The dimension of the whole tensor that each dimension of the tile comes
  /// from.
  SmallVector<int64_t> dims;
};
} // namespace

/// Whether `pad` adds a constant behind the end alone.
static bool padsEnd(tensor::PadOp pad) {
  return pad.getConstantPaddingValue() &&
         llvm::all_of(pad.getMixedLowPad(),
                      [](OFR low) { return isConstantIntValue(low, 0); });
}

static PaddedSlice sliceOf(tensor::ExtractSliceOp slice) {
  PaddedSlice result{
      slice, slice.getMixedOffsets(), slice.getMixedSizes(), Value(), {}};
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (int64_t dim = 0; dim < slice.getSourceType().getRank(); ++dim)
    if (!dropped.test(dim))
      result.dims.push_back(dim);
  return result;
}

/// `inner` as a slice of what `outer` is one of, whose tile it cuts. Fails
/// where it cuts a padded dimension.
static FailureOr<PaddedSlice> compose(const PaddedSlice &outer,
                                      RankedTensorType outerType,
                                      tensor::ExtractSliceOp inner) {
  PaddedSlice result = outer;
  result.dims.clear();
  PaddedSlice cut = sliceOf(inner);
  for (auto [dim, wholeDim] : llvm::enumerate(outer.dims)) {
    OFR &offset = result.offsets[wholeDim];
    // The one position of a dimension of size 1 is 0, whatever names it.
    int64_t size = outerType.getDimSize(dim);
    bool isCut = (size != 1 && !isConstantIntValue(cut.offsets[dim], 0)) ||
                 !isConstantIntValue(cut.sizes[dim], size);
    if (llvm::is_contained(cut.dims, dim))
      result.dims.push_back(wholeDim);
    if (!isCut)
      continue;
    bool isPadded =
        outer.padding && !outerType.isDynamicDim(dim) &&
        !isConstantIntValue(outer.sizes[wholeDim], outerType.getDimSize(dim));
    if (isPadded || !isConstantIntValue(offset, 0))
      return failure();
    offset = cut.offsets[dim];
    result.sizes[wholeDim] = cut.sizes[dim];
  }
  return result;
}

/// The slice of a whole tensor that `tile` is, padded or cut again.
static FailureOr<PaddedSlice> matchSlice(Value tile) {
  if (auto pad = tile.getDefiningOp<tensor::PadOp>()) {
    auto slice = pad.getSource().getDefiningOp<tensor::ExtractSliceOp>();
    if (!padsEnd(pad) || !slice || !slice.hasUnitStride())
      return failure();
    PaddedSlice result = sliceOf(slice);
    result.padding = pad.getConstantPaddingValue();
    return result;
  }
  auto slice = tile.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || !slice.hasUnitStride())
    return failure();
  if (!slice.getSource().getDefiningOp<tensor::PadOp>())
    return sliceOf(slice);
  FailureOr<PaddedSlice> outer = matchSlice(slice.getSource());
  if (failed(outer))
    return failure();
  return compose(*outer, slice.getSourceType(), slice);
}

FailureOr<TileAccess> fa::matchLoad(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto pad = tile.getDefiningOp<tensor::PadOp>();
  if (pad && !padsEnd(pad))
    return pad.emitOpError("pads with something else than a constant at the "
                           "end: no load of a tile does that");
  FailureOr<PaddedSlice> slice = matchSlice(tile);
  if (failed(slice) || !type.hasStaticShape())
    return mlir::emitError(tile.getLoc(), "a tile of type ")
           << type << " is neither a static slice nor a padded one: run "
           << "--pad-tiles first";
  TileAccess access{slice->base.getSource(), sumsOf(slice->offsets),
                    std::nullopt, slice->padding};
  if (!hasUnitLeadingSizes(slice->sizes, type.getRank()) ||
      failed(matchSizes(slice->offsets, slice->sizes, type.getShape(),
                        access.rowEnd)))
    return tile.getDefiningOp()->emitOpError(
        "is no tile cut by an end of its rows alone");
  if (tensor::ExtractSliceOp around = sliceAround(slice->base)) {
    if (!around.hasUnitStride() || sliceAround(around))
      return around.emitOpError("is no sequence of an argument of the kernel");
    widenAccess(access, around, type.getRank());
  }
  return access;
}

/// Whether `end` is the size of dimension `dim` of `whole`, which a
/// `tensor.empty` makes or the caller gives.
static bool endsWith(Value whole, int64_t dim, OFR end) {
  if (auto empty = whole.getDefiningOp<tensor::EmptyOp>())
    return isEqualConstantIntOrValue(empty.getMixedSizes()[dim], end);
  if (std::optional<int64_t> constant = getConstantIntValue(end))
    return cast<RankedTensorType>(whole.getType()).getDimSize(dim) == *constant;
  auto op = cast<Value>(end).getDefiningOp<tensor::DimOp>();
  return op && op.getSource() == whole && op.getConstantIndex() == dim;
}

/// What `insert` writes, and into which tensor.
static std::pair<Value, Value>
getSourceAndDest(OffsetSizeAndStrideOpInterface insert) {
  if (auto parallel = dyn_cast<tensor::ParallelInsertSliceOp>(*insert))
    return {parallel.getSource(), parallel.getDest()};
  auto sequential = cast<tensor::InsertSliceOp>(*insert);
  return {sequential.getSource(), sequential.getDest()};
}

bool fa::isWrittenPart(tensor::ParallelInsertSliceOp insert) {
  auto part = insert.getSource().getDefiningOp<tensor::ExtractSliceOp>();
  return part && part.getSourceType() == insert.getDestType() &&
         part.getMixedOffsets() == insert.getMixedOffsets() &&
         part.getMixedSizes() == insert.getMixedSizes();
}

FailureOr<std::pair<Value, TileAccess>>
fa::matchStore(OffsetSizeAndStrideOpInterface insert, Value before) {
  Value tile = getSourceAndDest(insert).first;
  Value dest = getSourceAndDest(insert).second;
  if (auto cut = tile.getDefiningOp<tensor::ExtractSliceOp>())
    if (cut.hasUnitStride() && cut.hasZeroOffset())
      tile = cut.getSource();
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<OFR> offsets = insert.getMixedOffsets();
  SmallVector<OFR> sizes = insert.getMixedSizes();
  auto refuse = [&]() -> InFlightDiagnostic {
    return insert->emitOpError("writes no static tile that is cut by an end of "
                               "its rows alone: run --pad-tiles first");
  };
  if (!type.hasStaticShape() || !insert.hasUnitStride() ||
      !hasUnitLeadingSizes(sizes, type.getRank()))
    return refuse();
  TileAccess access{dest, sumsOf(offsets), std::nullopt, Value()};
  if (failed(matchSizes(offsets, sizes, type.getShape(), access.rowEnd)))
    return refuse();
  // The end of the output itself need not be said.
  int64_t rowDim = sizes.size() - type.getRank();
  if (access.rowEnd && access.rowEnd->size() == 1 &&
      endsWith(before, rowDim, access.rowEnd->front()))
    access.rowEnd.reset();
  return std::pair(tile, access);
}
