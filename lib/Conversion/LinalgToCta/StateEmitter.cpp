//===- StateEmitter.cpp - Tensors that a kernel writes and reads ----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whole tensors that loops carry: the results of the kernel's forall, which a
// thread block writes and reads slice by slice where they lie.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "fa/Dialect/Cta/IR/Cta.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fa;

//===----------------------------------------------------------------------===//
// Meetings
//===----------------------------------------------------------------------===//

void KernelEmitter::meet(Location loc) {
  cta::MeetOp::create(builder, loc);
  noteMeeting();
}

/// Makes teams meet where what they did might be in a race with what follows,
/// whatever that is.
void KernelEmitter::meetIfPending(Location loc) {
  if (!stored.empty() || !fetched.empty())
    meet(loc);
}

//===----------------------------------------------------------------------===//
// Reads and writes
//===----------------------------------------------------------------------===//

/// A slice that no product reads from shared memory, or that the kernel itself
/// may have written, as a fragment or a row vector.
LogicalResult KernelEmitter::emitFetch(Value tile, const TileAccess &access,
                                       Value whole) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getRank() > 2 || !isa<FloatType>(type.getElementType()))
    return mlir::emitError(tile.getLoc(), "fragments that are read are "
                                          "matrices or rows of floats, found ")
           << type;
  FloatAttr pad;
  if (access.padding && !matchPattern(access.padding, m_Constant(&pad)))
    return mlir::emitError(tile.getLoc(), "fragments that are read end with "
                                          "rows of a constant");
  if (outputs.contains(whole) && shape.teams > 1 && !hasDividedDim(tile)) {
    if (stored.contains(whole))
      meet(tile.getLoc());
    fetched.insert(whole);
  }
  float absent = pad ? pad.getValueAsDouble() : 0.0;
  mapping.map(tile,
              cta::FetchOp::create(builder, tile.getLoc(), fragmentType(tile),
                                   whole, accessIndices(access, tile),
                                   rowEnd(access, type.getRank()),
                                   builder.getF32FloatAttr(absent))
                  .getValue());
  return success();
}

/// Stores the tile that `insert` writes to `memref`. Where all teams have all
/// of it, the first one stores it.
LogicalResult KernelEmitter::emitStore(OffsetSizeAndStrideOpInterface insert,
                                       Value memref) {
  FailureOr<std::pair<Value, TileAccess>> store =
      matchStore(insert, outputs.lookup(memref));
  if (failed(store))
    return failure();
  auto [tile, access] = *store;
  Location loc = insert->getLoc();
  FailureOr<Value> part = fragment(tile, fragmentType(tile).getShape());
  if (failed(part))
    return failure();
  SmallVector<Value> indices = accessIndices(access, tile);
  Value end = rowEnd(access, cast<RankedTensorType>(tile.getType()).getRank());
  OpBuilder::InsertionGuard guard(builder);
  if (shape.teams > 1 && !hasDividedDim(tile)) {
    if (fetched.contains(memref))
      meet(loc);
    stored.insert(memref);
    Value first = arith::ConstantIndexOp::create(builder, loc, 0);
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, team, first);
    auto branch = scf::IfOp::create(builder, loc, isFirst,
                                    /*withElseRegion=*/false);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  cta::StoreOp::create(builder, loc, *part, memref, indices, end);
  return success();
}

/// A tile written into a whole tensor, which takes the place of the tensor
/// before: nothing may read that one any more.
LogicalResult KernelEmitter::emitInsert(tensor::InsertSliceOp op) {
  Value memref = globalOf(op.getDest());
  if (!memref || !outputs.contains(memref))
    return op.emitOpError("writes to a tensor that is no result of the "
                          "kernel's scf.forall");
  for (Operation *user : op.getDest().getUsers()) {
    Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
    if (user != op && (!inBlock || !inBlock->isBeforeInBlock(op))) {
      InFlightDiagnostic diag = op.emitOpError(
          "writes to a tensor whose value before is read afterwards");
      diag.attachNote(user->getLoc()) << "it is read here";
      return diag;
    }
  }
  if (failed(emitStore(op, memref)))
    return failure();
  mapping.map(op.getResult(), memref);
  return success();
}
