//===- VectorPatterns.cpp - Broadcasts, reductions and positions ----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations between fragments, row vectors and column vectors, and the
// positions of elements.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Lowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fa;

namespace {
/// A pattern that knows the layouts and the kernel's threads.
template <typename OpTy> struct FragmentPattern : OpConversionPattern<OpTy> {
  FragmentPattern(const FragmentTypeConverter &converter, MLIRContext *context,
                  const Kernel &kernel, PatternBenefit benefit = 1)
      : OpConversionPattern<OpTy>(converter, context, benefit),
        converter(converter), kernel(kernel) {}

  const FragmentTypeConverter &converter;
  const Kernel &kernel;
};

struct ConvertBroadcast : FragmentPattern<vector::BroadcastOp> {
  using FragmentPattern::FragmentPattern;

  LogicalResult
  matchAndRewrite(vector::BroadcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<FragmentLayout> to = converter.getLayout(op.getType());
    if (!to)
      return rewriter.notifyMatchFailure(op, "result is no fragment");
    Type type = converter.convertType(op.getType());
    Type sourceType = op.getSource().getType();
    if (!isa<VectorType>(sourceType)) {
      rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, type,
                                                       adaptor.getSource());
      return success();
    }
    std::optional<FragmentLayout> from = converter.getLayout(sourceType);
    // A 1-D source is broadcast along rows, so its elements are columns: only
    // [R, 1] and [1, C] say which they are.
    if (!from || cast<VectorType>(sourceType).getRank() != 2)
      return rewriter.notifyMatchFailure(op, "source is not [R, 1] or [1, C]");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op, broadcast(b, toElements(b, adaptor.getSource()), *from, *to, type));
    return success();
  }

private:
  static Value broadcast(ImplicitLocOpBuilder &b, ArrayRef<Value> source,
                         const FragmentLayout &from, const FragmentLayout &to,
                         Type type) {
    if (from.kind == to.kind)
      return fromElements(b, type, source);
    SmallVector<Value> elements;
    for (int64_t s = 0; s < to.slabs(); ++s)
      for (int64_t n = 0; n < to.blocks(); ++n)
        for (int64_t e = 0; e < 4; ++e)
          elements.push_back(from.kind == FragmentKind::Row
                                 ? source[2 * s + e / 2]
                                 : source[2 * n + e % 2]);
    return fromElements(b, type, elements);
  }
};

/// [R] and [R, 1] are held in the same way.
struct ConvertShapeCast : FragmentPattern<vector::ShapeCastOp> {
  using FragmentPattern::FragmentPattern;

  LogicalResult
  matchAndRewrite(vector::ShapeCastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<FragmentLayout> to = converter.getLayout(op.getType());
    std::optional<FragmentLayout> from =
        converter.getLayout(op.getSource().getType());
    if (!to || !from || to->kind != from->kind)
      return rewriter.notifyMatchFailure(op, "moves elements between threads");
    rewriter.replaceOp(op, adaptor.getSource());
    return success();
  }
};

/// Reduction over the columns: in the thread, then over the quad.
struct ConvertReduction : FragmentPattern<vector::MultiDimReductionOp> {
  using FragmentPattern::FragmentPattern;

  LogicalResult
  matchAndRewrite(vector::MultiDimReductionOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<FragmentLayout> from =
        converter.getLayout(op.getSource().getType());
    if (!from || from->kind != FragmentKind::Matrix ||
        op.getReductionDims() != ArrayRef<int64_t>{1})
      return rewriter.notifyMatchFailure(op, "not over a fragment's columns");
    if (!op.getSourceVectorType().getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> source = toElements(b, adaptor.getSource());
    SmallVector<Value> results = toElements(b, adaptor.getAcc());
    for (int64_t s = 0; s < from->slabs(); ++s)
      for (int64_t half = 0; half < 2; ++half) {
        SmallVector<Value> row;
        for (int64_t n = 0; n < from->blocks(); ++n)
          for (int64_t e = 0; e < 2; ++e)
            row.push_back(source[from->index(s, n, 2 * half + e)]);
        Value &result = results[2 * s + half];
        result = combine(
            b, op.getKind(),
            reduceQuad(b, op.getKind(), reduceRow(b, op.getKind(), row)),
            result);
      }
    rewriter.replaceOp(op,
                       fromElements(b, adaptor.getAcc().getType(), results));
    return success();
  }

private:
  static Value combine(ImplicitLocOpBuilder &b, vector::CombiningKind kind,
                       Value x, Value y) {
    return vector::makeArithReduction(b, b.getLoc(), kind, x, y);
  }

  /// In order, so that an element need not outlive its column: the rows of a
  /// thread keep the adders busy.
  static Value reduceRow(ImplicitLocOpBuilder &b, vector::CombiningKind kind,
                         ArrayRef<Value> row) {
    Value result = row.front();
    for (Value element : row.drop_front())
      result = combine(b, kind, result, element);
    return result;
  }

  /// Over the 4 threads that hold the row.
  static Value reduceQuad(ImplicitLocOpBuilder &b, vector::CombiningKind kind,
                          Value value) {
    I32Builder i{b};
    for (int64_t distance = 1; distance < kQuad; distance *= 2) {
      Value other = NVVM::ShflOp::create(
          b, b.getF32Type(), i.constant(0xffffffff), value,
          i.constant(distance), i.constant(kWarpThreads - 1),
          NVVM::ShflKind::bfly, /*return_value_and_is_valid=*/UnitAttr());
      value = combine(b, kind, value, other);
    }
    return value;
  }
};

/// Each thread adds what it has of the same columns, modulo the accumulator's.
struct ConvertFold : FragmentPattern<cta::FoldOp> {
  using FragmentPattern::FragmentPattern;

  LogicalResult
  matchAndRewrite(cta::FoldOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<FragmentLayout> from =
        converter.getLayout(op.getValue().getType());
    std::optional<FragmentLayout> to =
        converter.getLayout(op.getAcc().getType());
    if (!from || !to || from->kind != FragmentKind::Matrix ||
        to->kind != FragmentKind::Matrix)
      return rewriter.notifyMatchFailure(op, "no fragments");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> source = toElements(b, adaptor.getValue());
    SmallVector<Value> sums = toElements(b, adaptor.getAcc());
    for (int64_t s = 0; s < from->slabs(); ++s)
      for (int64_t n = 0; n < from->blocks(); ++n)
        for (int64_t e = 0; e < 4; ++e) {
          Value &sum = sums[to->index(s, n % to->blocks(), e)];
          sum = arith::AddFOp::create(b, sum, source[from->index(s, n, e)]);
        }
    rewriter.replaceOp(op, fromElements(b, adaptor.getAcc().getType(), sums));
    return success();
  }
};

/// `base` plus the thread's own row: 16 * warp + lane / 4.
struct ConvertRow : FragmentPattern<cta::RowOp> {
  using FragmentPattern::FragmentPattern;

  LogicalResult
  matchAndRewrite(cta::RowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<FragmentLayout> layout = converter.getLayout(op.getType());
    if (!layout || layout->kind == FragmentKind::Column)
      return rewriter.notifyMatchFailure(op, "no rows");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    I32Builder i{b};
    Value first = i.add(adaptor.getBase(),
                        i.add(i.mul(kernel.warp, kSlabRows),
                              i.shr(kernel.lane, llvm::Log2_64(kQuad))));
    int64_t copies = std::max<int64_t>(layout->blocks(), 1);
    SmallVector<Value> elements;
    for (int64_t s = 0; s < layout->slabs(); ++s) {
      Value rows[2] = {i.add(first, layout->rowOffset(s, 0)),
                       i.add(first, layout->rowOffset(s, 2))};
      bool matrix = layout->kind == FragmentKind::Matrix;
      for (int64_t n = 0; n < copies; ++n)
        for (int64_t e = 0; e < (matrix ? 4 : 2); ++e)
          elements.push_back(rows[matrix ? e / 2 : e]);
    }
    rewriter.replaceOp(
        op, fromElements(b, converter.convertType(op.getType()), elements));
    return success();
  }
};

/// `base` plus the thread's own column: 2 * (lane mod 4).
struct ConvertCol : FragmentPattern<cta::ColOp> {
  using FragmentPattern::FragmentPattern;

  LogicalResult
  matchAndRewrite(cta::ColOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<FragmentLayout> layout = converter.getLayout(op.getType());
    if (!layout || layout->kind == FragmentKind::Row)
      return rewriter.notifyMatchFailure(op, "no columns");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    I32Builder i{b};
    Value first =
        i.add(adaptor.getBase(), i.mul(i.bitAnd(kernel.lane, kQuad - 1), 2));
    bool matrix = layout->kind == FragmentKind::Matrix;
    SmallVector<Value> elements;
    for (int64_t s = 0; s < (matrix ? layout->slabs() : 1); ++s)
      for (int64_t n = 0; n < layout->blocks(); ++n)
        for (int64_t e = 0; e < (matrix ? 4 : 2); ++e)
          elements.push_back(i.add(first, FragmentLayout::colOffset(n, e)));
    rewriter.replaceOp(
        op, fromElements(b, converter.convertType(op.getType()), elements));
    return success();
  }
};

/// Columns against a limit of their row: the thread's own part of the column is
/// taken off the limit once a row, so that each element compares a constant.
struct ConvertColumnCompare : FragmentPattern<arith::CmpIOp> {
  /// Before the pattern of elementwise operations.
  ConvertColumnCompare(const FragmentTypeConverter &converter,
                       MLIRContext *context, const Kernel &kernel)
      : FragmentPattern(converter, context, kernel, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(arith::CmpIOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<FragmentLayout> layout = converter.getLayout(op.getType());
    auto columns = op.getLhs().getDefiningOp<vector::BroadcastOp>();
    auto limits = op.getRhs().getDefiningOp<vector::BroadcastOp>();
    auto iota = columns ? columns.getSource().getDefiningOp<cta::ColOp>()
                        : cta::ColOp();
    std::optional<FragmentLayout> rows =
        limits ? converter.getLayout(limits.getSource().getType())
               : std::nullopt;
    if (!layout || layout->kind != FragmentKind::Matrix || !iota || !rows ||
        rows->kind != FragmentKind::Row)
      return rewriter.notifyMatchFailure(op, "no columns against row limits");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    I32Builder i{b};
    Value base = rewriter.getRemappedValue(iota.getBase());
    Value first = i.add(base ? base : iota.getBase(),
                        i.mul(i.bitAnd(kernel.lane, kQuad - 1), 2));
    SmallVector<Value> limit = toElements(b, adaptor.getRhs());
    SmallVector<Value> elements(limit.size());
    for (int64_t s = 0; s < layout->slabs(); ++s)
      for (int64_t half = 0; half < 2; ++half) {
        Value rest = b.createOrFold<arith::SubIOp>(
            limit[layout->index(s, 0, 2 * half)], first);
        for (int64_t n = 0; n < layout->blocks(); ++n)
          for (int64_t e = 2 * half; e < 2 * half + 2; ++e)
            elements[layout->index(s, n, e)] = arith::CmpIOp::create(
                b, op.getPredicate(),
                i.constant(FragmentLayout::colOffset(n, e)), rest);
      }
    rewriter.replaceOp(
        op, fromElements(b, converter.convertType(op.getType()), elements));
    return success();
  }
};

/// Positions of rows less columns, as floats.
struct Distances {
  vector::BroadcastOp positions; ///< vector<R> over the columns
  cta::ColOp columns;
};

/// The distances that `value` is, or nothing.
static std::optional<Distances> matchDistances(Value value) {
  auto cast = value.getDefiningOp<arith::SIToFPOp>();
  auto difference =
      cast ? cast.getIn().getDefiningOp<arith::SubIOp>() : arith::SubIOp();
  if (!difference || !getElementTypeOrSelf(value.getType()).isF32())
    return std::nullopt;
  auto positions = difference.getLhs().getDefiningOp<vector::BroadcastOp>();
  auto columns = difference.getRhs().getDefiningOp<vector::BroadcastOp>();
  auto iota =
      columns ? columns.getSource().getDefiningOp<cta::ColOp>() : cta::ColOp();
  if (!positions || !iota)
    return std::nullopt;
  return Distances{positions, iota};
}

/// The distances that `op` is, without a factor.
static std::optional<Distances> matchScaledDistances(arith::SIToFPOp op,
                                                     Value &) {
  return matchDistances(op.getResult());
}

/// The same times a scalar, which is put into `factor`.
static std::optional<Distances> matchScaledDistances(arith::MulFOp op,
                                                     Value &factor) {
  for (auto [scalar, distances] : {std::pair(op.getLhs(), op.getRhs()),
                                   std::pair(op.getRhs(), op.getLhs())}) {
    auto spread = scalar.getDefiningOp<vector::BroadcastOp>();
    if (!spread || isa<VectorType>(spread.getSource().getType()))
      continue;
    factor = spread.getSource();
    if (std::optional<Distances> found = matchDistances(distances))
      return found;
  }
  return std::nullopt;
}

/// Distances of columns from their rows' positions: the thread's own part of
/// the column is taken off the position, which alone is converted, once a row;
/// each element takes a constant off. Exact below 2^24, as the conversion of
/// the difference would be. A factor goes along: an element then is one fused
/// operation, off by the rounding of the factor times its row's part.
template <typename OpTy> struct ConvertDistances : FragmentPattern<OpTy> {
  /// Before the pattern of elementwise operations.
  ConvertDistances(const FragmentTypeConverter &converter, MLIRContext *context,
                   const Kernel &kernel)
      : FragmentPattern<OpTy>(converter, context, kernel, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const FragmentTypeConverter &converter = this->converter;
    Value factor;
    std::optional<Distances> distances = matchScaledDistances(op, factor);
    std::optional<FragmentLayout> layout = converter.getLayout(op.getType());
    std::optional<FragmentLayout> rows =
        distances
            ? converter.getLayout(distances->positions.getSource().getType())
            : std::nullopt;
    if (!layout || layout->kind != FragmentKind::Matrix || !rows ||
        rows->kind != FragmentKind::Row)
      return rewriter.notifyMatchFailure(op,
                                         "no distances of columns and rows");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    I32Builder i{b};
    Value base = distances->columns.getBase();
    if (Value converted = rewriter.getRemappedValue(base))
      base = converted;
    Value first = i.add(base, i.mul(i.bitAnd(this->kernel.lane, kQuad - 1), 2));
    SmallVector<Value> position =
        toElements(b, rewriter.getRemappedValue(distances->positions));
    SmallVector<Value> elements(position.size());
    for (int64_t s = 0; s < layout->slabs(); ++s)
      for (int64_t half = 0; half < 2; ++half) {
        Value rest = b.createOrFold<arith::SubIOp>(
            position[layout->index(s, 0, 2 * half)], first);
        Value distance = arith::SIToFPOp::create(b, b.getF32Type(), rest);
        if (factor)
          distance = arith::MulFOp::create(b, distance, factor);
        for (int64_t n = 0; n < layout->blocks(); ++n)
          for (int64_t e = 2 * half; e < 2 * half + 2; ++e)
            elements[layout->index(s, n, e)] =
                takeOff(b, distance, FragmentLayout::colOffset(n, e), factor);
      }
    rewriter.replaceOp(
        op, fromElements(b, converter.convertType(op.getType()), elements));
    return success();
  }

private:
  /// distance - offset, or distance - offset * factor.
  static Value takeOff(ImplicitLocOpBuilder &b, Value distance, int64_t offset,
                       Value factor) {
    Value constant = arith::ConstantFloatOp::create(
        b, b.getF32Type(), APFloat(-static_cast<float>(offset)));
    if (factor)
      return math::FmaOp::create(b, constant, factor, distance);
    return arith::AddFOp::create(b, distance, constant);
  }
};
} // namespace

void fa::populateVectorPatterns(const FragmentTypeConverter &converter,
                                const Kernel &kernel,
                                RewritePatternSet &patterns) {
  patterns
      .add<ConvertBroadcast, ConvertShapeCast, ConvertReduction, ConvertFold,
           ConvertRow, ConvertCol, ConvertColumnCompare,
           ConvertDistances<arith::SIToFPOp>, ConvertDistances<arith::MulFOp>>(
          converter, patterns.getContext(), kernel);
}
