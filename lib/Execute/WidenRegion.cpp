//===- WidenRegion.cpp - Score and mask regions in f64 -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WidenRegion.h"

#include "Positions.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

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
  Value readInside(tensor::ExtractOp op);
  void tellOutside(Location loc, Value isIn, Value tensor, int64_t dim,
                   Value index, Value size);

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

/// Whether the sizes that a problem is bound to have `position` in the tensor.
static bool isBound(Value position) {
  APInt constant;
  if (matchPattern(position, m_ConstantInt(&constant)))
    return !constant.isNegative();
  auto argument = dyn_cast<BlockArgument>(position);
  return argument &&
         isa<fa::attn::ForwardOp>(argument.getOwner()->getParentOp());
}

/// An element of a tensor at computed positions: 0 where one is outside, and a
/// call that tells.
Value Widener::readInside(tensor::ExtractOp op) {
  Location loc = op.getLoc();
  Value tensor = lookup(op.getTensor()), inside;
  SmallVector<Value> at, sizes, isIn;
  for (auto [dim, position] : llvm::enumerate(op.getIndices())) {
    at.push_back(lookup(position));
    sizes.push_back(tensor::DimOp::create(builder, loc, tensor, dim));
    isIn.push_back(arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, at.back(), sizes.back()));
    inside = inside ? arith::AndIOp::create(builder, loc, inside, isIn.back())
                    : isIn.back();
  }
  auto branch = scf::IfOp::create(builder, loc, op.getType(), inside,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value element = tensor::ExtractOp::create(builder, loc, tensor, at);
  scf::YieldOp::create(builder, loc, element);
  builder.setInsertionPointToStart(branch.elseBlock());
  for (size_t dim = 0; dim < at.size(); ++dim)
    tellOutside(loc, isIn[dim], op.getTensor(), dim, at[dim], sizes[dim]);
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(op.getType()));
  scf::YieldOp::create(builder, loc, zero);
  return branch.getResult(0);
}

/// Calls the function for positions outside unless `isIn`.
void Widener::tellOutside(Location loc, Value isIn, Value tensor, int64_t dim,
                          Value index, Value size) {
  auto module = builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
  Type word = builder.getI64Type();
  auto function =
      module.lookupSymbol<LLVM::LLVMFuncOp>(positions::kOutsideFunction);
  if (!function) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    function = LLVM::LLVMFuncOp::create(
        builder, loc, positions::kOutsideFunction,
        LLVM::LLVMFunctionType::get(
            LLVM::LLVMVoidType::get(builder.getContext()),
            {word, word, word, word}));
  }
  auto branch = scf::IfOp::create(builder, loc, TypeRange(), isIn,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  auto argument = dyn_cast<BlockArgument>(tensor);
  SmallVector<Value> operands;
  for (int64_t number : {argument ? int64_t(argument.getArgNumber()) : -1, dim})
    operands.push_back(arith::ConstantOp::create(
        builder, loc, builder.getI64IntegerAttr(number)));
  for (Value number : {index, size})
    operands.push_back(arith::IndexCastOp::create(builder, loc, word, number));
  LLVM::CallOp::create(builder, loc, function, operands);
}

/// An op that reads a tensor: what it gives is widened.
void Widener::cloneRead(Operation &op) {
  auto extract = dyn_cast<tensor::ExtractOp>(op);
  Value read = extract && !llvm::all_of(extract.getIndices(), isBound)
                   ? readInside(extract)
                   : builder.clone(op, mapping)->getResult(0);
  if (read.getType().isF32())
    read = convertFloat(builder, op.getLoc(), read, wide);
  map(op.getResult(0), read);
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
