//===- MaskAnalysis.cpp - Which keys a mask region leaves -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/Transforms/MaskAnalysis.h"

#include "LinearReader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace fa::attn;

namespace {
/// Reads a condition into intervals of keys.
class MaskReader {
public:
  MaskReader(OpBuilder &builder, Location loc, Region &mask,
             const RowBlock &rows)
      : builder(builder), loc(loc), mask(mask), linears(builder, mask, rows) {}

  /// The keys for which `condition` holds, or does not where `isNegated`.
  VisibleKeys read(Value condition, bool isNegated);

private:
  using Predicate = arith::CmpIPredicate;

  VisibleKeys compute(Value condition, bool isNegated);
  VisibleKeys readOp(Operation *op, bool isNegated);
  VisibleKeys readComparison(arith::CmpIOp op, bool isNegated);
  /// The keys for which `difference <= 0`.
  VisibleKeys readDifference(const Linear &difference);
  /// All keys where a condition on the row holds, else none.
  Value keysIf(Value bound);

  VisibleKeys intersect(const VisibleKeys &lhs, const VisibleKeys &rhs);
  VisibleKeys unite(const VisibleKeys &lhs, const VisibleKeys &rhs);
  std::optional<KeyInterval> uniteAll(const VisibleKeys &lhs,
                                      const VisibleKeys &rhs);

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  /// The smaller or larger of two bounds; an open one wins or yields.
  Value extreme(Value lhs, Value rhs, bool isMin, bool openWins);

  OpBuilder &builder;
  Location loc;
  Region &mask;
  LinearReader linears;
  /// What was read; each condition is read once.
  llvm::DenseMap<std::pair<Value, unsigned>, VisibleKeys> known;
};
} // namespace

static VisibleKeys unknown() { return {}; }
static VisibleKeys everything() { return {KeyInterval(), KeyInterval()}; }

/// Later than any key, and still free of overflow when added to.
static constexpr int64_t kNoEnd = int64_t(1) << 48;

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

VisibleKeys MaskReader::read(Value condition, bool isNegated) {
  std::pair<Value, unsigned> key(condition, isNegated);
  auto found = known.find(key);
  if (found != known.end())
    return found->second;
  VisibleKeys keys = compute(condition, isNegated);
  known[key] = keys;
  return keys;
}

VisibleKeys MaskReader::compute(Value condition, bool isNegated) {
  APInt constantValue;
  if (matchPattern(condition, m_ConstantInt(&constantValue))) {
    bool holds = constantValue.isZero() == isNegated;
    if (holds)
      return everything();
    return {{{}, constant(0)}, std::nullopt};
  }
  Operation *op = condition.getDefiningOp();
  if (!op || op->getParentRegion() != &mask)
    return unknown();
  return readOp(op, isNegated);
}

VisibleKeys MaskReader::readOp(Operation *op, bool isNegated) {
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return readComparison(comparison, isNegated);
  if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    VisibleKeys lhs = read(op->getOperand(0), isNegated);
    VisibleKeys rhs = read(op->getOperand(1), isNegated);
    return isa<arith::AndIOp>(op) != isNegated ? intersect(lhs, rhs)
                                               : unite(lhs, rhs);
  }
  if (auto exclusive = dyn_cast<arith::XOrIOp>(op)) {
    APInt flips;
    if (matchPattern(exclusive.getRhs(), m_ConstantInt(&flips)))
      return read(exclusive.getLhs(), isNegated != !flips.isZero());
    return unknown();
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Value condition = select.getCondition();
    return unite(intersect(read(condition, false),
                           read(select.getTrueValue(), isNegated)),
                 intersect(read(condition, true),
                           read(select.getFalseValue(), isNegated)));
  }
  return unknown();
}

VisibleKeys MaskReader::readComparison(arith::CmpIOp op, bool isNegated) {
  std::optional<Linear> lhs = linears.read(op.getLhs());
  std::optional<Linear> rhs = linears.read(op.getRhs());
  if (!lhs || !rhs)
    return unknown();
  Linear less = *lhs, greater = *rhs; // lhs - rhs, rhs - lhs
  if (!less.add(*rhs, -1) || !greater.add(*lhs, -1))
    return unknown();
  Linear isLess = less, isGreater = greater;
  isLess.constant += 1;
  isGreater.constant += 1;
  Predicate predicate = op.getPredicate();
  if (isNegated)
    predicate = arith::invertPredicate(predicate);
  switch (predicate) {
  case Predicate::sle:
    return readDifference(less);
  case Predicate::slt:
    return readDifference(isLess);
  case Predicate::sge:
    return readDifference(greater);
  case Predicate::sgt:
    return readDifference(isGreater);
  case Predicate::eq:
    return intersect(readDifference(less), readDifference(greater));
  case Predicate::ne:
    return unite(readDifference(isLess), readDifference(isGreater));
  default:
    return unknown();
  }
}

Value MaskReader::keysIf(Value bound) {
  Value holds =
      arith::CmpIOp::create(builder, loc, Predicate::sle, bound, constant(0));
  return arith::SelectOp::create(builder, loc, holds, constant(kNoEnd),
                                 constant(0));
}

VisibleKeys MaskReader::readDifference(const Linear &difference) {
  // a j + rest <= 0 with rest at the row where it is least (some row sees the
  // key) and largest (all rows do).
  Linear rest = difference;
  int64_t a = rest.j;
  rest.j = 0;
  if (a == 0) {
    Value least = linears.buildExtreme(rest, /*isMax=*/false);
    Value most = linears.buildExtreme(rest, /*isMax=*/true);
    return {{{}, keysIf(least)}, KeyInterval{{}, keysIf(most)}};
  }
  // a > 0: j < floor(-rest / a) + 1. a < 0: j >= ceil(rest / -a).
  auto bound = [&](bool isMax) -> Value {
    if (a > 0) {
      Linear negated = rest.negated();
      if (a == 1) {
        negated.constant += 1;
        return linears.buildExtreme(negated, !isMax);
      }
      Value floor = arith::FloorDivSIOp::create(
          builder, loc, linears.buildExtreme(negated, !isMax), constant(a));
      return arith::AddIOp::create(builder, loc, floor, constant(1));
    }
    Value least = linears.buildExtreme(rest, isMax);
    if (a == -1)
      return least;
    return arith::CeilDivSIOp::create(builder, loc, least, constant(-a));
  };
  Value some = bound(/*isMax=*/false), all = bound(/*isMax=*/true);
  if (a > 0)
    return {{{}, some}, KeyInterval{{}, all}};
  return {{some, {}}, KeyInterval{all, {}}};
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

Value MaskReader::extreme(Value lhs, Value rhs, bool isMin, bool openWins) {
  if (!lhs || !rhs)
    return openWins ? Value() : (lhs ? lhs : rhs);
  if (lhs == rhs)
    return lhs;
  if (isMin)
    return arith::MinSIOp::create(builder, loc, lhs, rhs);
  return arith::MaxSIOp::create(builder, loc, lhs, rhs);
}

VisibleKeys MaskReader::intersect(const VisibleKeys &lhs,
                                  const VisibleKeys &rhs) {
  auto both = [&](const KeyInterval &a, const KeyInterval &b) {
    return KeyInterval{extreme(a.begin, b.begin, false, /*openWins=*/false),
                       extreme(a.end, b.end, true, /*openWins=*/false)};
  };
  VisibleKeys result{both(lhs.some, rhs.some), std::nullopt};
  if (lhs.all && rhs.all)
    result.all = both(*lhs.all, *rhs.all);
  return result;
}

std::optional<KeyInterval> MaskReader::uniteAll(const VisibleKeys &lhs,
                                                const VisibleKeys &rhs) {
  if (!lhs.all || !rhs.all)
    return lhs.all ? lhs.all : rhs.all;
  const KeyInterval &a = *lhs.all, &b = *rhs.all;
  KeyInterval hull{extreme(a.begin, b.begin, true, /*openWins=*/true),
                   extreme(a.end, b.end, false, /*openWins=*/true)};
  // With a common open side the hull is the union.
  if ((!a.begin && !b.begin) || (!a.end && !b.end))
    return hull;

  // Where they touch the hull is the union; else the longer one.
  auto orElse = [&](Value value, int64_t open) {
    return value ? value : constant(open);
  };
  Value beginA = orElse(a.begin, 0), beginB = orElse(b.begin, 0);
  Value endA = orElse(a.end, kNoEnd), endB = orElse(b.end, kNoEnd);
  Value touch = arith::CmpIOp::create(builder, loc, Predicate::sle,
                                      extreme(beginA, beginB, false, false),
                                      extreme(endA, endB, true, false));
  Value isLonger =
      arith::CmpIOp::create(builder, loc, Predicate::sge,
                            arith::SubIOp::create(builder, loc, endA, beginA),
                            arith::SubIOp::create(builder, loc, endB, beginB));
  auto choose = [&](Value both, Value onlyA, Value onlyB) -> Value {
    Value longer =
        arith::SelectOp::create(builder, loc, isLonger, onlyA, onlyB);
    return arith::SelectOp::create(builder, loc, touch, both, longer);
  };
  return KeyInterval{choose(orElse(hull.begin, 0), beginA, beginB),
                     choose(orElse(hull.end, kNoEnd), endA, endB)};
}

VisibleKeys MaskReader::unite(const VisibleKeys &lhs, const VisibleKeys &rhs) {
  KeyInterval hull{
      extreme(lhs.some.begin, rhs.some.begin, true, /*openWins=*/true),
      extreme(lhs.some.end, rhs.some.end, false, /*openWins=*/true)};
  return {hull, uniteAll(lhs, rhs)};
}

VisibleKeys fa::attn::analyzeMask(OpBuilder &builder, Location loc,
                                  Region &mask, const RowBlock &rows) {
  if (mask.empty())
    return everything();
  MaskReader reader(builder, loc, mask, rows);
  return reader.read(mask.front().getTerminator()->getOperand(0),
                     /*isNegated=*/false);
}
