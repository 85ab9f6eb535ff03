//===- LinearReader.cpp - Index arithmetic of a mask as a sum -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinearReader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fa::attn;

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

/// Adds `factor * value` to `sum`; false where the result leaves 62 bits.
static bool addProduct(int64_t &sum, int64_t value, int64_t factor) {
  constexpr int64_t kLimit = int64_t(1) << 62;
  int64_t product;
  if (llvm::MulOverflow(value, factor, product) ||
      llvm::AddOverflow(sum, product, sum))
    return false;
  return sum > -kLimit && sum < kLimit;
}

bool Linear::add(const Linear &other, int64_t factor) {
  bool isSmall = addProduct(i, other.i, factor) &&
                 addProduct(j, other.j, factor) &&
                 addProduct(constant, other.constant, factor);
  for (auto [symbol, coefficient] : other.symbols)
    isSmall = isSmall && addProduct(symbols[symbol], coefficient, factor);
  return isSmall;
}

Linear Linear::negated() const {
  Linear result;
  result.i = -i;
  result.j = -j;
  result.constant = -constant;
  for (auto [symbol, coefficient] : symbols)
    result.symbols[symbol] = -coefficient;
  return result;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

LinearReader::LinearReader(OpBuilder &builder, Region &mask,
                           const RowBlock &rows)
    : builder(builder), mask(mask), rows(rows) {
  outside.map(mask.getArgument(0), rows.batch);
  outside.map(mask.getArgument(1), rows.head);
}

std::optional<Linear> LinearReader::read(Value value) {
  auto known = linears.find(value);
  if (known != linears.end())
    return known->second;
  std::optional<Linear> linear = compute(value);
  linears[value] = linear;
  return linear;
}

std::optional<Linear> LinearReader::compute(Value value) {
  Linear linear;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    if (!constant.isSignedIntN(62))
      return std::nullopt;
    linear.constant = constant.getSExtValue();
    return linear;
  }
  if (value == mask.getArgument(2) || value == mask.getArgument(3)) {
    (value == mask.getArgument(2) ? linear.i : linear.j) = 1;
    return linear;
  }
  Operation *op = value.getDefiningOp();
  if (op && op->getParentRegion() == &mask)
    if (std::optional<Linear> sum = computeOp(op))
      return sum;
  if (Value symbol = hoistFromMask(builder, mask, value, outside)) {
    linear.symbols[symbol] = 1;
    return linear;
  }
  return std::nullopt;
}

std::optional<Linear> LinearReader::computeOp(Operation *op) {
  // Positions are far below 2^31: casts to 32 bits or more keep them.
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op)) {
    Type type = op->getResult(0).getType();
    if (!type.isIndex() && type.getIntOrFloatBitWidth() < 32)
      return std::nullopt;
    return read(op->getOperand(0));
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<Linear> lhs = read(op->getOperand(0));
  std::optional<Linear> rhs = read(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  if (!isa<arith::MulIOp>(op)) {
    if (!lhs->add(*rhs, isa<arith::AddIOp>(op) ? 1 : -1))
      return std::nullopt;
    return lhs;
  }
  auto isConstant = [](const Linear &l) {
    return l.i == 0 && l.j == 0 && l.symbols.empty();
  };
  if (!isConstant(*lhs) && !isConstant(*rhs))
    return std::nullopt;
  bool isLeft = isConstant(*lhs);
  Linear product;
  if (!product.add(isLeft ? *rhs : *lhs, (isLeft ? lhs : rhs)->constant))
    return std::nullopt;
  return product;
}

Value fa::attn::hoistFromMask(OpBuilder &builder, Region &mask, Value value,
                              IRMapping &outside) {
  if (Value known = outside.lookupOrNull(value))
    return known;
  if (!mask.isAncestor(value.getParentRegion()))
    return value;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return {};
  // Whether some row asks for it is not known: it must be safe to compute. An
  // element that the mask reads at every row is there.
  if (!isSpeculatable(op) && !isa<tensor::ExtractOp>(op))
    return {};
  for (Value operand : op->getOperands()) {
    Value moved = hoistFromMask(builder, mask, operand, outside);
    if (!moved)
      return {};
    outside.map(operand, moved);
  }
  builder.clone(*op, outside);
  return outside.lookup(value);
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Value LinearReader::buildExtreme(const Linear &linear, bool isMax) {
  Location loc = mask.getLoc();
  // 1. The row where the extreme is: the first, or first + count - 1.
  Linear sum = linear;
  sum.i = 0;
  if (linear.i != 0) {
    sum.symbols[rows.firstRow] += linear.i;
    if ((linear.i > 0) == isMax) {
      sum.symbols[rows.numRows] += linear.i;
      sum.constant -= linear.i;
    }
  }

  // 2. The sum; summands that are added come first.
  Value total;
  auto append = [&](Value value, bool isAdded) {
    if (!total)
      total = isAdded
                  ? value
                  : arith::SubIOp::create(
                        builder, loc,
                        arith::ConstantIndexOp::create(builder, loc, 0), value)
                        .getResult();
    else if (isAdded)
      total = arith::AddIOp::create(builder, loc, total, value);
    else
      total = arith::SubIOp::create(builder, loc, total, value);
  };
  for (bool isAdded : {true, false})
    for (auto [symbol, coefficient] : sum.symbols) {
      if (coefficient == 0 || (coefficient > 0) != isAdded)
        continue;
      Value value = symbol;
      if (!value.getType().isIndex())
        value = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                           value);
      int64_t factor = std::abs(coefficient);
      if (factor != 1)
        value = arith::MulIOp::create(
            builder, loc, value,
            arith::ConstantIndexOp::create(builder, loc, factor));
      append(value, isAdded);
    }
  if (!total || sum.constant != 0)
    append(arith::ConstantIndexOp::create(
               builder, loc, total ? std::abs(sum.constant) : sum.constant),
           !total || sum.constant > 0);
  return total;
}
