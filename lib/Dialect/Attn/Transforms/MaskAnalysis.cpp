//===- MaskAnalysis.cpp - Which keys a mask region leaves -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fa::attn;

Value AffineBound::build(OpBuilder &builder, Location loc, Value row) const {
  Value sum = arith::ConstantIndexOp::create(builder, loc, constant);
  auto add = [&](Value value, int64_t coefficient) {
    if (coefficient == -1) {
      sum = arith::SubIOp::create(builder, loc, sum, value);
      return;
    }
    if (coefficient != 1)
      value = arith::MulIOp::create(
          builder, loc, value,
          arith::ConstantIndexOp::create(builder, loc, coefficient));
    sum = arith::AddIOp::create(builder, loc, sum, value);
  };
  if (rowCoefficient)
    add(row, rowCoefficient);
  for (auto [symbol, coefficient] : symbols)
    add(symbol, coefficient);
  return sum;
}

namespace {
/// An expression linear in i, j and symbols.
struct Linear {
  int64_t i = 0, j = 0, constant = 0;
  llvm::SmallMapVector<Value, int64_t, 4> symbols;

  /// Adds `factor` (1 or -1) times `other`; false where a number leaves 62
  /// bits.
  bool add(const Linear &other, int64_t factor) {
    bool isSmall = addTo(i, other.i, factor) && addTo(j, other.j, factor) &&
                   addTo(constant, other.constant, factor);
    for (auto [symbol, coefficient] : other.symbols)
      isSmall = isSmall && addTo(symbols[symbol], coefficient, factor);
    return isSmall;
  }

private:
  static bool addTo(int64_t &sum, int64_t value, int64_t factor) {
    constexpr int64_t kLimit = int64_t(1) << 62;
    if (value <= -kLimit || value >= kLimit)
      return false;
    sum += factor * value;
    return sum > -kLimit && sum < kLimit;
  }
};

class MaskReader {
public:
  MaskReader(Region &mask, Value batch, Value head, Region *scope)
      : args(mask.front().getArguments()), region(mask), batch(batch),
        head(head), scope(scope) {}

  /// Reads `condition`, a factor of the conjunction, into `bounds`.
  void readCondition(Value condition, MaskBounds &bounds);

private:
  /// `value` as a linear expression; each value is read once.
  std::optional<Linear> readLinear(Value value);
  std::optional<Linear> computeLinear(Value value);
  std::optional<Linear> readSum(Operation *op, int64_t sign);
  void readComparison(arith::CmpIOp op, MaskBounds &bounds);
  /// Records `difference <= 0`.
  void record(const Linear &difference, MaskBounds &bounds);

  ValueRange args;
  Region &region;
  Value batch, head;
  Region *scope;
  llvm::DenseMap<Value, std::optional<Linear>> linears;
};
} // namespace

std::optional<Linear> MaskReader::readSum(Operation *op, int64_t sign) {
  std::optional<Linear> lhs = readLinear(op->getOperand(0));
  std::optional<Linear> rhs = readLinear(op->getOperand(1));
  if (!lhs || !rhs || !lhs->add(*rhs, sign))
    return std::nullopt;
  return lhs;
}

std::optional<Linear> MaskReader::readLinear(Value value) {
  auto known = linears.find(value);
  if (known != linears.end())
    return known->second;
  std::optional<Linear> linear = computeLinear(value);
  linears[value] = linear;
  return linear;
}

std::optional<Linear> MaskReader::computeLinear(Value value) {
  Linear linear;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    linear.constant = constant.getSExtValue();
    return linear;
  }
  if (value == args[2] || value == args[3]) {
    (value == args[2] ? linear.i : linear.j) = 1;
    return linear;
  }
  if (value == args[0] || value == args[1])
    value = value == args[0] ? batch : head;
  if (value.getParentRegion()->isProperAncestor(scope) ||
      value.getParentRegion() == scope) {
    linear.symbols[value] = 1;
    return linear;
  }
  Operation *op = value.getDefiningOp();
  if (!op || op->getParentRegion() != &region)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return readSum(op, 1);
  if (isa<arith::SubIOp>(op))
    return readSum(op, -1);
  return std::nullopt;
}

void MaskReader::record(const Linear &difference, MaskBounds &bounds) {
  // With j's coefficient +1: j <= -rest, an upper bound; with -1: j >= rest.
  bool isUpper = difference.j == 1;
  int64_t sign = isUpper ? -1 : 1;
  int64_t row = sign * difference.i;
  if ((difference.j != 1 && difference.j != -1) || row < 0 || row > 1) {
    bounds.isExact = false;
    return;
  }
  AffineBound bound;
  bound.rowCoefficient = row;
  bound.constant = sign * difference.constant;
  for (auto [symbol, coefficient] : difference.symbols)
    if (coefficient != 0)
      bound.symbols.emplace_back(symbol, sign * coefficient);
  (isUpper ? bounds.upper : bounds.lower).push_back(bound);
}

void MaskReader::readComparison(arith::CmpIOp op, MaskBounds &bounds) {
  std::optional<Linear> lhs = readLinear(op.getLhs());
  std::optional<Linear> rhs = readLinear(op.getRhs());
  if (!lhs || !rhs) {
    bounds.isExact = false;
    return;
  }
  Linear less = *lhs, greater = *rhs; // lhs - rhs <= 0, rhs - lhs <= 0
  if (!less.add(*rhs, -1) || !greater.add(*lhs, -1)) {
    bounds.isExact = false;
    return;
  }
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::sle:
    return record(less, bounds);
  case arith::CmpIPredicate::slt:
    less.constant += 1;
    return record(less, bounds);
  case arith::CmpIPredicate::sge:
    return record(greater, bounds);
  case arith::CmpIPredicate::sgt:
    greater.constant += 1;
    return record(greater, bounds);
  case arith::CmpIPredicate::eq:
    record(less, bounds);
    return record(greater, bounds);
  default:
    bounds.isExact = false;
  }
}

void MaskReader::readCondition(Value condition, MaskBounds &bounds) {
  APInt constant;
  if (matchPattern(condition, m_ConstantInt(&constant)) && !constant.isZero())
    return;
  if (auto conjunction = condition.getDefiningOp<arith::AndIOp>()) {
    readCondition(conjunction.getLhs(), bounds);
    readCondition(conjunction.getRhs(), bounds);
    return;
  }
  if (auto comparison = condition.getDefiningOp<arith::CmpIOp>())
    if (comparison->getParentRegion() == &region)
      return readComparison(comparison, bounds);
  bounds.isExact = false;
}

MaskBounds fa::attn::analyzeMask(Region &mask, Value batch, Value head,
                                 Region *scope) {
  MaskBounds bounds;
  if (mask.empty())
    return bounds;
  MaskReader reader(mask, batch, head, scope);
  reader.readCondition(mask.front().getTerminator()->getOperand(0), bounds);
  return bounds;
}
