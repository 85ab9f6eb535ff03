//===- PadTiles.cpp - Static tiles -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simplify.h"

#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

#include <limits>

using namespace mlir;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_PADTILES
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

/// The constant that bounds the rows of `tile`, where there is one.
static FailureOr<int64_t> boundRows(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (!type.isDynamicDim(0))
    return type.getDimSize(0);
  return ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB,
      ValueBoundsConstraintSet::Variable(tile, /*dim=*/0),
      /*stopCondition=*/nullptr, /*closedUB=*/true);
}

static bool hasDynamicRows(Value tile) {
  return cast<RankedTensorType>(tile.getType()).isDynamicDim(0);
}

/// `type` with `rows` rows.
static RankedTensorType withRows(Type type, int64_t rows) {
  auto tensorType = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensorType.getShape());
  shape.front() = rows;
  return RankedTensorType::get(shape, tensorType.getElementType());
}

namespace {
class TilePadder {
public:
  explicit TilePadder(RewriterBase &rewriter) : rewriter(rewriter) {}

  /// Makes the whole fold static that begins at an init of tiles.
  LogicalResult padFold(Fold &fold);
  /// Pads what is still dynamic of one update.
  LogicalResult padUpdate(UpdateOp update);

  unsigned numPadded = 0;

private:
  FailureOr<Value> pad(Value tile, double value);
  LogicalResult padKeys(UpdateOp update);
  LogicalResult padState(UpdateOp update);
  Value cutRows(Value tile, Value rows, Type type);
  void joinKeyLimit(UpdateOp update);
  void makeStatic(Value tile, int64_t rows);

  RewriterBase &rewriter;
};
} // namespace

/// `tile` padded to its bound with `value`, right after the tile's definition.
FailureOr<Value> TilePadder::pad(Value tile, double value) {
  if (!hasDynamicRows(tile))
    return tile;
  FailureOr<int64_t> rows = boundRows(tile);
  if (failed(rows))
    return mlir::emitError(tile.getLoc(), "--pad-tiles finds no constant bound "
                                          "on the rows of this tile of type ")
           << tile.getType();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(tile);
  Location loc = tile.getLoc();
  auto type = cast<RankedTensorType>(tile.getType());
  Value element = arith::ConstantOp::create(
      rewriter, loc, rewriter.getFloatAttr(type.getElementType(), value));
  Value size = tensor::DimOp::create(rewriter, loc, tile, 0);
  Value bound = arith::ConstantIndexOp::create(rewriter, loc, *rows);
  SmallVector<OpFoldResult> low(type.getRank(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> high(low);
  high.front() = arith::SubIOp::create(rewriter, loc, bound, size).getResult();
  ++numPadded;
  return tensor::PadOp::create(rewriter, loc, withRows(type, *rows), tile, low,
                               high, element)
      .getResult();
}

/// The first `rows` rows of `tile` as `type`.
Value TilePadder::cutRows(Value tile, Value rows, Type type) {
  auto tileType = cast<RankedTensorType>(tile.getType());
  unsigned rank = tileType.getRank();
  SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(rank, rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes{rows};
  if (rank == 2)
    sizes.push_back(rewriter.getIndexAttr(tileType.getDimSize(1)));
  return tensor::ExtractSliceOp::create(rewriter, tile.getLoc(),
                                        cast<RankedTensorType>(type), tile,
                                        offsets, sizes, strides);
}

/// Joins `j < Skv` to the mask, for keys that are padding.
void TilePadder::joinKeyLimit(UpdateOp update) {
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = update.getLoc();
  Region &region = update.getMaskRegion();
  bool hadMask = !region.empty();
  if (!hadMask) {
    SmallVector<Type> types(4, rewriter.getIndexType());
    SmallVector<Location> locs(4, loc);
    rewriter.createBlock(&region, region.end(), types, locs);
  } else {
    rewriter.setInsertionPoint(region.front().getTerminator());
  }
  Value sees = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                     region.getArgument(3), update.getSeqKV());
  if (!hadMask) {
    YieldOp::create(rewriter, loc, sees);
    return;
  }
  auto yield = cast<YieldOp>(region.front().getTerminator());
  sees = arith::AndIOp::create(rewriter, loc, yield.getValue(), sees);
  rewriter.modifyOpInPlace(yield,
                           [&] { yield.getValueMutable().assign(sees); });
}

LogicalResult TilePadder::padKeys(UpdateOp update) {
  if (!hasDynamicRows(update.getK()) && !hasDynamicRows(update.getV()))
    return success();
  FailureOr<Value> k = pad(update.getK(), 0.0), v = pad(update.getV(), 0.0);
  if (failed(k) || failed(v))
    return failure();
  rewriter.modifyOpInPlace(update, [&] {
    update.getKMutable().assign(*k);
    update.getVMutable().assign(*v);
  });
  joinKeyLimit(update);
  return success();
}

/// Pads the state that an update reads from full-size tensors, and cuts what it
/// gives back.
LogicalResult TilePadder::padState(UpdateOp update) {
  if (!hasDynamicRows(update.getAccInit()))
    return success();
  // The neutral state, though rows past the end are never read.
  FailureOr<Value> acc = pad(update.getAccInit(), 0.0);
  FailureOr<Value> max =
      pad(update.getMaxInit(), -std::numeric_limits<double>::infinity());
  FailureOr<Value> sum = pad(update.getSumInit(), 0.0);
  if (failed(acc) || failed(max) || failed(sum))
    return failure();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(update);
  Value rows =
      tensor::DimOp::create(rewriter, update.getLoc(), update.getAccInit(), 0);
  SmallVector<Type> types(update->getResultTypes());
  rewriter.modifyOpInPlace(update, [&] {
    update.getAccInitMutable().assign(*acc);
    update.getMaxInitMutable().assign(*max);
    update.getSumInitMutable().assign(*sum);
    SmallVector<Value> padded{*acc, *max, *sum};
    for (auto [result, value] : llvm::zip_equal(update->getResults(), padded))
      result.setType(value.getType());
  });
  rewriter.setInsertionPointAfter(update);
  for (auto [result, type] : llvm::zip_equal(update->getResults(), types)) {
    Value cut = cutRows(result, rows, type);
    rewriter.replaceAllUsesExcept(result, cut, cut.getDefiningOp());
  }
  return success();
}

LogicalResult TilePadder::padUpdate(UpdateOp update) {
  FailureOr<Value> q = pad(update.getQ(), 0.0);
  if (failed(q))
    return failure();
  rewriter.modifyOpInPlace(update, [&] { update.getQMutable().assign(*q); });
  return failure(failed(padKeys(update)) || failed(padState(update)));
}

void TilePadder::makeStatic(Value tile, int64_t rows) {
  if (hasDynamicRows(tile))
    tile.setType(withRows(tile.getType(), rows));
}

LogicalResult TilePadder::padFold(Fold &fold) {
  FailureOr<int64_t> rows = boundRows(fold.init.getAccInit());
  if (failed(rows))
    return fold.init.emitError("--pad-tiles finds no constant bound on the "
                               "rows of this state");
  if (!hasDynamicRows(fold.init.getAccInit()))
    return success();
  OpBuilder::InsertionGuard guard(rewriter);

  // 1. Destinations of the static size.
  auto replaceEmpty = [&](Operation *op, MutableOperandRange dests) {
    rewriter.setInsertionPoint(op);
    for (OpOperand &dest : dests) {
      RankedTensorType type = withRows(dest.get().getType(), *rows);
      Value empty = tensor::EmptyOp::create(
          rewriter, op->getLoc(), type.getShape(), type.getElementType());
      rewriter.modifyOpInPlace(op, [&] { dest.set(empty); });
    }
  };
  FinalizeOp finalize = fold.finalize;
  rewriter.setInsertionPoint(finalize);
  Value size = tensor::DimOp::create(rewriter, finalize.getLoc(),
                                     finalize.getOInit(), 0);
  SmallVector<Type> types(finalize->getResultTypes());
  replaceEmpty(fold.init, fold.init.getDpsInitsMutable());
  replaceEmpty(finalize, finalize.getDpsInitsMutable());

  // 2. The state's type, all the way: init, loops, updates. Each iter_arg of
  //    the loops between them is a tile of the state by construction of the
  //    fold.
  rewriter.modifyOpInPlace(fold.init, [&] {
    for (Value result : fold.init->getResults())
      makeStatic(result, *rows);
  });
  SmallVector<Value> state{finalize.getAcc(), finalize.getMax(),
                           finalize.getSum()};
  for (Value value : state)
    while (value) {
      makeStatic(value, *rows);
      if (auto arg = dyn_cast<BlockArgument>(value)) {
        auto loop = cast<scf::ForOp>(arg.getOwner()->getParentOp());
        value = loop.getTiedLoopInit(arg)->get();
      } else if (auto loop = value.getDefiningOp<scf::ForOp>()) {
        value =
            loop.getYieldedValues()[cast<OpResult>(value).getResultNumber()];
      } else if (auto update = value.getDefiningOp<UpdateOp>()) {
        value = update.getTiedOpOperand(cast<OpResult>(value))->get();
      } else {
        value = {};
      }
    }

  // 3. O and LSE as short as they were.
  rewriter.modifyOpInPlace(finalize, [&] {
    for (Value result : finalize->getResults())
      makeStatic(result, *rows);
  });
  rewriter.setInsertionPointAfter(finalize);
  for (auto [result, type] : llvm::zip_equal(finalize->getResults(), types)) {
    Value cut = cutRows(result, size, type);
    rewriter.replaceAllUsesExcept(result, cut, cut.getDefiningOp());
  }
  ++numPadded;
  return success();
}

FailureOr<unsigned> fa::attn::padTiles(RewriterBase &rewriter,
                                       Operation *root) {
  TilePadder padder(rewriter);
  SmallVector<FinalizeOp> finalizes;
  SmallVector<UpdateOp> updates;
  root->walk([&](Operation *op) {
    if (auto finalize = dyn_cast<FinalizeOp>(op))
      finalizes.push_back(finalize);
    else if (auto update = dyn_cast<UpdateOp>(op); update && update.isTile())
      updates.push_back(update);
  });
  for (FinalizeOp finalize : finalizes) {
    FailureOr<Fold> fold = traceFold(finalize);
    bool isTile = finalize.getAcc().getType().getRank() == 2;
    if (isTile && succeeded(fold) && failed(padder.padFold(*fold)))
      return failure();
  }
  for (UpdateOp update : updates)
    if (failed(padder.padUpdate(update)))
      return failure();
  return padder.numPadded;
}

namespace {
struct PadTilesPass : public fa::attn::impl::PadTilesBase<PadTilesPass> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    FailureOr<unsigned> padded = padTiles(rewriter, getOperation());
    if (failed(padded))
      return signalPassFailure();
    bool hasTiles = getOperation()
                        .walk([](UpdateOp op) {
                          return op.isTile() ? WalkResult::interrupt()
                                             : WalkResult::advance();
                        })
                        .wasInterrupted();
    if (!hasTiles)
      getOperation()->emitWarning("--pad-tiles found no attention on tiles");
    numPadded += *padded;
    removeRedundancy(rewriter, getOperation());
  }
};
} // namespace
