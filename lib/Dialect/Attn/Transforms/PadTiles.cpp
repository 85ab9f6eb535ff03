//===- PadTiles.cpp - Static tiles -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simplify.h"

#include "fa/Dialect/Attn/Transforms/PassOrder.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

#include <limits>

using namespace mlir;
using namespace fa;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_PADTILES
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

/// The constant that bounds dimension `dim` of `tile`, where there is one.
static FailureOr<int64_t> boundRows(Value tile, unsigned dim = 0) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  return ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, ValueBoundsConstraintSet::Variable(tile, dim),
      /*stopCondition=*/nullptr, /*closedUB=*/true);
}

static bool hasDynamicRows(Value tile) {
  return cast<RankedTensorType>(tile.getType()).isDynamicDim(0);
}

/// `type` with `rows` as dimension `dim`.
static RankedTensorType withRows(Type type, int64_t rows, unsigned dim = 0) {
  auto tensorType = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensorType.getShape());
  shape[dim] = rows;
  return RankedTensorType::get(shape, tensorType.getElementType());
}

namespace {
class TilePadder {
public:
  explicit TilePadder(RewriterBase &rewriter) : rewriter(rewriter) {}

  /// Makes the whole fold static that begins at an init of tiles.
  LogicalResult padFold(InitOp init);
  /// Pads what is still dynamic of one update.
  LogicalResult padUpdate(UpdateOp update);
  /// Pads the state that a finalize on tiles reads from full-size tensors.
  LogicalResult padFinalize(FinalizeOp finalize);

  unsigned numPadded = 0;

private:
  FailureOr<Value> pad(Value tile, double value, unsigned dim = 0);
  LogicalResult padKeys(UpdateOp update);
  LogicalResult padState(UpdateOp update);
  LogicalResult padPartials(MergeOp merge, int64_t rows);
  void replaceDests(Operation *op, MutableOperandRange dests, int64_t rows);
  LogicalResult followUse(OpOperand &use, Type oldType, Value rows,
                          int64_t staticRows, SmallVector<Value> &state);
  Value cutRows(Value tile, Value rows, Type type);
  void joinKeyLimit(UpdateOp update);
  void clampPosition(UpdateOp update, unsigned fromBack, Value length);
  void makeStatic(Value tile, int64_t rows);
  void makeResultsStatic(FinalizeOp finalize, Value rows, int64_t staticRows);

  RewriterBase &rewriter;
};
} // namespace

/// `tile` padded to its bound in dimension `dim` with `value`, right after the
/// tile's definition.
FailureOr<Value> TilePadder::pad(Value tile, double value, unsigned dim) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (!type.isDynamicDim(dim))
    return tile;
  FailureOr<int64_t> rows = boundRows(tile, dim);
  if (failed(rows))
    return mlir::emitError(tile.getLoc(), "--pad-tiles finds no constant bound "
                                          "on the rows of this tile of type ")
           << tile.getType();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(tile);
  Location loc = tile.getLoc();
  Value element = arith::ConstantOp::create(
      rewriter, loc, rewriter.getFloatAttr(type.getElementType(), value));
  Value size = tensor::DimOp::create(rewriter, loc, tile, dim);
  Value bound = arith::ConstantIndexOp::create(rewriter, loc, *rows);
  SmallVector<OpFoldResult> low(type.getRank(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> high(low);
  high[dim] = arith::SubIOp::create(rewriter, loc, bound, size).getResult();
  ++numPadded;
  return tensor::PadOp::create(rewriter, loc, withRows(type, *rows, dim), tile,
                               low, high, element)
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

/// Whether the regions of a tensor read depend on `position`: an op of the
/// region reads an element at an index computed from it.
static bool readsAt(Region &region, BlockArgument position) {
  llvm::SmallDenseSet<Value> reached{position};
  bool found = false;
  // A region is one block: operands come before their uses.
  region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool depends = llvm::any_of(op->getOperands(),
                                [&](Value v) { return reached.contains(v); });
    if (depends)
      reached.insert(op->result_begin(), op->result_end());
    found |= depends && isa<tensor::ExtractOp>(op);
  });
  return found;
}

/// Where the regions read tensors at a position, padding reads them where the
/// last one is: at what is there, and of which nothing is seen or stored.
/// `fromBack` says which argument the position is, the last (j) being 0.
void TilePadder::clampPosition(UpdateOp update, unsigned fromBack,
                               Value length) {
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = update.getLoc();
  for (Region *region : {&update.getScoreRegion(), &update.getMaskRegion()}) {
    if (region->empty())
      continue;
    BlockArgument position =
        region->getArgument(region->getNumArguments() - 1 - fromBack);
    if (!readsAt(*region, position))
      continue;
    rewriter.setInsertionPoint(update);
    Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    Value last = arith::SubIOp::create(rewriter, loc, length, one);
    rewriter.setInsertionPointToStart(&region->front());
    auto clamped = arith::MinSIOp::create(rewriter, loc, position, last);
    rewriter.replaceAllUsesExcept(position, clamped, clamped);
  }
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
  clampPosition(update, /*fromBack=*/0, update.getSeqKV());
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
  if (*q != update.getQ())
    clampPosition(update, /*fromBack=*/1, update.getSeqQ());
  rewriter.modifyOpInPlace(update, [&] { update.getQMutable().assign(*q); });
  return failure(failed(padKeys(update)) || failed(padState(update)));
}

LogicalResult TilePadder::padFinalize(FinalizeOp finalize) {
  if (!hasDynamicRows(finalize.getAcc()))
    return success();
  FailureOr<Value> acc = pad(finalize.getAcc(), 0.0);
  FailureOr<Value> max =
      pad(finalize.getMax(), -std::numeric_limits<double>::infinity());
  FailureOr<Value> sum = pad(finalize.getSum(), 0.0);
  if (failed(acc) || failed(max) || failed(sum))
    return failure();
  int64_t staticRows = cast<RankedTensorType>(acc->getType()).getDimSize(0);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(finalize);
  Value rows =
      tensor::DimOp::create(rewriter, finalize.getLoc(), finalize.getAcc(), 0);
  rewriter.modifyOpInPlace(finalize, [&] {
    finalize.getAccMutable().assign(*acc);
    finalize.getMaxMutable().assign(*max);
    finalize.getSumMutable().assign(*sum);
  });
  makeResultsStatic(finalize, rows, staticRows);
  return success();
}

/// Gives `finalize` static results, of which others see the first `rows`.
void TilePadder::makeResultsStatic(FinalizeOp finalize, Value rows,
                                   int64_t staticRows) {
  replaceDests(finalize, finalize.getDpsInitsMutable(), staticRows);
  SmallVector<Type> types(finalize->getResultTypes());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfter(finalize);
  for (auto [result, type] : llvm::zip_equal(finalize->getResults(), types)) {
    makeStatic(result, staticRows);
    Value cut = cutRows(result, rows, type);
    rewriter.replaceAllUsesExcept(result, cut, cut.getDefiningOp());
  }
}

void TilePadder::makeStatic(Value tile, int64_t rows) {
  if (hasDynamicRows(tile))
    tile.setType(withRows(tile.getType(), rows));
}

/// Pads the partial states that `merge` folds into a static state.
LogicalResult TilePadder::padPartials(MergeOp merge, int64_t rows) {
  FailureOr<Value> acc = pad(merge.getPartialAcc(), 0.0, 1);
  FailureOr<Value> max =
      pad(merge.getPartialMax(), -std::numeric_limits<double>::infinity(), 1);
  FailureOr<Value> sum = pad(merge.getPartialSum(), 0.0, 1);
  if (failed(acc) || failed(max) || failed(sum))
    return failure();
  rewriter.modifyOpInPlace(merge, [&] {
    merge.getPartialAccMutable().assign(*acc);
    merge.getPartialMaxMutable().assign(*max);
    merge.getPartialSumMutable().assign(*sum);
  });
  return success();
}

/// Gives `op` static destinations.
void TilePadder::replaceDests(Operation *op, MutableOperandRange dests,
                              int64_t rows) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  for (OpOperand &dest : dests) {
    RankedTensorType type = withRows(dest.get().getType(), rows);
    Value empty = tensor::EmptyOp::create(
        rewriter, op->getLoc(), type.getShape(), type.getElementType());
    rewriter.modifyOpInPlace(op, [&] { dest.set(empty); });
  }
}

/// Carries the static state on through `use`, which was of `oldType` and has
/// `rows` rows that count: through the fold's own ops, or cut for others. Adds
/// to `state` what becomes static.
LogicalResult TilePadder::followUse(OpOperand &use, Type oldType, Value rows,
                                    int64_t staticRows,
                                    SmallVector<Value> &state) {
  Operation *user = use.getOwner();
  auto carry = [&](Value value) {
    makeStatic(value, staticRows);
    state.push_back(value);
  };
  if (isa<UpdateOp, MergeOp>(user)) {
    auto dps = cast<DestinationStyleOpInterface>(user);
    carry(dps.getTiedOpResult(&use));
    if (auto merge = dyn_cast<MergeOp>(user);
        merge && failed(padPartials(merge, staticRows)))
      return failure();
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(user)) {
    carry(loop.getTiedLoopRegionIterArg(&use));
    carry(loop.getTiedLoopResult(&use));
    return success();
  }
  // The loop that it ends has static results already.
  if (isa<scf::YieldOp>(user))
    return success();
  if (auto finalize = dyn_cast<FinalizeOp>(user)) {
    if (!hasDynamicRows(finalize.getO()))
      return success();
    makeResultsStatic(finalize, rows, staticRows);
    return success();
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(use.get());
  Value cut = cutRows(use.get(), rows, oldType);
  rewriter.modifyOpInPlace(user, [&] { use.set(cut); });
  return success();
}

LogicalResult TilePadder::padFold(InitOp init) {
  if (!hasDynamicRows(init.getAccInit()))
    return success();
  FailureOr<int64_t> staticRows = boundRows(init.getAccInit());
  if (failed(staticRows))
    return init.emitError("--pad-tiles finds no constant bound on the rows of "
                          "this state");
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(init);
  Value rows =
      tensor::DimOp::create(rewriter, init.getLoc(), init.getAccInit(), 0);
  SmallVector<Type> oldTypes(init->getResultTypes());
  replaceDests(init, init.getDpsInitsMutable(), *staticRows);
  for (auto [result, oldType] : llvm::zip_equal(init->getResults(), oldTypes)) {
    makeStatic(result, *staticRows);
    SmallVector<Value> state{result};
    while (!state.empty()) {
      Value value = state.pop_back_val();
      SmallVector<OpOperand *> uses =
          llvm::to_vector(llvm::make_pointer_range(value.getUses()));
      for (OpOperand *use : uses)
        if (failed(followUse(*use, oldType, rows, *staticRows, state)))
          return failure();
    }
  }
  ++numPadded;
  return success();
}

FailureOr<unsigned> fa::attn::padTiles(RewriterBase &rewriter,
                                       Operation *root) {
  TilePadder padder(rewriter);
  SmallVector<InitOp> inits;
  SmallVector<UpdateOp> updates;
  SmallVector<FinalizeOp> finalizes;
  root->walk([&](Operation *op) {
    if (auto init = dyn_cast<InitOp>(op);
        init && init.getMax().getType().getRank() == 1)
      inits.push_back(init);
    else if (auto update = dyn_cast<UpdateOp>(op); update && update.isTile())
      updates.push_back(update);
    else if (auto finalize = dyn_cast<FinalizeOp>(op);
             finalize && finalize.getMax().getType().getRank() == 1)
      finalizes.push_back(finalize);
  });
  for (InitOp init : inits)
    if (failed(padder.padFold(init)))
      return failure();
  for (UpdateOp update : updates)
    if (failed(padder.padUpdate(update)))
      return failure();
  for (FinalizeOp finalize : finalizes)
    if (failed(padder.padFinalize(finalize)))
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
    if (!hasTiles &&
        failed(reportNothingFound(getOperation(), "pad-tiles",
                                  PassLevel::Blocks, "attention on tiles")))
      return signalPassFailure();
    if (*padded != 0)
      remarkDecision(getOperation(), "pad-tiles", "tiles")
          << remark::metric("padded", *padded)
          << remark::reason("tiles cut short by the end of a tensor");
    numPadded += *padded;
    removeRedundancy(rewriter, getOperation());
  }
};
} // namespace
