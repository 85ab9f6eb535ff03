//===- Reference.cpp - Attention by its definition -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each row: the scores of all keys into a scratch row, with their maximum;
// exponentials and their sum; the weighted sum of the values. The function is a
// copy of the problem's own, so that whatever the regions capture is there.
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Reference.h"

#include "WidenRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace fa;
using namespace fa::execute;

namespace {
/// Writes the loops in place of one `attn.forward`.
class ReferenceBuilder {
public:
  ReferenceBuilder(attn::ForwardOp op, Precision precision,
                   ValueRange arguments);

  LogicalResult build();

private:
  using Body = function_ref<void(Value)>;
  using ReducingBody = function_ref<Value(Value, Value)>;

  /// One query: its sequence, head and place in the sequence.
  struct Row {
    Value batch, head, query;
  };

  void forEach(Value count, Body body, Value first = {}, Value step = {});
  Value reduce(Value count, Value init, ReducingBody body);
  Value constant(double value);
  Value load(Value tensor, ValueRange indexes);
  Value size(Value tensor, int64_t dim);
  Value round(Value value);

  SmallVector<Value> at(Value batch, Value head, Value firstRow, Value row,
                        Value element = {});
  attn::VariantScope makeScope(const Row &row, Value j);
  void beginSequence(Value batch);
  void buildRow(const Row &row);
  Value buildScore(const Row &row, Value keyHead, Value j);
  Value buildVisible(const attn::VariantScope &scope);
  Value buildDot(const Row &row, Value keyHead, Value j);
  Value buildWeights(Value max);
  void buildOutput(const Row &row, Value keyHead, Value sum);
  void buildLse(const Row &row, Value max, Value sum);

  attn::ForwardOp op;
  Precision precision;
  Value o, lse, partBegin, partStep;
  OpBuilder builder;
  Location loc;
  FloatType type;
  bool failedRegion = false;
  // Values that all rows share: sizes, the scale, and two scratch rows.
  Value headsQ, headDim, headDimV, scale, weights, outputs;
  // Those of the sequence at hand. A packed one begins at a row of its own.
  Value seqQ, seqKV, firstQ, firstKV;
};
} // namespace

ReferenceBuilder::ReferenceBuilder(attn::ForwardOp op, Precision precision,
                                   ValueRange arguments)
    : op(op), precision(precision), o(arguments[0]), lse(arguments[1]),
      partBegin(arguments[2]), partStep(arguments[3]), builder(op),
      loc(op.getLoc()),
      type(precision == Precision::Double ? FloatType(builder.getF64Type())
                                          : FloatType(builder.getF32Type())) {}

//===----------------------------------------------------------------------===//
// Small parts
//===----------------------------------------------------------------------===//

/// A loop from 0, or `first`, to `count`.
void ReferenceBuilder::forEach(Value count, Body body, Value first,
                               Value step) {
  if (!first)
    first = arith::ConstantIndexOp::create(builder, loc, 0);
  if (!step)
    step = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, first, count, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// A loop from 0 to `count` that carries one value.
Value ReferenceBuilder::reduce(Value count, Value init, ReducingBody body) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, zero, count, one, init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(builder, loc, next);
  return loop.getResult(0);
}

Value ReferenceBuilder::constant(double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

/// An element of one of the problem's tensors, widened.
Value ReferenceBuilder::load(Value tensor, ValueRange indexes) {
  Value element = tensor::ExtractOp::create(builder, loc, tensor, indexes);
  return convertFloat(builder, loc, element, type);
}

Value ReferenceBuilder::size(Value tensor, int64_t dim) {
  return tensor::DimOp::create(builder, loc, tensor, dim);
}

/// Rounds to the input type where the policy says so.
Value ReferenceBuilder::round(Value value) {
  if (precision == Precision::Double)
    return value;
  auto element = cast<FloatType>(op.getQ().getType().getElementType());
  return convertFloat(builder, loc, convertFloat(builder, loc, value, element),
                      type);
}

//===----------------------------------------------------------------------===//
// One row
//===----------------------------------------------------------------------===//

/// The indexes of a row of the sequence that begins at `firstRow`, or of one of
/// its elements.
SmallVector<Value> ReferenceBuilder::at(Value batch, Value head, Value firstRow,
                                        Value row, Value element) {
  SmallVector<Value> indexes;
  if (op.isBatched())
    indexes.push_back(batch);
  indexes.push_back(head);
  if (firstRow)
    row = arith::AddIOp::create(builder, loc, firstRow, row);
  indexes.push_back(row);
  if (element)
    indexes.push_back(element);
  return indexes;
}

attn::VariantScope ReferenceBuilder::makeScope(const Row &row, Value j) {
  return {row.batch, row.head, row.query, j, seqQ, seqKV, headsQ};
}

Value ReferenceBuilder::buildDot(const Row &row, Value keyHead, Value j) {
  // The order of the sum is free, so that long rows can be added in vectors.
  auto free = arith::FastMathFlags::reassoc;
  return reduce(headDim, constant(0), [&](Value d, Value sum) -> Value {
    Value q = load(op.getQ(), at(row.batch, row.head, firstQ, row.query, d));
    Value k = load(op.getK(), at(row.batch, keyHead, firstKV, j, d));
    Value product = arith::MulFOp::create(builder, loc, q, k);
    return arith::AddFOp::create(builder, loc, sum, product, free);
  });
}

/// Whether the mask region and all variants let the row see key j; null where
/// there are none.
Value ReferenceBuilder::buildVisible(const attn::VariantScope &scope) {
  Value visible;
  auto join = [&](Value part) {
    visible =
        visible ? arith::AndIOp::create(builder, loc, visible, part).getResult()
                : part;
  };
  if (!op.getMaskRegion().empty()) {
    FailureOr<Value> sees =
        cloneWidened(builder, op.getMaskRegion(),
                     {scope.batch, scope.head, scope.row, scope.key}, type);
    if (succeeded(sees))
      join(*sees);
    failedRegion |= failed(sees);
  }
  ArrayAttr variants = op.getVariantsAttr();
  if (!variants)
    return visible;
  for (auto variant : variants.getAsRange<attn::VariantAttrInterface>())
    if (variant.hasMask())
      join(variant.buildMask(builder, loc, scope));
  return visible;
}

/// The score of key j after scale, score region, variants and mask.
Value ReferenceBuilder::buildScore(const Row &row, Value keyHead, Value j) {
  Value score =
      arith::MulFOp::create(builder, loc, buildDot(row, keyHead, j), scale);
  attn::VariantScope scope = makeScope(row, j);
  if (!op.getScoreRegion().empty()) {
    FailureOr<Value> scored = cloneWidened(
        builder, op.getScoreRegion(),
        {score, scope.batch, scope.head, scope.row, scope.key}, type);
    if (succeeded(scored))
      score = *scored;
    failedRegion |= failed(scored);
  }
  if (ArrayAttr variants = op.getVariantsAttr())
    for (auto variant : variants.getAsRange<attn::VariantAttrInterface>())
      if (variant.hasScore())
        score = variant.buildScore(builder, loc, score, scope);
  Value visible = buildVisible(scope);
  if (!visible)
    return score;
  Value hidden = constant(-std::numeric_limits<double>::infinity());
  return arith::SelectOp::create(builder, loc, visible, score, hidden);
}

/// Turns the scratch row's scores into exp(score - max) and returns their sum.
Value ReferenceBuilder::buildWeights(Value max) {
  // A row that sees nothing has the maximum -inf, which must not meet itself.
  Value none =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, max,
                            constant(-std::numeric_limits<double>::infinity()));
  Value shift = arith::SelectOp::create(builder, loc, none, constant(0), max);
  return reduce(seqKV, constant(0), [&](Value j, Value sum) -> Value {
    Value score = memref::LoadOp::create(builder, loc, weights, j);
    Value weight = math::ExpOp::create(
        builder, loc, arith::SubFOp::create(builder, loc, score, shift));
    memref::StoreOp::create(builder, loc, weight, weights, j);
    return arith::AddFOp::create(builder, loc, sum, weight);
  });
}

/// o = sum_j (weight[j] / sum) * v[j], 0 where the sum is.
void ReferenceBuilder::buildOutput(const Row &row, Value keyHead, Value sum) {
  Value zero = constant(0);
  Value empty =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, sum, zero);
  Value divisor =
      arith::SelectOp::create(builder, loc, empty, constant(1), sum);
  forEach(headDimV, [&](Value d) {
    memref::StoreOp::create(builder, loc, zero, outputs, d);
  });
  forEach(seqKV, [&](Value j) {
    Value weight = memref::LoadOp::create(builder, loc, weights, j);
    weight = round(arith::DivFOp::create(builder, loc, weight, divisor));
    forEach(headDimV, [&](Value d) {
      Value v = load(op.getV(), at(row.batch, keyHead, firstKV, j, d));
      Value old = memref::LoadOp::create(builder, loc, outputs, d);
      Value product = arith::MulFOp::create(builder, loc, weight, v);
      Value next = arith::AddFOp::create(builder, loc, old, product);
      memref::StoreOp::create(builder, loc, next, outputs, d);
    });
  });
  forEach(headDimV, [&](Value d) {
    Value value = round(memref::LoadOp::create(builder, loc, outputs, d));
    memref::StoreOp::create(
        builder, loc, convertFloat(builder, loc, value, builder.getF64Type()),
        o, at(row.batch, row.head, firstQ, row.query, d));
  });
}

/// lse = max + log(sum): -inf for a row that sees nothing, whose maximum and
/// log(0) both are.
void ReferenceBuilder::buildLse(const Row &row, Value max, Value sum) {
  Value log = math::LogOp::create(builder, loc, sum);
  Value value = arith::AddFOp::create(builder, loc, max, log);
  memref::StoreOp::create(
      builder, loc, convertFloat(builder, loc, value, builder.getF64Type()),
      lse, at(row.batch, row.head, firstQ, row.query));
}

void ReferenceBuilder::buildRow(const Row &row) {
  Value group = arith::DivUIOp::create(builder, loc, headsQ,
                                       size(op.getK(), op.getHeadAxis()));
  Value keyHead = arith::DivUIOp::create(builder, loc, row.head, group);
  Value lowest = constant(-std::numeric_limits<double>::infinity());
  Value max = reduce(seqKV, lowest, [&](Value j, Value old) -> Value {
    Value score = buildScore(row, keyHead, j);
    memref::StoreOp::create(builder, loc, score, weights, j);
    return arith::MaximumFOp::create(builder, loc, old, score);
  });
  Value sum = buildWeights(max);
  buildOutput(row, keyHead, sum);
  buildLse(row, max, sum);
}

/// Entry `position` of a tensor of i32, as an index.
static Value readIndex(OpBuilder &builder, Location loc, Value tensor,
                       Value position) {
  Value entry = tensor::ExtractOp::create(builder, loc, tensor, position);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    entry);
}

/// Reads where sequence `batch` lies and how long it is.
void ReferenceBuilder::beginSequence(Value batch) {
  seqQ = size(op.getQ(), op.getSequenceAxis());
  seqKV = size(op.getK(), op.getSequenceAxis());
  if (op.getKvLens())
    seqKV = readIndex(builder, loc, op.getKvLens(), batch);
  if (!op.isPacked())
    return;
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value next = arith::AddIOp::create(builder, loc, batch, one);
  firstQ = readIndex(builder, loc, op.getCuSeqlensQ(), batch);
  firstKV = readIndex(builder, loc, op.getCuSeqlensKV(), batch);
  seqQ = arith::SubIOp::create(
      builder, loc, readIndex(builder, loc, op.getCuSeqlensQ(), next), firstQ);
  seqKV = arith::SubIOp::create(
      builder, loc, readIndex(builder, loc, op.getCuSeqlensKV(), next),
      firstKV);
}

LogicalResult ReferenceBuilder::build() {
  headsQ = size(op.getQ(), op.getHeadAxis());
  headDim = arith::ConstantIndexOp::create(builder, loc, op.getHeadDim());
  headDimV = arith::ConstantIndexOp::create(builder, loc, op.getHeadDimV());
  scale = op.getScale() ? convertFloat(builder, loc, op.getScale(), type)
                        : constant(1 / std::sqrt(double(op.getHeadDim())));
  auto scratch = MemRefType::get({ShapedType::kDynamic}, type);
  weights = memref::AllocOp::create(builder, loc, scratch,
                                    size(op.getK(), op.getSequenceAxis()));
  outputs = memref::AllocOp::create(builder, loc, scratch, headDimV);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = one;
  if (op.isBatched())
    count = size(op.getQ(), 0);
  else if (op.isPacked())
    count =
        arith::SubIOp::create(builder, loc, size(op.getCuSeqlensQ(), 0), one);
  forEach(count, [&](Value b) {
    beginSequence(b);
    forEach(headsQ, [&](Value h) {
      forEach(
          seqQ,
          [&](Value i) {
            buildRow({b, h, i});
          },
          partBegin, partStep);
    });
  });
  return success(!failedRegion);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

static Value addArgument(func::FuncOp function, Type type) {
  (void)function.insertArgument(function.getNumArguments(), type, {},
                                function.getLoc());
  return function.getArguments().back();
}

/// Adds an argument: a memref of f64 with the shape of `type`.
static Value addOutput(func::FuncOp function, Type type) {
  auto shape = cast<RankedTensorType>(type).getShape();
  return addArgument(
      function, MemRefType::get(shape, Float64Type::get(type.getContext())));
}

FailureOr<func::FuncOp>
fa::execute::buildReference(const AttentionFunction &problem, ModuleOp module,
                            StringRef name, Precision precision) {
  // 1. A copy of the problem's function with four more arguments, no results.
  OpBuilder builder(module.getBodyRegion());
  builder.setInsertionPointToEnd(module.getBody());
  func::FuncOp source = problem.function;
  auto function = cast<func::FuncOp>(builder.clone(*source.getOperation()));
  function.setName(name);
  function.setPublic();
  function->removeAttr(attn::kScheduleAttrName);
  attn::ForwardOp forward;
  function.walk([&](attn::ForwardOp op) { forward = op; });
  Type index = builder.getIndexType();
  Value arguments[] = {addOutput(function, forward.getO().getType()),
                       addOutput(function, forward.getLse().getType()),
                       addArgument(function, index),
                       addArgument(function, index)};
  Operation *terminator = function.getBody().front().getTerminator();
  terminator->setOperands({});
  function.setFunctionType(builder.getFunctionType(
      function.getFunctionType().getInputs(), TypeRange()));
  function.removeResAttrsAttr();

  // 2. Loops in place of attn.forward.
  if (failed(ReferenceBuilder(forward, precision, arguments).build())) {
    function.erase();
    return failure();
  }
  forward.erase();
  return function;
}
