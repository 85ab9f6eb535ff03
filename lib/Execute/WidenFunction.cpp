//===- WidenFunction.cpp - A function in another precision ----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WidenFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fa::execute;

/// `type` with f64 for its floats.
static Type widen(Type type) {
  auto f64 = Float64Type::get(type.getContext());
  if (isa<FloatType>(type))
    return f64;
  if (auto shaped = dyn_cast<ShapedType>(type))
    if (isa<FloatType>(shaped.getElementType()))
      return shaped.clone(f64);
  return type;
}

static APFloat widen(APFloat number) {
  bool losesInfo;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number;
}

/// A constant's number or numbers in f64; other attributes as they are.
static TypedAttr widen(TypedAttr value) {
  Type wide = widen(value.getType());
  if (auto number = dyn_cast<FloatAttr>(value))
    return FloatAttr::get(wide, widen(number.getValue()));
  auto numbers = dyn_cast<DenseFPElementsAttr>(value);
  if (!numbers)
    return value;
  return cast<TypedAttr>(numbers.mapValues(
      Float64Type::get(value.getContext()),
      [](const APFloat &number) { return widen(number).bitcastToAPInt(); }));
}

static void widenValues(Operation *op) {
  for (Value result : op->getResults())
    result.setType(widen(result.getType()));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        argument.setType(widen(argument.getType()));
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    constant.setValueAttr(widen(constant.getValue()));
}

LogicalResult fa::execute::widenFunction(func::FuncOp function) {
  // 1. Whatever has a type.
  SmallVector<Operation *> casts;
  WalkResult done = function.walk([&](Operation *op) {
    if (isa<arith::BitcastOp>(op)) {
      op->emitOpError("reads the bits of a float, which have no meaning in the "
                      "float64 reference");
      return WalkResult::interrupt();
    }
    widenValues(op);
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      casts.push_back(op);
    return WalkResult::advance();
  });
  if (done.wasInterrupted())
    return failure();
  // 2. Casts between floats, of which there is one type now.
  for (Operation *cast : casts) {
    cast->getResult(0).replaceAllUsesWith(cast->getOperand(0));
    cast->erase();
  }
  // 3. The function's own type.
  auto widenAll = [](TypeRange types) {
    return llvm::map_to_vector(types, [](Type type) { return widen(type); });
  };
  function.setFunctionType(FunctionType::get(
      function.getContext(), widenAll(function.getArgumentTypes()),
      widenAll(function.getResultTypes())));
  return success();
}
