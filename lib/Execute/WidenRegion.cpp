//===- WidenRegion.cpp - Score and mask regions in f64 -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WidenRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fa::execute;

Value fa::execute::convertFloat(OpBuilder &builder, Location loc, Value value,
                                FloatType target) {
  auto source = cast<FloatType>(value.getType());
  if (source == target)
    return value;
  // The 16-bit types convert to and from f32 only, on every CPU.
  auto f32 = builder.getF32Type();
  if (source.getWidth() < 32 && target.getWidth() > 32)
    value = arith::ExtFOp::create(builder, loc, f32, value);
  if (source.getWidth() > 32 && target.getWidth() < 32)
    value = arith::TruncFOp::create(builder, loc, f32, value);
  if (value.getType() == target)
    return value;
  if (cast<FloatType>(value.getType()).getWidth() < target.getWidth())
    return arith::ExtFOp::create(builder, loc, target, value);
  return arith::TruncFOp::create(builder, loc, target, value);
}

namespace {
/// Clones ops with f32 replaced by a wider type. Other types stay, and so do
/// tensors: what is read from them is widened.
class Widener {
public:
  Widener(OpBuilder &builder, FloatType wide) : builder(builder), wide(wide) {}

  void map(Value from, Value to) { mapping.map(from, to); }
  LogicalResult cloneBody(Block &block);
  Value lookup(Value value);

private:
  Type convert(Type type) { return type.isF32() ? Type(wide) : type; }
  LogicalResult clone(Operation &op);
  LogicalResult cloneGeneric(Operation &op);
  void cloneConstant(arith::ConstantOp op);
  void cloneCast(Operation &op);
  void cloneRead(Operation &op);

  OpBuilder &builder;
  FloatType wide;
  IRMapping mapping;
};
} // namespace

/// What stands for `value`; a captured f32 is widened where it is used.
Value Widener::lookup(Value value) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  if (value.getType().isF32())
    return convertFloat(builder, value.getLoc(), value, wide);
  return value;
}

void Widener::cloneConstant(arith::ConstantOp op) {
  APFloat number = cast<FloatAttr>(op.getValue()).getValue();
  bool losesInfo;
  number.convert(wide.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  map(op, arith::ConstantOp::create(builder, op.getLoc(),
                                    builder.getFloatAttr(wide, number)));
}

/// A cast between float types, one of which may have become wider.
void Widener::cloneCast(Operation &op) {
  auto target = cast<FloatType>(convert(op.getResult(0).getType()));
  map(op.getResult(0),
      convertFloat(builder, op.getLoc(), lookup(op.getOperand(0)), target));
}

/// An op that reads a tensor: what it gives is widened.
void Widener::cloneRead(Operation &op) {
  Operation *copy = builder.clone(op, mapping);
  Value result = op.getResult(0);
  if (result.getType().isF32())
    map(result, convertFloat(builder, op.getLoc(), copy->getResult(0), wide));
}

LogicalResult Widener::cloneGeneric(Operation &op) {
  OperationState state(op.getLoc(), op.getName());
  for (Value operand : op.getOperands())
    state.operands.push_back(lookup(operand));
  for (Type type : op.getResultTypes())
    state.types.push_back(convert(type));
  state.attributes = llvm::to_vector(op.getDiscardableAttrs());
  state.propertiesAttr = op.getPropertiesAsAttribute();
  for (unsigned i = 0; i < op.getNumRegions(); ++i)
    state.addRegion();
  Operation *copy = builder.create(state);
  mapping.map(op.getResults(), copy->getResults());
  for (auto [from, to] : llvm::zip_equal(op.getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&to);
    for (BlockArgument argument : from.getArguments())
      map(argument,
          block->addArgument(convert(argument.getType()), argument.getLoc()));
    if (failed(cloneBody(from.front())) ||
        failed(clone(*from.front().getTerminator())))
      return failure();
  }
  return success();
}

LogicalResult Widener::clone(Operation &op) {
  bool narrow = wide.isF32();
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && constant.getType().isF32())
    return cloneConstant(constant), success();
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
      isa<FloatType>(op.getResult(0).getType()))
    return cloneCast(op), success();
  if (isa<tensor::ExtractOp, tensor::DimOp>(op))
    return cloneRead(op), success();
  bool known = isa<arith::ArithDialect, math::MathDialect, scf::SCFDialect>(
      op.getDialect());
  if (!narrow && (!known || isa<arith::BitcastOp>(op)))
    return op.emitOpError(
        "in a score or mask region has no meaning in the float64 reference");
  return cloneGeneric(op);
}

LogicalResult Widener::cloneBody(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(clone(op)))
      return failure();
  return success();
}

FailureOr<Value> fa::execute::cloneWidened(OpBuilder &builder, Region &region,
                                           ValueRange arguments,
                                           FloatType wide) {
  Widener widener(builder, wide);
  for (auto [from, to] : llvm::zip_equal(region.getArguments(), arguments))
    widener.map(from, to);
  if (failed(widener.cloneBody(region.front())))
    return failure();
  return widener.lookup(region.front().getTerminator()->getOperand(0));
}
