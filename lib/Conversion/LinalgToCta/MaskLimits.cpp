//===- MaskLimits.cpp - Masks as limits of a row's columns ----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask that is an "and" of bounds of the column, column <= limit(row), needs
// one comparison an element however many bounds it has: their minimum is taken
// once a row. Rows and columns that have something added are made to start
// there. A column clamped to the last one, as lookups are, is the column itself
// where the mask hides what is behind that.
//
//===----------------------------------------------------------------------===//

#include "MaskLimits.h"

#include "fa/Dialect/Cta/IR/Cta.h"
#include "fa/Support/Conjuncts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace fa;

namespace {
/// column <= limit, or column >= limit.
struct Bound {
  Value column; ///< vector<1xC>
  Value limit;  ///< i32 or vector<R>
  bool isUpper;
};
} // namespace

/// What is spread over a larger shape in `value`.
static Value peel(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<vector::BroadcastOp, vector::ShapeCastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static bool isColumn(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type && type.getRank() == 2 && type.getDimSize(0) == 1;
}

/// The same for all columns: a number or a row vector.
static bool isLimit(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return !type || type.getRank() == 1;
}

/// `value` plus a constant.
static Value addConstant(ImplicitLocOpBuilder &b, Value value, int32_t number) {
  Type type = value.getType();
  TypedAttr attribute = b.getI32IntegerAttr(number);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, attribute);
  return arith::AddIOp::create(b, value,
                               arith::ConstantOp::create(b, type, attribute));
}

/// The predicate that says of (b, a) what `predicate` says of (a, b).
static arith::CmpIPredicate swapSides(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return arith::CmpIPredicate::sgt;
  case arith::CmpIPredicate::sle:
    return arith::CmpIPredicate::sge;
  case arith::CmpIPredicate::sgt:
    return arith::CmpIPredicate::slt;
  case arith::CmpIPredicate::sge:
    return arith::CmpIPredicate::sle;
  default:
    return predicate;
  }
}

/// Reads `condition` as a bound, an inclusive one.
static std::optional<Bound> matchBound(ImplicitLocOpBuilder &b,
                                       Value condition) {
  auto compare = peel(condition).getDefiningOp<arith::CmpIOp>();
  if (!compare || !getElementTypeOrSelf(compare.getLhs()).isInteger(32))
    return std::nullopt;
  Value column = peel(compare.getLhs()), limit = peel(compare.getRhs());
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (!isColumn(column)) {
    std::swap(column, limit);
    predicate = swapSides(predicate);
  }
  if (!isColumn(column) || !isLimit(limit))
    return std::nullopt;
  switch (predicate) {
  case arith::CmpIPredicate::sle:
    return Bound{column, limit, true};
  case arith::CmpIPredicate::slt:
    return Bound{column, addConstant(b, limit, -1), true};
  case arith::CmpIPredicate::sge:
    return Bound{column, limit, false};
  case arith::CmpIPredicate::sgt:
    return Bound{column, addConstant(b, limit, 1), false};
  default:
    return std::nullopt;
  }
}

/// The tighter of two limits.
static Value tighten(ImplicitLocOpBuilder &b, Value x, Value y, bool isUpper) {
  Type type = isa<VectorType>(x.getType()) ? x.getType() : y.getType();
  for (Value *value : {&x, &y})
    if (value->getType() != type)
      *value = vector::BroadcastOp::create(b, type, *value);
  return isUpper ? arith::MinSIOp::create(b, x, y).getResult()
                 : arith::MaxSIOp::create(b, x, y).getResult();
}

/// The mask of `type` that `bound` is.
static Value buildMask(ImplicitLocOpBuilder &b, const Bound &bound,
                       VectorType type) {
  VectorType numbers = type.clone(b.getI32Type());
  Value limit = bound.limit;
  if (auto rows = dyn_cast<VectorType>(limit.getType()))
    limit = vector::ShapeCastOp::create(
        b, VectorType::get({rows.getDimSize(0), 1}, b.getI32Type()), limit);
  Value column = bound.column;
  if (column.getType() != numbers)
    column = vector::BroadcastOp::create(b, numbers, column);
  limit = vector::BroadcastOp::create(b, numbers, limit);
  return arith::CmpIOp::create(
      b, bound.isUpper ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge,
      column, limit);
}

namespace {
/// A number that is the same for all elements: a value plus a constant.
struct Number {
  Value value;
  int64_t added;
  bool operator==(const Number &other) const {
    return value == other.value && added == other.added;
  }
};
} // namespace

/// Reads `value` as a number.
static Number getNumber(Value value) {
  int64_t added = 0;
  while (true) {
    value = peel(value);
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<arith::IndexCastOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    APInt constant;
    if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) ||
        !matchPattern(peel(op->getOperand(1)), m_ConstantInt(&constant)))
      return {value, added};
    added += isa<arith::AddIOp>(op) ? constant.getSExtValue()
                                    : -constant.getSExtValue();
    value = op->getOperand(0);
  }
}

/// Replaces a column clamped to `last` in `bounds` by the column, where they
/// hide all columns behind `last`.
static void dropClamps(MutableArrayRef<std::optional<Bound>> bounds) {
  for (std::optional<Bound> &bound : bounds) {
    auto clamp =
        bound ? bound->column.getDefiningOp<arith::MinSIOp>() : nullptr;
    if (!clamp)
      continue;
    for (auto [column, last] : {std::pair(clamp.getLhs(), clamp.getRhs()),
                                std::pair(clamp.getRhs(), clamp.getLhs())}) {
      bool isHidden = llvm::any_of(
          bounds, [&, column = column, last = last](const auto &other) {
            return other && other->isUpper && other->column == column &&
                   getNumber(other->limit) == getNumber(last);
          });
      if (isHidden && isColumn(column)) {
        bound->column = column;
        break;
      }
    }
  }
}

/// Makes one comparison of the bounds of one column and direction.
static void joinBounds(arith::AndIOp root) {
  auto type = dyn_cast<VectorType>(root.getType());
  if (!type || type.getRank() != 2 || !type.getElementType().isInteger(1))
    return;
  ImplicitLocOpBuilder b(root.getLoc(), root);
  SmallVector<Value> conditions, others;
  collectConjuncts(root, conditions);
  SmallVector<std::optional<Bound>> bounds;
  for (Value condition : conditions)
    bounds.push_back(matchBound(b, condition));
  dropClamps(bounds);
  llvm::MapVector<std::pair<Value, unsigned>, Value> limits;
  for (auto [condition, bound] : llvm::zip_equal(conditions, bounds)) {
    if (!bound) {
      others.push_back(condition);
      continue;
    }
    Value &limit = limits[{bound->column, bound->isUpper}];
    limit =
        limit ? tighten(b, limit, bound->limit, bound->isUpper) : bound->limit;
  }
  if (limits.size() + others.size() == conditions.size())
    return;
  for (auto &[key, limit] : limits)
    others.push_back(buildMask(b, {key.first, limit, key.second != 0}, type));
  Value mask = others.front();
  for (Value other : llvm::drop_begin(others))
    mask = arith::AndIOp::create(b, mask, other);
  root.replaceAllUsesWith(mask);
}

/// Makes `cta.row` or `cta.col` begin at what `sum` adds to all of its
/// elements.
static void foldIntoIota(arith::AddIOp sum) {
  if (!isa<VectorType>(sum.getType()))
    return;
  for (auto [iota, added] : {std::pair(sum.getLhs(), peel(sum.getRhs())),
                             std::pair(sum.getRhs(), peel(sum.getLhs()))}) {
    Operation *op = iota.getDefiningOp();
    if (!isa_and_nonnull<cta::RowOp, cta::ColOp>(op) ||
        !added.getType().isInteger(32))
      continue;
    OpBuilder b(sum);
    Value base =
        arith::AddIOp::create(b, sum.getLoc(), op->getOperand(0), added);
    Operation *copy = b.clone(*op);
    copy->setOperand(0, base);
    sum.replaceAllUsesWith(copy->getResult(0));
    return;
  }
}

void fa::normalizeMasks(gpu::GPUFuncOp kernel) {
  // 1. Rows and columns, operands before their users.
  kernel.walk([](arith::AddIOp sum) { foldIntoIota(sum); });
  // 2. The masks, an "and" before those that it is made of.
  SmallVector<arith::AndIOp> conjunctions;
  kernel.walk([&](arith::AndIOp op) { conjunctions.push_back(op); });
  for (arith::AndIOp conjunction : llvm::reverse(conjunctions))
    joinBounds(conjunction);
}
