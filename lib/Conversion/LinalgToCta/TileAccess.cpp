//===- TileAccess.cpp - Slices as loads and stores of tiles ---------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileAccess.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fa;

using OFR = OpFoldResult;

/// The `end` where `expr`, a result of `op`'s map, is `end - offset`; else
/// null.
static OFR matchRemainder(AffineExpr expr, affine::AffineMinOp op, OFR offset) {
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
    Value subtrahend = operand(product.getLHS());
    if (factor && factor.getValue() == -1 && subtrahend &&
        subtrahend == dyn_cast<Value>(offset)) {
      if (auto constant = dyn_cast<AffineConstantExpr>(end))
        return IntegerAttr::get(IndexType::get(op.getContext()),
                                constant.getValue());
      return operand(end);
    }
  }
  return {};
}

/// The `end` where `size` is min(`tileSize`, end - offset); else null.
static OFR matchCut(OFR size, int64_t tileSize, OFR offset) {
  auto value = dyn_cast<Value>(size);
  auto min = value ? value.getDefiningOp<affine::AffineMinOp>()
                   : affine::AffineMinOp();
  if (!min || min.getAffineMap().getNumResults() != 2)
    return {};
  bool hasTile = false;
  OFR end;
  for (AffineExpr expr : min.getAffineMap().getResults()) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    hasTile |= constant && constant.getValue() == tileSize;
    if (!constant)
      end = matchRemainder(expr, min, offset);
  }
  return hasTile ? end : OFR();
}

/// Whether the leading dimensions of a slice, which the tile has not, are one.
static bool hasUnitLeadingSizes(ArrayRef<OFR> sizes, int64_t tileRank) {
  return llvm::all_of(sizes.drop_back(tileRank),
                      [](OFR size) { return isConstantIntValue(size, 1); });
}

/// Matches the sizes of a slice against a tile's: equal, or, for the rows,
/// those up to an end. Returns the end of the rows, null where no row is cut.
static FailureOr<OFR> matchSizes(ArrayRef<OFR> offsets, ArrayRef<OFR> sizes,
                                 ArrayRef<int64_t> tileShape) {
  OFR rowEnd;
  int64_t first = sizes.size() - tileShape.size();
  for (auto [dim, tileSize] : llvm::enumerate(tileShape)) {
    OFR size = sizes[first + dim];
    if (isConstantIntValue(size, tileSize))
      continue;
    rowEnd = dim == 0 ? matchCut(size, tileSize, offsets[first]) : OFR();
    if (!rowEnd)
      return failure();
  }
  return rowEnd;
}

static bool isZeroPad(tensor::PadOp pad) {
  Value value = pad.getConstantPaddingValue();
  return value && matchPattern(value, m_AnyZeroFloat()) &&
         llvm::all_of(pad.getMixedLowPad(),
                      [](OFR low) { return isConstantIntValue(low, 0); });
}

FailureOr<TileAccess> fa::matchLoad(Value tile) {
  Operation *op = tile.getDefiningOp();
  auto pad = dyn_cast_if_present<tensor::PadOp>(op);
  if (pad && !isZeroPad(pad))
    return op->emitOpError("pads with something else than zeros at the end: no "
                           "load of a tile does that");
  auto slice = pad ? pad.getSource().getDefiningOp<tensor::ExtractSliceOp>()
                   : dyn_cast_if_present<tensor::ExtractSliceOp>(op);
  auto type = cast<RankedTensorType>(tile.getType());
  if (!slice || !type.hasStaticShape())
    return mlir::emitError(tile.getLoc(), "a tile of type ")
           << type << " is neither a static slice nor a padded one: run "
           << "--pad-tiles first";
  SmallVector<OFR> offsets = slice.getMixedOffsets();
  SmallVector<OFR> sizes = slice.getMixedSizes();
  FailureOr<OFR> rowEnd = matchSizes(offsets, sizes, type.getShape());
  if (!slice.hasUnitStride() || !hasUnitLeadingSizes(sizes, type.getRank()) ||
      failed(rowEnd))
    return slice.emitOpError("is no tile cut by an end of its rows alone");
  return TileAccess{slice.getSource(), offsets, *rowEnd};
}

FailureOr<std::pair<Value, TileAccess>>
fa::matchStore(tensor::ParallelInsertSliceOp insert, scf::ForallOp loop) {
  Value tile = insert.getSource();
  if (auto cut = tile.getDefiningOp<tensor::ExtractSliceOp>())
    if (cut.hasUnitStride() && cut.hasZeroOffset())
      tile = cut.getSource();
  auto type = cast<RankedTensorType>(tile.getType());
  auto dest = cast<BlockArgument>(insert.getDest());
  SmallVector<OFR> offsets = insert.getMixedOffsets();
  SmallVector<OFR> sizes = insert.getMixedSizes();
  auto refuse = [&]() -> InFlightDiagnostic {
    return insert.emitOpError("writes no static tile that is cut by an end of "
                              "its rows alone: run --pad-tiles first");
  };
  if (!type.hasStaticShape() || !insert.hasUnitStride() ||
      !hasUnitLeadingSizes(sizes, type.getRank()))
    return refuse();
  FailureOr<OFR> rowEnd = matchSizes(offsets, sizes, type.getShape());
  if (failed(rowEnd))
    return refuse();
  // What is stored ends where the output ends.
  auto empty =
      loop.getTiedOpOperand(dest)->get().getDefiningOp<tensor::EmptyOp>();
  int64_t rowDim = sizes.size() - type.getRank();
  if (*rowEnd && (!empty || !isEqualConstantIntOrValue(
                                empty.getMixedSizes()[rowDim], *rowEnd)))
    return insert.emitOpError(
        "cuts its tile at another row than the end of the "
        "output");
  return std::pair(tile, TileAccess{dest, offsets, *rowEnd});
}
