//===- VariantRegions.cpp - Score and mask regions on scores -------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VariantRegions.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fa;

/// Lets products and sums of a score be one operation with one rounding, as
/// CUDA C's compiler does by default, and its factors be multiplied with one
/// another first. In the softmax that follows this would not do: see
/// `Exponent::of`.
static void relaxArithmetic(Operation *op) {
  auto arithmetic = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!arithmetic)
    return;
  auto flags = arith::FastMathFlags::contract;
  if (isa<arith::MulFOp>(op))
    flags = flags | arith::FastMathFlags::reassoc;
  // Conversions may have none.
  if (arith::FastMathFlagsAttr present = arithmetic.getFastMathFlagsAttr())
    flags = flags | present.getValue();
  op->setAttr(arithmetic.getFastMathAttrName(),
              arith::FastMathFlagsAttr::get(op->getContext(), flags));
}

/// Inlines a score or mask region at the builder's place and returns what it
/// yields.
Value fa::inlineRegion(OpBuilder &builder, Region &region, ValueRange args) {
  IRMapping mapping;
  mapping.map(region.getArguments(), args);
  for (Operation &nested : region.front().without_terminator())
    builder.clone(nested, mapping)->walk(relaxArithmetic);
  return mapping.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

/// `start` plus the element's index in dimension `dim` of the matrix.
static Value buildPosition(GenericBuilder &in, Value start, int64_t dim) {
  Value local = linalg::IndexOp::create(in.builder, in.loc, dim);
  if (isConstantIntValue(start, 0))
    return local;
  return arith::AddIOp::create(in.builder, in.loc, start, local);
}

Value fa::applyVariant(GenericBuilder &b, Value scores, Value scale,
                       Region &score, Region &mask, ValueRange origin) {
  return b
      .generic(
          {}, {scores}, 2, false,
          [&](GenericBuilder &in, ValueRange args) {
            SmallVector<Value> operands{args[0], origin[0], origin[1]};
            if (!score.empty() || !mask.empty())
              for (int64_t dim : {0, 1})
                operands.push_back(buildPosition(in, origin[2 + dim], dim));
            if (scale) {
              operands[0] = in.mul(operands[0], scale);
              relaxArithmetic(operands[0].getDefiningOp());
            }
            if (!score.empty())
              operands[0] = inlineRegion(in.builder, score, operands);
            if (!mask.empty()) {
              Value sees = inlineRegion(in.builder, mask,
                                        ArrayRef<Value>(operands).drop_front());
              operands[0] = in.select(sees, operands[0], in.negativeInfinity());
            }
            return SmallVector<Value>{operands[0]};
          })
      .front();
}
