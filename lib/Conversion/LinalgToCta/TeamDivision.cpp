//===- TeamDivision.cpp - Which dimensions teams divide -------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over blocks cuts tiles out of whole tensors. Teams divide either what
// the loops cut that choose where results go (the rows of Q and of O), or what
// the others cut, over which results are summed up (the rows of K and V).
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fa;

/// Where a slice of a whole tensor is written.
using InsertOp = OffsetSizeAndStrideOpInterface;

/// The induction variable of the first loop with blocks of more than one; null
/// where there is none.
static Value findBlockedLoop(scf::ForallOp loop) {
  for (auto [iv, step] :
       llvm::zip_equal(loop.getInductionVars(), loop.getMixedStep()))
    if (!isConstantIntValue(step, 1))
      return iv;
  return {};
}

/// The writes of tiles into whole tensors that loops under `loop` carry.
static SmallVector<InsertOp> getInserts(scf::ForallOp loop) {
  SmallVector<InsertOp> inserts;
  loop.walk([&](tensor::InsertSliceOp op) {
    inserts.push_back(cast<InsertOp>(*op));
  });
  return inserts;
}

static bool hasOffset(InsertOp op, Value iv) {
  return llvm::is_contained(op.getOffsets(), iv);
}

/// Makes the class of dimension `dim` of `tile` the divided one.
LogicalResult KernelEmitter::divide(Value tile, int64_t dim) {
  int64_t size = cast<RankedTensorType>(tile.getType()).getDimSize(dim);
  if (size % shape.teams != 0)
    return mlir::emitError(tile.getLoc(), "blocks of ")
           << size << " rows cannot be divided among " << shape.teams
           << " teams";
  classes.divide(tile, dim);
  return success();
}

/// Divides those dimensions of the tile that `insert` writes, into what was
/// `before`, for which `isCut` holds of (dimension, offset). Returns how many
/// there were.
FailureOr<unsigned> KernelEmitter::divideWritten(
    InsertOp insert, Value before,
    function_ref<bool(int64_t, const PositionSum &)> isCut) {
  FailureOr<std::pair<Value, TileAccess>> store = matchStore(insert, before);
  if (failed(store))
    return failure();
  auto [tile, access] = *store;
  int64_t rank = cast<RankedTensorType>(tile.getType()).getRank();
  unsigned leading = access.offsets.size() - rank;
  unsigned divided = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!isCut(dim, access.offsets[leading + dim]))
      continue;
    if (failed(divide(tile, dim)))
      return failure();
    ++divided;
  }
  return divided;
}

/// Divides the dimension of the results that the forall's first loop with
/// blocks of more than one cuts. Without such a loop, where one counts places
/// for blocks, that is the rows. Returns how many there were.
FailureOr<unsigned> KernelEmitter::divideResults() {
  Value iv = findBlockedLoop(loop);
  auto isCut = [&](int64_t dim, const PositionSum &offset) {
    return iv ? llvm::is_contained(offset, OpFoldResult(iv)) : dim == 0;
  };
  unsigned divided = 0;
  for (Operation &op : loop.getTerminator().getYieldingOps()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(op);
    if (isWrittenPart(insert))
      continue;
    auto dest = cast<BlockArgument>(insert.getDest());
    FailureOr<unsigned> count =
        divideWritten(insert, loop.getTiedOpOperand(dest)->get(), isCut);
    if (failed(count))
      return failure();
    divided += *count;
  }
  return divided;
}

/// Divides the dimension of each tile written into a tensor that loops carry
/// which a loop over blocks cuts. Returns how many there were.
FailureOr<unsigned> KernelEmitter::divideState() {
  llvm::SmallDenseSet<Value> ivs;
  loop.walk([&](scf::ForOp inner) {
    if (!isConstantIntValue(inner.getStep(), 1))
      ivs.insert(inner.getInductionVar());
  });
  auto isCut = [&](int64_t, const PositionSum &offset) {
    return llvm::any_of(offset, [&](OpFoldResult part) {
      auto value = dyn_cast<Value>(part);
      return value && ivs.contains(value);
    });
  };
  unsigned divided = 0;
  for (InsertOp insert : getInserts(loop)) {
    FailureOr<unsigned> count =
        divideWritten(insert, insert->getOperand(1), isCut);
    if (failed(count))
      return failure();
    divided += *count;
  }
  return divided;
}

/// The tile that `slice` is, or becomes by padding.
static Value getTile(tensor::ExtractSliceOp slice) {
  for (Operation *user : slice->getUsers())
    if (auto pad = dyn_cast<tensor::PadOp>(user))
      return pad.getResult();
  return slice.getResult();
}

/// Divides the dimension of each loaded tile that a loop cuts which chooses no
/// place of a result. Returns how many there were.
FailureOr<unsigned> KernelEmitter::divideKeys() {
  SmallVector<InsertOp> inserts = getInserts(loop);
  llvm::SmallDenseSet<Value> ivs;
  loop.walk([&](scf::ForOp inner) {
    Value iv = inner.getInductionVar();
    if (!isConstantIntValue(inner.getStep(), 1) &&
        llvm::none_of(inserts, [&](InsertOp op) { return hasOffset(op, iv); }))
      ivs.insert(iv);
  });
  unsigned divided = 0;
  WalkResult result = loop.walk([&](tensor::ExtractSliceOp slice) {
    Value tile = getTile(slice);
    auto type = cast<RankedTensorType>(tile.getType());
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
    unsigned leading = offsets.size() - type.getRank();
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      auto offset = dyn_cast<Value>(offsets[leading + dim]);
      if (!offset || !ivs.contains(offset) || type.isDynamicDim(dim))
        continue;
      if (failed(divide(tile, dim)))
        return WalkResult::interrupt();
      ++divided;
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return divided;
}

LogicalResult KernelEmitter::divideTiles() {
  if (shape.teams == 1)
    return success();
  if (partition == Partition::SplitK) {
    FailureOr<unsigned> divided = divideKeys();
    if (failed(divided))
      return failure();
    if (*divided == 0)
      return loop.emitError("no loop sums up over blocks that teams could "
                            "divide (partition = split_k)");
    return success();
  }
  FailureOr<unsigned> results = divideResults();
  if (failed(results))
    return failure();
  FailureOr<unsigned> states = divideState();
  if (failed(states))
    return failure();
  if (*results + *states == 0)
    return loop.emitError("no dimension of the results is cut in blocks that "
                          "teams could divide");
  return success();
}
