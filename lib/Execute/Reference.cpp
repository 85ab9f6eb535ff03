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
  ReferenceBuilder(attn::ForwardOp op, Precision precision, Value o, Value lse);

  LogicalResult build();

private:
  using Body = function_ref<void(Value)>;
  using ReducingBody = function_ref<Value(Value, Value)>;

  void forEach(Value count, Body body);
  Value reduce(Value count, Value init, ReducingBody body);
  Value constant(double value);
  Value load(Value tensor, ValueRange indexes);
  Value size(Value tensor, int64_t dim);
  Value round(Value value);

  void buildRow(ValueRange row);
  Value buildScore(ValueRange row, Value keyHead, Value j);
  Value buildVisible(ValueRange bhij);
  Value buildDot(ValueRange row, Value keyHead, Value j);
  Value buildWeights(Value max);
  void buildOutput(ValueRange row, Value keyHead, Value sum);
  void buildLse(ValueRange row, Value max, Value sum);

  attn::ForwardOp op;
  Precision precision;
  Value o, lse;
  OpBuilder builder;
  Location loc;
  FloatType type;
  bool failedRegion = false;
  // Values that all rows share: sizes, the scale, and two scratch rows.
  Value seqQ, seqKV, headDim, headDimV, scale, weights, outputs;
};
} // namespace

ReferenceBuilder::ReferenceBuilder(attn::ForwardOp op, Precision precision,
                                   Value o, Value lse)
    : op(op), precision(precision), o(o), lse(lse), builder(op),
      loc(op.getLoc()),
      type(precision == Precision::Double ? FloatType(builder.getF64Type())
                                          : FloatType(builder.getF32Type())) {}

//===----------------------------------------------------------------------===//
// Small parts
//===----------------------------------------------------------------------===//

/// A loop from 0 to `count`.
void ReferenceBuilder::forEach(Value count, Body body) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, zero, count, one);
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

Value ReferenceBuilder::buildDot(ValueRange row, Value keyHead, Value j) {
  // The order of the sum is free, so that long rows can be added in vectors.
  auto free = arith::FastMathFlags::reassoc;
  return reduce(headDim, constant(0), [&](Value d, Value sum) -> Value {
    Value q = load(op.getQ(), {row[0], row[1], row[2], d});
    Value k = load(op.getK(), {row[0], keyHead, j, d});
    Value product = arith::MulFOp::create(builder, loc, q, k);
    return arith::AddFOp::create(builder, loc, sum, product, free);
  });
}

/// Whether the mask region and all variants let the row see key j; null where
/// there are none.
Value ReferenceBuilder::buildVisible(ValueRange bhij) {
  Value visible;
  auto join = [&](Value part) {
    visible =
        visible ? arith::AndIOp::create(builder, loc, visible, part).getResult()
                : part;
  };
  if (!op.getMaskRegion().empty()) {
    FailureOr<Value> sees =
        cloneWidened(builder, op.getMaskRegion(), bhij, type);
    if (succeeded(sees))
      join(*sees);
    failedRegion |= failed(sees);
  }
  ArrayAttr variants = op.getVariantsAttr();
  if (!variants)
    return visible;
  for (auto variant : variants.getAsRange<attn::VariantAttrInterface>())
    if (variant.hasMask())
      join(variant.buildMask(builder, loc, bhij, seqQ, seqKV));
  return visible;
}

/// The score of key j after scale, score region and mask.
Value ReferenceBuilder::buildScore(ValueRange row, Value keyHead, Value j) {
  Value score =
      arith::MulFOp::create(builder, loc, buildDot(row, keyHead, j), scale);
  SmallVector<Value> bhij = {row[0], row[1], row[2], j};
  if (!op.getScoreRegion().empty()) {
    SmallVector<Value> arguments = {score};
    llvm::append_range(arguments, bhij);
    FailureOr<Value> scored =
        cloneWidened(builder, op.getScoreRegion(), arguments, type);
    if (succeeded(scored))
      score = *scored;
    failedRegion |= failed(scored);
  }
  Value visible = buildVisible(bhij);
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
void ReferenceBuilder::buildOutput(ValueRange row, Value keyHead, Value sum) {
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
      Value v = load(op.getV(), {row[0], keyHead, j, d});
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
        o, ValueRange{row[0], row[1], row[2], d});
  });
}

/// lse = max + log(sum): -inf for a row that sees nothing, whose maximum and
/// log(0) both are.
void ReferenceBuilder::buildLse(ValueRange row, Value max, Value sum) {
  Value log = math::LogOp::create(builder, loc, sum);
  Value value = arith::AddFOp::create(builder, loc, max, log);
  memref::StoreOp::create(
      builder, loc, convertFloat(builder, loc, value, builder.getF64Type()),
      lse, row);
}

void ReferenceBuilder::buildRow(ValueRange row) {
  Value group = arith::DivUIOp::create(builder, loc, size(op.getQ(), 1),
                                       size(op.getK(), 1));
  Value keyHead = arith::DivUIOp::create(builder, loc, row[1], group);
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

LogicalResult ReferenceBuilder::build() {
  seqQ = size(op.getQ(), 2);
  seqKV = size(op.getK(), 2);
  headDim = size(op.getQ(), 3);
  headDimV = size(op.getV(), 3);
  scale =
      op.getScale()
          ? convertFloat(builder, loc, op.getScale(), type)
          : constant(1 / std::sqrt(double(op.getQ().getType().getDimSize(3))));
  auto scratch = MemRefType::get({ShapedType::kDynamic}, type);
  weights = memref::AllocOp::create(builder, loc, scratch, seqKV);
  outputs = memref::AllocOp::create(builder, loc, scratch, headDimV);
  forEach(size(op.getQ(), 0), [&](Value b) {
    forEach(size(op.getQ(), 1), [&](Value h) {
      forEach(seqQ, [&](Value i) { buildRow({b, h, i}); });
    });
  });
  return success(!failedRegion);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Adds an argument: a memref of f64 with the shape of `type`.
static Value addOutput(func::FuncOp function, Type type) {
  auto shape = cast<RankedTensorType>(type).getShape();
  auto memref = MemRefType::get(shape, Float64Type::get(function.getContext()));
  (void)function.insertArgument(function.getNumArguments(), memref, {},
                                function.getLoc());
  return function.getArguments().back();
}

FailureOr<func::FuncOp>
fa::execute::buildReference(const AttentionFunction &problem, ModuleOp module,
                            StringRef name, Precision precision) {
  // 1. A copy of the problem's function with two more arguments, no results.
  OpBuilder builder(module.getBodyRegion());
  builder.setInsertionPointToEnd(module.getBody());
  func::FuncOp source = problem.function;
  auto function = cast<func::FuncOp>(builder.clone(*source.getOperation()));
  function.setName(name);
  function.setPublic();
  function->removeAttr(attn::kScheduleAttrName);
  attn::ForwardOp forward;
  function.walk([&](attn::ForwardOp op) { forward = op; });
  Value o = addOutput(function, forward.getO().getType());
  Value lse = addOutput(function, forward.getLse().getType());
  Operation *terminator = function.getBody().front().getTerminator();
  terminator->setOperands({});
  function.setFunctionType(builder.getFunctionType(
      function.getFunctionType().getInputs(), TypeRange()));
  function.removeResAttrsAttr();

  // 2. Loops in place of attn.forward.
  if (failed(ReferenceBuilder(forward, precision, o, lse).build())) {
    function.erase();
    return failure();
  }
  forward.erase();
  return function;
}
