//===- ElementEmitter.cpp - Outputs that are written by elements ----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor that begins as `tensor.empty`, gets its elements by `tensor.insert`,
// through loops too, and becomes a slice of an output, never is anywhere but in
// the output: each insertion is a store. One warp does that, all of whose
// threads store the same value.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fa;

/// What `tensor` was before its last insertions: the tensor that an insertion
/// or a loop goes on from, and what the loop's body makes of it. None where
/// something else made `tensor`.
static SmallVector<Value> previousTensors(Value tensor) {
  if (auto insert = tensor.getDefiningOp<tensor::InsertOp>())
    return {insert.getDest()};
  if (auto loop = tensor.getDefiningOp<scf::ForOp>()) {
    unsigned number = cast<OpResult>(tensor).getResultNumber();
    return {loop.getInitArgs()[number], loop.getYieldedValues()[number]};
  }
  auto argument = dyn_cast<BlockArgument>(tensor);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  if (loop && argument != loop.getInductionVar())
    return {loop.getTiedLoopInit(argument)->get()};
  return {};
}

/// All tensors that become `tensor` by insertions, itself among them; nothing
/// where it is not made in this way alone.
static SmallVector<Value> collectVersions(Value tensor) {
  llvm::SetVector<Value> versions;
  versions.insert(tensor);
  for (unsigned n = 0; n < versions.size(); ++n) {
    Value version = versions[n];
    SmallVector<Value> previous = previousTensors(version);
    if (previous.empty() && !version.getDefiningOp<tensor::EmptyOp>())
      return {};
    versions.insert(previous.begin(), previous.end());
  }
  if (versions.size() == 1)
    return {};
  return versions.takeVector();
}

LogicalResult KernelEmitter::findElementOutputs() {
  for (Operation &op : loop.getTerminator().getYieldingOps()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(op);
    SmallVector<Value> versions = collectVersions(insert.getSource());
    if (versions.empty())
      continue;
    if (insert.getSourceType().getRank() != 1 || !insert.hasUnitStride())
      return insert.emitOpError("writes a tensor that was made by elements, "
                                "but is no row of one dimension, found ")
             << insert.getSourceType();
    // All threads store alike: of two stores to one element, one warp's first
    // might come after another's second.
    bool isOneStore = versions.size() == 2 && isa_and_nonnull<tensor::InsertOp>(
                                                  versions[0].getDefiningOp());
    if (shape.teams * shape.warps != 1 && !isOneStore)
      return insert.emitOpError("writes a tensor that was made by elements, "
                                "which one warp does, found ")
             << shape.teams << " teams of " << shape.warps << " warps";
    for (Value version : versions)
      elementOutputs.try_emplace(version, insert);
  }
  return success();
}

LogicalResult KernelEmitter::emitElement(tensor::InsertOp op) {
  auto output = elementOutputs.find(op.getResult());
  if (output == elementOutputs.end())
    return op.emitOpError("writes an element of a tensor that is no row of a "
                          "result of the scf.forall");
  tensor::ParallelInsertSliceOp insert = output->second;
  Location loc = op.getLoc();
  SmallVector<Value> indices;
  for (OpFoldResult offset : insert.getMixedOffsets())
    indices.push_back(buildSum({offset}, loc));
  Value position = mapping.lookupOrDefault(op.getIndices().front());
  indices.back() =
      isConstantIntValue(insert.getMixedOffsets().back(), 0)
          ? position
          : arith::AddIOp::create(builder, loc, indices.back(), position);
  memref::StoreOp::create(builder, loc, mapping.lookupOrDefault(op.getScalar()),
                          mapping.lookup(insert.getDest()), indices);
  return success();
}
