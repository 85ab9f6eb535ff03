//===- DimClasses.cpp - Which dimensions of which tiles are the same loop -===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DimClasses.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fa;

/// Whether `slice` is a tile without the rows that are not there, and not a
/// tile of a whole tensor.
static bool isCut(tensor::ExtractSliceOp slice) {
  return slice.getSourceType().hasStaticShape() && slice.hasZeroOffset() &&
         !isa<BlockArgument>(slice.getSource());
}

DimClasses::DimClasses(Operation *root) {
  root->walk([&](Operation *op) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      tieLinalg(linalgOp);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      tieLoop(loop);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      tieBranch(branch);
    else if (isa<tensor::PadOp, tensor::CastOp>(op))
      tieAll(op->getResult(0), op->getOperand(0));
    else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
             slice && isCut(slice))
      tieAll(slice.getResult(), slice.getSource());
  });
}

/// Whether a tile has no dimensions of its own: it is the same everywhere, and
/// one op may serve tiles that have nothing to do with each other.
static bool isShapeless(Value tile) {
  return tile.getDefiningOp<tensor::EmptyOp>() ||
         tile.getDefiningOp<linalg::FillOp>();
}

/// Ties tiles of one rank dimension by dimension.
void DimClasses::tieAll(Value lhs, Value rhs) {
  auto lhsType = dyn_cast<RankedTensorType>(lhs.getType());
  auto rhsType = dyn_cast<RankedTensorType>(rhs.getType());
  if (!lhsType || !rhsType || lhsType.getRank() != rhsType.getRank() ||
      isShapeless(lhs) || isShapeless(rhs))
    return;
  for (int64_t dim = 0; dim < lhsType.getRank(); ++dim)
    tie(key(lhs, dim), key(rhs, dim));
}

void DimClasses::tieLinalg(linalg::LinalgOp op) {
  if (isa<linalg::FillOp>(op))
    return;
  for (OpOperand &operand : op->getOpOperands()) {
    if (isShapeless(operand.get()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        tie(key(operand.get(), dim), key(op, loop.getPosition()));
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        tie(key(op.getTiedOpResult(&init), dim), key(op, loop.getPosition()));
  }
}

void DimClasses::tieLoop(scf::ForOp loop) {
  for (auto [init, arg, yielded, result] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                       loop.getYieldedValues(), loop.getResults())) {
    tieAll(init, arg);
    tieAll(arg, yielded);
    tieAll(yielded, result);
  }
}

void DimClasses::tieBranch(scf::IfOp branch) {
  for (Region *region : branch.getRegions())
    if (!region->empty())
      for (auto [yielded, result] :
           llvm::zip_equal(region->front().getTerminator()->getOperands(),
                           branch.getResults()))
        tieAll(yielded, result);
}

void DimClasses::divide(Value tile, int64_t dim) {
  divided.push_back(key(tile, dim));
  classes.insert(divided.back());
}

bool DimClasses::isDivided(Key key) const {
  return classes.contains(key) && llvm::any_of(divided, [&](Key other) {
           return classes.isEquivalent(key, other);
         });
}

bool DimClasses::isDivided(Value tile, int64_t dim) const {
  return isDivided(key(tile, dim));
}

bool DimClasses::isDivided(linalg::LinalgOp op, int64_t dim) const {
  return isDivided(key(op, dim));
}
