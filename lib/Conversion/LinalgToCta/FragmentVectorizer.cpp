//===- FragmentVectorizer.cpp - Scalar bodies on fragments -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FragmentVectorizer.h"

#include "fa/Dialect/Cta/IR/Cta.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fa;

/// What an element of this type is in a fragment: indices are i32.
static Type fragmentElement(Type type) {
  return type.isIndex() ? Type(IntegerType::get(type.getContext(), 32)) : type;
}

//===----------------------------------------------------------------------===//
// Whole tensors
//===----------------------------------------------------------------------===//

/// The memref of a whole tensor, or null.
static Value memrefOf(Value tensor, IRMapping &values) {
  Value whole = values.lookupOrNull(tensor);
  return whole && isa<MemRefType>(whole.getType()) ? whole : Value();
}

LogicalResult fa::emitDim(OpBuilder &builder, tensor::DimOp op,
                          IRMapping &values) {
  Value whole = memrefOf(op.getSource(), values);
  if (!whole)
    return op.emitOpError("asks for the size of a tensor that is no argument "
                          "of the kernel");
  // Upstream's folds of memref.dim take it for granted.
  std::optional<int64_t> number = op.getConstantIndex();
  int64_t rank = cast<MemRefType>(whole.getType()).getRank();
  if (number && (*number < 0 || *number >= rank))
    return op.emitOpError("asks for the size of dimension ")
           << *number << " of a tensor of rank " << rank;
  Value index = values.lookupOrDefault(op.getIndex());
  values.map(
      op.getResult(),
      memref::DimOp::create(builder, op.getLoc(), whole, index).getResult());
  return success();
}

/// The memref that `op` reads. Fails with a diagnostic where there is none, or
/// its elements are no numbers that fragments hold.
static FailureOr<Value> readMemref(tensor::ExtractOp op, IRMapping &values) {
  Value whole = memrefOf(op.getTensor(), values);
  if (!whole)
    return op.emitOpError("reads a tensor that is no argument of the kernel");
  Type element = op.getType();
  if (!element.isInteger(32) && !element.isF32() && !element.isF16() &&
      !element.isBF16())
    return op.emitOpError("reads elements of type ")
           << element << ": kernels read i32, f32, f16 and bf16";
  return whole;
}

LogicalResult fa::emitScalarExtract(OpBuilder &builder, tensor::ExtractOp op,
                                    IRMapping &values) {
  FailureOr<Value> whole = readMemref(op, values);
  if (failed(whole))
    return failure();
  SmallVector<Value> indices = llvm::map_to_vector(
      op.getIndices(), [&](Value v) { return values.lookupOrDefault(v); });
  values.map(op.getResult(),
             memref::LoadOp::create(builder, op.getLoc(), *whole, indices)
                 .getResult());
  return success();
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// The shape of a value as (depends on row, depends on column).
static std::pair<bool, bool> dependence(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return {false, false};
  if (type.getRank() == 1)
    return {true, false};
  return {type.getDimSize(0) != 1, true};
}

SmallVector<int64_t> FragmentVectorizer::joinShapes(ValueRange operands) {
  bool rows = false, columns = false;
  for (Value operand : operands) {
    auto [onRow, onColumn] = dependence(operand);
    rows |= onRow;
    columns |= onColumn;
  }
  if (columns)
    return {rows ? domain.rows : 1, domain.columns};
  if (rows)
    return {domain.rows};
  return {};
}

Value FragmentVectorizer::grow(Value value, ArrayRef<int64_t> shape,
                               Location loc) {
  Type scalarType = getElementTypeOrSelf(value.getType());
  if (scalarType.isIndex()) {
    scalarType = builder.getI32Type();
    value = arith::IndexCastOp::create(builder, loc, scalarType, value);
  }
  auto type = VectorType::get(shape, scalarType);
  if (value.getType() == type)
    return value;
  auto [onRow, onColumn] = dependence(value);
  if (onRow && !onColumn) {
    // A row vector <R> is a fragment's column <Rx1>.
    auto column = VectorType::get({domain.rows, 1}, scalarType);
    value = vector::ShapeCastOp::create(builder, loc, column, value);
  }
  return vector::BroadcastOp::create(builder, loc, type, value);
}

Value FragmentVectorizer::get(Value scalar, bool isFragment) {
  SmallVector<int64_t> shape{domain.rows};
  if (isFragment)
    shape.push_back(domain.columns);
  return grow(get(scalar), shape, scalar.getLoc());
}

void FragmentVectorizer::emitIndex(linalg::IndexOp op) {
  bool isRow = op.getDim() == 0;
  Value base = isRow ? domain.rowBase : domain.columnBase;
  if (!base)
    base = arith::ConstantOp::create(builder, op.getLoc(),
                                     builder.getI32IntegerAttr(0));
  Type i32 = builder.getI32Type();
  Value index;
  if (isRow)
    index = cta::RowOp::create(builder, op.getLoc(),
                               VectorType::get({domain.rows}, i32), base);
  else
    index = cta::ColOp::create(builder, op.getLoc(),
                               VectorType::get({1, domain.columns}, i32), base);
  values.map(op.getResult(), index);
}

/// One element for all, or one for each row, column or element.
LogicalResult FragmentVectorizer::emitExtract(tensor::ExtractOp op) {
  SmallVector<Value> indices =
      llvm::map_to_vector(op.getIndices(), [&](Value v) { return get(v); });
  SmallVector<int64_t> shape = joinShapes(indices);
  if (shape.empty())
    return emitScalarExtract(builder, op, values);
  FailureOr<Value> whole = readMemref(op, values);
  if (failed(whole))
    return failure();
  auto type = VectorType::get(shape, op.getType());
  values.map(op.getResult(),
             cta::LookupOp::create(builder, op.getLoc(), type, *whole, indices)
                 .getResult());
  return success();
}

LogicalResult FragmentVectorizer::emit(Operation &op) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    emitIndex(index);
    return success();
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return emitDim(builder, dim, values);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return emitExtract(extract);
  SmallVector<Value> operands =
      llvm::map_to_vector(op.getOperands(), [&](Value v) { return get(v); });
  SmallVector<int64_t> shape = joinShapes(operands);
  if (shape.empty() && op.getNumRegions() == 0) {
    builder.clone(op, values);
    return success();
  }
  if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumResults() != 1)
    return op.emitOpError("cannot be applied to the fragments of a team: only "
                          "elementwise arithmetic can");
  for (Value &operand : operands)
    operand = grow(operand, shape, op.getLoc());
  Operation *copy = builder.clone(op, values);
  copy->setOperands(operands);
  Type element = fragmentElement(op.getResult(0).getType());
  copy->getResult(0).setType(VectorType::get(shape, element));
  // A cast between index and i32 has nothing left to do.
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(copy) &&
      copy->getOperand(0).getType() == copy->getResult(0).getType()) {
    values.map(op.getResult(0), copy->getOperand(0));
    copy->erase();
  }
  return success();
}
