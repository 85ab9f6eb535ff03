//===- Rearrangement.cpp - Ops on whole fragments -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Broadcasts, shape casts, reductions, folds, and the numbers of rows and
// columns.
//
//===----------------------------------------------------------------------===//

#include "Value.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>

using namespace mlir;
using namespace fa;
using namespace fa::sim;

/// Repeats `source` [sourceRows, sourceCols], of which each is 1 or the
/// result's, in `out` [rows, cols].
template <typename T>
static void repeat(ArrayRef<T> source, int64_t sourceRows, int64_t sourceCols,
                   MutableArrayRef<T> out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const T *row = source.data() + (sourceRows == 1 ? 0 : r * sourceCols);
    T *to = out.data() + r * cols;
    if (sourceCols == 1)
      std::fill_n(to, cols, *row);
    else
      std::copy_n(row, cols, to);
  }
}

static FailureOr<Datum> broadcast(Operation *op, ArrayRef<Datum> in) {
  auto type = cast<VectorType>(op->getResult(0).getType());
  auto result = std::make_shared<Fragment>(type);
  if (auto *number = std::get_if<float>(&in[0])) {
    llvm::fill(result->floats, *number);
  } else if (auto *number = std::get_if<int64_t>(&in[0])) {
    llvm::fill(result->ints, int32_t(*number));
  } else {
    const Fragment &source = **std::get_if<FragmentPtr>(&in[0]);
    // Dimensions are counted from the last one, so a vector is a row.
    repeat<float>(source.floats, source.rows(), source.cols(), result->floats,
                  result->floats.empty() ? 0 : result->rows(), result->cols());
    repeat<int32_t>(source.ints, source.rows(), source.cols(), result->ints,
                    result->ints.empty() ? 0 : result->rows(), result->cols());
  }
  return Datum(FragmentPtr(std::move(result)));
}

static FailureOr<Datum> castShape(Operation *op, ArrayRef<Datum> in) {
  auto type = cast<VectorType>(op->getResult(0).getType());
  auto result = std::make_shared<Fragment>(**std::get_if<FragmentPtr>(&in[0]));
  result->shape.assign(type.getShape().begin(), type.getShape().end());
  return Datum(FragmentPtr(std::move(result)));
}

/// The number of each element's row or column, plus the base.
template <bool isRow>
static FailureOr<Datum> iota(Operation *op, ArrayRef<Datum> in) {
  auto result =
      std::make_shared<Fragment>(cast<VectorType>(op->getResult(0).getType()));
  int64_t base = *std::get_if<int64_t>(&in[0]);
  int64_t cols = result->shape.size() == 2 ? result->cols() : 1;
  for (auto [i, out] : llvm::enumerate(result->ints))
    out = int32_t(base + (isRow ? i / cols : i % cols));
  return Datum(FragmentPtr(std::move(result)));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Chains of a reduction that are computed side by side, which vectorises.
static constexpr int64_t kChains = 16;

/// Reduces `cols` neighbours; `sum` comes last.
template <typename T, typename F>
static T reduceRow(const T *row, int64_t cols, T sum, F f) {
  if (cols % kChains == 0) {
    T chains[kChains];
    std::copy_n(row, kChains, chains);
    for (int64_t c = kChains; c < cols; c += kChains)
      for (int64_t i = 0; i < kChains; ++i)
        chains[i] = f(chains[i], row[c + i]);
    T total = chains[0];
    for (int64_t i = 1; i < kChains; ++i)
      total = f(total, chains[i]);
    return f(sum, total);
  }
  for (int64_t c = 0; c < cols; ++c)
    sum = f(sum, row[c]);
  return sum;
}

namespace {
/// Which dimensions are reduced of [rows, cols].
struct Shape {
  int64_t rows, cols;
  bool overRows, overCols;
};
} // namespace

template <typename T, typename F>
static void reduce(const Shape &shape, ArrayRef<T> in, MutableArrayRef<T> out,
                   F f) {
  for (int64_t r = 0; r < shape.rows; ++r) {
    const T *row = in.data() + r * shape.cols;
    T *to = out.data() +
            (shape.overRows ? 0 : r * (shape.overCols ? 1 : shape.cols));
    if (shape.overCols)
      *to = reduceRow(row, shape.cols, *to, f);
    else
      for (int64_t c = 0; c < shape.cols; ++c)
        to[c] = f(to[c], row[c]);
  }
}

/// Whether floats can be reduced by `kind`, which is done.
static bool reduceFloats(const Shape &shape, vector::CombiningKind kind,
                         ArrayRef<float> in, MutableArrayRef<float> out) {
  using K = vector::CombiningKind;
  auto with = [&](auto f) {
    reduce<float>(shape, in, out, f);
    return true;
  };
  switch (kind) {
  case K::ADD:
    return with([](float a, float b) { return a + b; });
  case K::MUL:
    return with([](float a, float b) { return a * b; });
  case K::MAXNUMF:
    return with([](float a, float b) { return a != a ? b : b > a ? b : a; });
  case K::MINNUMF:
    return with([](float a, float b) { return a != a ? b : b < a ? b : a; });
  case K::MAXIMUMF:
    return with([](float a, float b) { return a != a ? a : a > b ? a : b; });
  case K::MINIMUMF:
    return with([](float a, float b) { return a != a ? a : a < b ? a : b; });
  default:
    return false;
  }
}

static bool reduceIntegers(const Shape &shape, vector::CombiningKind kind,
                           ArrayRef<int32_t> in, MutableArrayRef<int32_t> out) {
  using K = vector::CombiningKind;
  auto with = [&](auto f) {
    reduce<int32_t>(shape, in, out, f);
    return true;
  };
  switch (kind) {
  case K::ADD:
    return with([](int32_t a, int32_t b) {
      return int32_t(uint32_t(a) + uint32_t(b));
    });
  case K::MAXSI:
    return with([](int32_t a, int32_t b) { return std::max(a, b); });
  case K::MINSI:
    return with([](int32_t a, int32_t b) { return std::min(a, b); });
  case K::AND:
    return with([](int32_t a, int32_t b) { return a & b; });
  case K::OR:
    return with([](int32_t a, int32_t b) { return a | b; });
  case K::XOR:
    return with([](int32_t a, int32_t b) { return a ^ b; });
  default:
    return false;
  }
}

static FailureOr<Datum> reduction(Operation *op, ArrayRef<Datum> in) {
  auto reduction = cast<vector::MultiDimReductionOp>(op);
  auto resultType = dyn_cast<VectorType>(op->getResult(0).getType());
  const Fragment &source = **std::get_if<FragmentPtr>(&in[0]);
  if (source.shape.size() != 2 || !resultType)
    return op->emitError("the simulator reduces one dimension of a fragment, "
                         "found ")
           << op->getOperand(0).getType();
  ArrayRef<int64_t> dims = reduction.getReductionDims();
  Shape shape{source.rows(), source.cols(), llvm::is_contained(dims, 0),
              llvm::is_contained(dims, 1)};
  // The accumulator is what the results start from.
  auto result = std::make_shared<Fragment>(**std::get_if<FragmentPtr>(&in[1]));
  bool isFloat = isa<FloatType>(resultType.getElementType());
  bool known = isFloat ? reduceFloats(shape, reduction.getKind(), source.floats,
                                      result->floats)
                       : reduceIntegers(shape, reduction.getKind(), source.ints,
                                        result->ints);
  if (!known)
    return op->emitError("the simulator does not know this kind of reduction");
  if (isFloat)
    roundInPlace(*getFloatFormat(resultType.getElementType()), result->floats);
  return Datum(FragmentPtr(std::move(result)));
}

/// Adds columns onto those of the accumulator, in turn.
static FailureOr<Datum> fold(Operation *, ArrayRef<Datum> in) {
  const Fragment &source = **std::get_if<FragmentPtr>(&in[0]);
  auto result = std::make_shared<Fragment>(**std::get_if<FragmentPtr>(&in[1]));
  int64_t cols = result->cols();
  for (int64_t r = 0; r < source.rows(); ++r)
    for (int64_t c = 0; c < source.cols(); ++c)
      result->floats[r * cols + c % cols] +=
          source.floats[r * source.cols() + c];
  return Datum(FragmentPtr(std::move(result)));
}

const Evaluator *fa::sim::findRearrangement(StringRef name) {
  static const llvm::StringMap<Evaluator> table = [] {
    llvm::StringMap<Evaluator> result;
    result["vector.broadcast"] = broadcast;
    result["vector.shape_cast"] = castShape;
    result["vector.multi_reduction"] = reduction;
    result["cta.fold"] = fold;
    result["cta.row"] = iota<true>;
    result["cta.col"] = iota<false>;
    return result;
  }();
  auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}
