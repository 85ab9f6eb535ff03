//===- Multiples.cpp - What an index is a multiple of ---------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Cta/IR/Multiples.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace fa;

/// Whether `argument` counts a loop of which the start and the step are
/// multiples of `factor`.
static bool isMultipleCounter(BlockArgument argument, int64_t factor) {
  auto loop = dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
  if (!loop || loop.getSingleInductionVar() != argument)
    return false;
  auto isMultiple = [&](OpFoldResult part) {
    if (std::optional<int64_t> constant = getConstantIntValue(part))
      return *constant % factor == 0;
    return cta::isMultipleOf(cast<Value>(part), factor);
  };
  return isMultiple(*loop.getSingleLowerBound()) &&
         isMultiple(*loop.getSingleStep());
}

bool fa::cta::isMultipleOf(Value value, int64_t factor) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % factor == 0;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isMultipleCounter(argument, factor);
  Operation *op = value.getDefiningOp();
  auto isMultiple = [&](Value operand) {
    return isMultipleOf(operand, factor);
  };
  if (isa<arith::MulIOp>(op))
    return llvm::any_of(op->getOperands(), isMultiple);
  return isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(
             op) &&
         llvm::all_of(op->getOperands(), isMultiple);
}
