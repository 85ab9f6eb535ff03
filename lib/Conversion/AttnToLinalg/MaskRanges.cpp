//===- MaskRanges.cpp - Keys that queries see, by ranges of values --------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskRanges.h"

#include "RowArithmetic.h"

#include "fa/Dialect/Attn/Transforms/MaskAnalysis.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace fa;

namespace {
/// The least and the largest that a value has with any key; both signed.
struct Bounds {
  Value low, high;
  /// Whether they differ from row to row.
  bool isOfRow = false;
};

/// Whether a condition holds with all keys, and whether with none: each null
/// where this is not known.
struct Truth {
  Value all, none;
};

/// Elements of a tensor at the keys: those at the ends are known, the others
/// assumed to be in between.
struct Assumption {
  tensor::ExtractOp element;
  Value tensor;     ///< outside of the region
  unsigned varying; ///< which of its positions is the key
  Bounds bounds;
};

class MaskRangeReader {
public:
  /// What rows share is built at the place of `in`, the rest at that of `rows`,
  /// where `query` is a row's.
  MaskRangeReader(GenericBuilder &in, GenericBuilder &rows, Region &mask,
                  const MaskBlock &block, Value query);

  Truth read(Value condition);
  /// Whether all conditions had ranges. Else what is left open may be known by
  /// looking at each key.
  bool isComplete() const { return complete; }
  /// Whether anything that was assumed is not so. Null where nothing was.
  Value findFailure();

private:
  using Predicate = arith::CmpIPredicate;

  Truth compute(Value condition);
  Truth readComparison(arith::CmpIOp op);
  Truth compare(Predicate predicate, const Bounds &lhs, const Bounds &rhs);
  unsigned getBits(Value value);
  std::optional<Bounds> readBounds(Value value);
  std::optional<Bounds> computeBounds(Value value);
  std::optional<Bounds> readCast(Operation *op);
  std::optional<Bounds> readSum(Operation *op);
  std::optional<Bounds> readElement(tensor::ExtractOp op);
  /// `value`, which depends neither on the query nor on the key, outside of the
  /// region; null for others.
  Value readPoint(Value value) {
    return attn::hoistFromMask(in.builder, mask, value, points);
  }
  Value negate(Value condition);
  /// Both conditions, null where one is; either, null where both are.
  Value both(Value lhs, Value rhs);
  Value either(Value lhs, Value rhs);

  OpBuilder &builderOf(bool isOfRow) {
    return isOfRow ? rows.builder : in.builder;
  }

  GenericBuilder &in, &rows;
  Location loc;
  Region &mask;
  MaskBlock block;
  Value query; ///< a row's
  BlockArgument queryArgument, key;
  IRMapping points; ///< b, h, and copies of what is computed from them alone
  llvm::DenseMap<Value, std::optional<Bounds>> known;
  SmallVector<Assumption> assumptions;
  bool complete = true;
};
} // namespace

MaskRangeReader::MaskRangeReader(GenericBuilder &in, GenericBuilder &rows,
                                 Region &mask, const MaskBlock &block,
                                 Value query)
    : in(in), rows(rows), loc(in.loc), mask(mask), block(block), query(query),
      queryArgument(mask.getArgument(2)), key(mask.getArgument(3)) {
  points.map(mask.getArgument(0), block.batch);
  points.map(mask.getArgument(1), block.head);
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

Value MaskRangeReader::negate(Value condition) {
  OpBuilder &b = rows.builder;
  Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  return arith::XOrIOp::create(b, loc, condition, yes);
}

Value MaskRangeReader::both(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return {};
  return arith::AndIOp::create(rows.builder, loc, lhs, rhs);
}

Value MaskRangeReader::either(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return arith::OrIOp::create(rows.builder, loc, lhs, rhs);
}

Truth MaskRangeReader::read(Value condition) {
  Truth truth = compute(condition);
  complete &= truth.all && truth.none;
  return truth;
}

Truth MaskRangeReader::compute(Value condition) {
  Operation *op = condition.getDefiningOp();
  if (!op)
    return {};
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return readComparison(comparison);
  if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    Truth lhs = read(op->getOperand(0)), rhs = read(op->getOperand(1));
    if (isa<arith::AndIOp>(op))
      return {both(lhs.all, rhs.all), either(lhs.none, rhs.none)};
    return {either(lhs.all, rhs.all), both(lhs.none, rhs.none)};
  }
  // arith has no other negation.
  auto exclusive = dyn_cast<arith::XOrIOp>(op);
  if (exclusive && matchPattern(exclusive.getRhs(), m_One())) {
    Truth negated = read(exclusive.getLhs());
    return {negated.none, negated.all};
  }
  // An element of a tensor of i1, of which `true` is the lesser value.
  if (std::optional<Bounds> bounds = readBounds(condition))
    return {bounds->high, negate(bounds->low)};
  return {};
}

Truth MaskRangeReader::readComparison(arith::CmpIOp op) {
  std::optional<Bounds> lhs = readBounds(op.getLhs());
  std::optional<Bounds> rhs = readBounds(op.getRhs());
  return lhs && rhs ? compare(op.getPredicate(), *lhs, *rhs) : Truth();
}

Truth MaskRangeReader::compare(Predicate predicate, const Bounds &lhs,
                               const Bounds &rhs) {
  auto compareValues = [&](Predicate how, Value left, Value right) {
    return arith::CmpIOp::create(rows.builder, loc, how, left, right)
        .getResult();
  };
  switch (predicate) {
  case Predicate::slt:
  case Predicate::sle:
    return {
        compareValues(predicate, lhs.high, rhs.low),
        compareValues(arith::invertPredicate(predicate), lhs.low, rhs.high)};
  case Predicate::sgt:
    return compare(Predicate::slt, rhs, lhs);
  case Predicate::sge:
    return compare(Predicate::sle, rhs, lhs);
  case Predicate::eq: {
    Truth less = compare(Predicate::slt, lhs, rhs);
    Truth greater = compare(Predicate::slt, rhs, lhs);
    // Neither is ever less: both are one and the same number throughout.
    return {both(less.none, greater.none), either(less.all, greater.all)};
  }
  case Predicate::ne: {
    Truth equal = compare(Predicate::eq, lhs, rhs);
    return {equal.none, equal.all};
  }
  default:
    return {};
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<Bounds> MaskRangeReader::readBounds(Value value) {
  auto [entry, isNew] = known.try_emplace(value);
  if (isNew) {
    std::optional<Bounds> bounds = computeBounds(value);
    // Reading has made entries of its own.
    known[value] = bounds;
  }
  return known[value];
}

std::optional<Bounds> MaskRangeReader::computeBounds(Value value) {
  if (value == queryArgument)
    return Bounds{query, query, /*isOfRow=*/true};
  if (value == key)
    return Bounds{block.keys.first, block.keys.last};
  if (Value point = readPoint(value))
    return Bounds{point, point};
  Operation *op = value.getDefiningOp();
  if (auto element = dyn_cast<tensor::ExtractOp>(op))
    return readElement(element);
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return readCast(op);
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return readSum(op);
  return std::nullopt;
}

/// The bits that positions and sizes have at most, with their sign.
static constexpr unsigned kPositionBits = 31;

static unsigned getWidth(Value value) {
  Type type = value.getType();
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

/// The bits that `value`, an integer, has at most, with its sign.
unsigned MaskRangeReader::getBits(Value value) {
  unsigned width = getWidth(value);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSignificantBits();
  Operation *op = value.getDefiningOp();
  bool isInside = mask.isAncestor(value.getParentRegion());
  if (!op || !isInside || isa<tensor::DimOp>(op))
    return value.getType().isIndex() ? kPositionBits : width;
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return std::min(width, getBits(op->getOperand(0)));
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return std::min(width, 1 + std::max(getBits(op->getOperand(0)),
                                        getBits(op->getOperand(1))));
  return width;
}

/// A cast that keeps a value keeps what is less.
std::optional<Bounds> MaskRangeReader::readCast(Operation *op) {
  std::optional<Bounds> bounds = readBounds(op->getOperand(0));
  if (!bounds || getBits(op->getOperand(0)) > getWidth(op->getResult(0)))
    return std::nullopt;
  for (Value *bound : {&bounds->low, &bounds->high}) {
    Operation *copy = builderOf(bounds->isOfRow).clone(*op);
    copy->setOperand(0, *bound);
    *bound = copy->getResult(0);
  }
  return bounds;
}

/// A sum or difference that cannot wrap around.
std::optional<Bounds> MaskRangeReader::readSum(Operation *op) {
  std::optional<Bounds> lhs = readBounds(op->getOperand(0));
  std::optional<Bounds> rhs = readBounds(op->getOperand(1));
  unsigned bits =
      std::max(getBits(op->getOperand(0)), getBits(op->getOperand(1)));
  if (!lhs || !rhs || bits + 1 > getWidth(op->getResult(0)))
    return std::nullopt;
  Bounds sum;
  sum.isOfRow = lhs->isOfRow || rhs->isOfRow;
  OpBuilder &b = builderOf(sum.isOfRow);
  if (isa<arith::AddIOp>(op)) {
    sum.low = arith::AddIOp::create(b, loc, lhs->low, rhs->low);
    sum.high = arith::AddIOp::create(b, loc, lhs->high, rhs->high);
  } else {
    sum.low = arith::SubIOp::create(b, loc, lhs->low, rhs->high);
    sum.high = arith::SubIOp::create(b, loc, lhs->high, rhs->low);
  }
  return sum;
}

std::optional<Bounds> MaskRangeReader::readElement(tensor::ExtractOp op) {
  // 1. Which position varies, and how.
  Value tensor = readPoint(op.getTensor());
  if (!isa<IntegerType, IndexType>(op.getType()) || !tensor)
    return std::nullopt;
  std::optional<unsigned> varying;
  SmallVector<Value> at;
  for (auto [number, position] : llvm::enumerate(op.getIndices())) {
    Value point = readPoint(position);
    at.push_back(point);
    if (point)
      continue;
    if (varying || (position != queryArgument && position != key))
      return std::nullopt;
    varying = number;
  }

  // 2. The element at the query, or those at the first and the last key.
  Bounds bounds;
  bounds.isOfRow = op.getIndices()[*varying] == queryArgument;
  OpBuilder &b = builderOf(bounds.isOfRow);
  auto readAt = [&](Value position) {
    at[*varying] = position;
    return tensor::ExtractOp::create(b, loc, tensor, at).getResult();
  };
  if (bounds.isOfRow) {
    bounds.low = bounds.high = readAt(query);
    return bounds;
  }
  Value first = readAt(block.keys.first), last = readAt(block.keys.last);
  bounds.low = arith::MinSIOp::create(b, loc, first, last);
  bounds.high = arith::MaxSIOp::create(b, loc, first, last);
  assumptions.push_back({op, tensor, *varying, bounds});
  return bounds;
}

//===----------------------------------------------------------------------===//
// Assumptions
//===----------------------------------------------------------------------===//

/// The position `number` from `range.first` on, or the last one.
static Value getPosition(GenericBuilder &body, const PositionRange &range) {
  OpBuilder &b = body.builder;
  Value local = linalg::IndexOp::create(b, body.loc, 0);
  Value position = arith::AddIOp::create(b, body.loc, range.first, local);
  return arith::MinSIOp::create(b, body.loc, position, range.last);
}

/// A tensor of `length` f32 that says how long it is.
static Value emptyRows(GenericBuilder &in, int64_t length) {
  return tensor::EmptyOp::create(in.builder, in.loc, ArrayRef<int64_t>{length},
                                 in.builder.getF32Type());
}

Value MaskRangeReader::findFailure() {
  if (assumptions.empty())
    return {};
  Value zero = in.f32(0.0), one = in.f32(1.0);
  auto check = [&](GenericBuilder &body, ValueRange) {
    OpBuilder &b = body.builder;
    Value flag = one, here = getPosition(body, block.keys);
    for (Assumption &assumption : assumptions) {
      tensor::ExtractOp op = assumption.element;
      SmallVector<Value> at;
      for (auto [number, position] : llvm::enumerate(op.getIndices()))
        at.push_back(number == assumption.varying ? here : readPoint(position));
      Value element = tensor::ExtractOp::create(b, loc, assumption.tensor, at);
      for (auto [predicate, bound] :
           {std::pair(Predicate::sge, assumption.bounds.low),
            std::pair(Predicate::sle, assumption.bounds.high)}) {
        Value isIn = arith::CmpIOp::create(b, loc, predicate, element, bound);
        flag = body.select(isIn, flag, zero);
      }
    }
    return SmallVector<Value>{flag};
  };
  Value flags =
      in.generic({}, {emptyRows(in, block.bc)}, 1, false, check).front();
  return anyOf(in, flags, [&](GenericBuilder &body, Value flag) {
    return body.equal(flag, zero);
  });
}

std::optional<CountBounds> fa::boundKeyCounts(GenericBuilder &builder,
                                              Region &mask,
                                              const MaskBlock &block) {
  OpBuilder &b = builder.builder;
  Location loc = builder.loc;
  // Keys behind the last one are not seen.
  Value end = arith::AddIOp::create(
      b, loc, block.keys.first,
      arith::ConstantIndexOp::create(b, loc, block.bc - 1));
  Value isWhole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        block.keys.last, end);
  Value noKeys = builder.f32(0.0), allKeys = builder.f32(block.bc);
  Value fewestOfAll = builder.select(isWhole, allKeys, noKeys);
  std::optional<CountBounds> bounds;
  Value rows = emptyRows(builder, block.br);
  // The body's builder is `b` at another place.
  OpBuilder shared(b);
  GenericBuilder outside(shared, loc);
  auto bound = [&](GenericBuilder &body, ValueRange) {
    MaskRangeReader reader(outside, body, mask, block,
                           getPosition(body, block.queries));
    Truth sees = reader.read(mask.front().getTerminator()->getOperand(0));
    if (!reader.isComplete())
      return SmallVector<Value>{noKeys, allKeys};
    bounds = CountBounds{{}, reader.findFailure()};
    Value fewest = body.select(sees.all, fewestOfAll, noKeys);
    Value most = body.select(sees.none, noKeys, allKeys);
    return SmallVector<Value>{fewest, most};
  };
  SmallVector<Value> counts =
      builder.generic({}, {rows, rows}, 1, false, bound);
  if (bounds)
    bounds->counts = {counts[0], counts[1]};
  return bounds;
}
