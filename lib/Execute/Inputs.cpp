//===- Inputs.cpp - The arguments of a run -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Inputs.h"

#include "llvm/Support/Format.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace fa;
using namespace fa::execute;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

void Inputs::addTensor(HostTensor tensor) {
  tensors.push_back(std::move(tensor));
  Argument &argument = arguments.emplace_back();
  argument.descriptor = tensors.back().getDescriptor();
  argument.address = argument.descriptor.data();
}

void Inputs::addScalar(uint64_t bits) { arguments.emplace_back().bits = bits; }

SmallVector<void *> Inputs::getArguments() {
  SmallVector<void *> result;
  for (Argument &argument : arguments)
    result.push_back(argument.address ? (void *)&argument.address
                                      : (void *)&argument.bits);
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Along the last dimension an id follows the same or, once in this many, the
/// next one; ids fit the narrowest type that has more than one.
static constexpr uint64_t kIdLength = 32;
static constexpr int64_t kMaxId = 127;

/// Fills `tensor`, which is argument `argument`, with its distribution.
static void fillFloats(attn::ForwardOp forward, BlockArgument argument,
                       const InputOptions &options, HostTensor &tensor) {
  const Distribution &distribution = options.distribution;
  bool isQ = argument == forward.getQ(), isK = argument == forward.getK();
  bool isConstant = distribution.kind == Distribution::Constant && (isQ || isK);
  bool isLarge = distribution.kind == Distribution::Large && isQ;
  double factor = isLarge ? distribution.value : 1;
  uint64_t stream = getStream(options, argument.getArgNumber());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.store(i, isConstant ? distribution.value
                               : factor * drawNormal(stream, i));
}

/// Fills a tensor of integers with ids, or with 0 and 1.
static void fillIntegers(uint64_t stream, HostTensor &tensor) {
  bool isFlag = tensor.getElementType().isInteger(1);
  int64_t row = tensor.getShape().empty() ? 1 : tensor.getShape().back();
  int64_t id = 0;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    if (i % row == 0)
      id = 0;
    else if (drawBelow(stream, i, kIdLength) == 0)
      id = std::min(id + 1, kMaxId);
    tensor.store(i, isFlag ? drawBelow(stream, i, 2) : id);
  }
}

/// Fills `tensor` with `values`, which it has as many of.
static void copyValues(ArrayRef<int64_t> values, HostTensor &tensor) {
  for (auto [i, value] : llvm::enumerate(values))
    tensor.store(i, value);
}

//===----------------------------------------------------------------------===//
// Rows that no query may use
//===----------------------------------------------------------------------===//

namespace {
/// The rows from `begin` up to `end` of all heads of one batch, or of a packed
/// tensor.
struct RowBlock {
  int64_t batch, begin, end;
};
} // namespace

/// The unused rows of `argument`.
static SmallVector<RowBlock> getUnusedRows(attn::ForwardOp forward,
                                           BlockArgument argument,
                                           const Sizes &sizes) {
  SmallVector<RowBlock> unused;
  auto add = [&](int64_t batch, int64_t begin, int64_t end) {
    if (begin < end)
      unused.push_back({batch, begin, end});
  };
  bool isQ = argument == forward.getQ();
  bool isKV = argument == forward.getK() || argument == forward.getV();
  if (forward.isPacked() && (isQ || isKV)) {
    const std::vector<int64_t> &starts = isQ ? sizes.startsQ : sizes.startsKV;
    add(0, 0, starts.front());
    add(0, starts.back(), sizes[isQ ? Dim::Tq : Dim::Tkv]);
  }
  if (isKV && !isQ)
    for (auto [batch, length] : llvm::enumerate(sizes.keyLengths))
      add(batch, length, sizes[Dim::Skv]);
  return unused;
}

bool fa::execute::hasUnusedRows(const AttentionFunction &problem,
                                const Sizes &sizes) {
  func::FuncOp function = problem.function;
  return llvm::any_of(function.getArguments(), [&](BlockArgument argument) {
    return !getUnusedRows(problem.forward, argument, sizes).empty();
  });
}

/// Fills these rows with 0, or with NaN and both infinities in turn.
static void fillRows(RowBlock rows, bool isBatched, bool poison,
                     HostTensor &tensor) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double poisons[] = {std::nan(""), infinity, -infinity};
  ArrayRef<int64_t> shape = tensor.getShape();
  int64_t heads = shape[shape.size() - 3], length = shape[shape.size() - 2];
  int64_t width = shape.back();
  int64_t first = isBatched ? rows.batch * heads : 0;
  for (int64_t head = first; head < first + heads; ++head)
    for (int64_t row = rows.begin; row < rows.end; ++row)
      for (int64_t i = 0; i < width; ++i)
        tensor.store((head * length + row) * width + i,
                     poison ? poisons[(row + i) % 3] : 0);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// The value of a scalar argument: the user's, 1/sqrt(D) for the scale, or 1
/// for another float.
static FailureOr<double> getScalar(attn::ForwardOp forward,
                                   BlockArgument argument,
                                   const InputOptions &options) {
  auto found = options.scalars.find(argument.getArgNumber());
  if (found != options.scalars.end())
    return found->second;
  if (argument == forward.getScale())
    return 1 / std::sqrt(double(forward.getHeadDim()));
  if (isa<FloatType>(argument.getType()))
    return 1;
  return emitError(argument.getLoc(), "argument ")
         << argument.getArgNumber() << " of type " << argument.getType()
         << " needs a value: --arg=" << argument.getArgNumber() << "=VALUE";
}

/// `value` for a message.
static std::string str(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

/// Checks that `argument` can have `value`.
static LogicalResult checkScalar(attn::ForwardOp forward,
                                 BlockArgument argument, double value) {
  Type type = argument.getType();
  if (!type.isIntOrIndexOrFloat())
    return emitError(argument.getLoc(), "argument ")
           << argument.getArgNumber()
           << " is no scalar, so --arg=" << argument.getArgNumber()
           << " cannot be its value";
  if (argument == forward.getScale()) {
    double rounded = roundTo(cast<FloatType>(type), value);
    if (!(rounded > 0) || std::isinf(rounded))
      return emitError(argument.getLoc(),
                       "the scale must be positive and finite in ")
             << type << ", found --arg=" << argument.getArgNumber() << "="
             << str(value);
  }
  // One bit is for the sign, except that i1 may be 1.
  unsigned bits = type.isInteger() ? type.getIntOrFloatBitWidth() : 64;
  double end = std::ldexp(1.0, std::max(bits, 2u) - 1);
  bool isInteger = value >= -end && value < end && value == std::trunc(value);
  if (!isa<FloatType>(type) && !isInteger)
    return emitError(argument.getLoc(), "argument ")
           << argument.getArgNumber() << " must be an integer of type " << type
           << ", found " << str(value);
  return success();
}

LogicalResult
fa::execute::checkScalars(const AttentionFunction &problem,
                          const std::map<unsigned, double> &scalars) {
  func::FuncOp function = problem.function;
  for (auto [number, value] : scalars) {
    if (number >= function.getNumArguments())
      return function.emitError("there is no argument ")
             << number << ", for which --arg has a value: the function has "
             << function.getNumArguments() << " arguments, from 0 on";
    if (failed(
            checkScalar(problem.forward, function.getArgument(number), value)))
      return failure();
  }
  return success();
}

/// The bits of `value` as a scalar of `type`.
static uint64_t getBits(Type type, double value) {
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType)
    return uint64_t(int64_t(value));
  APFloat number(value);
  bool losesInfo;
  number.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

//===----------------------------------------------------------------------===//
// All arguments
//===----------------------------------------------------------------------===//

/// Fills the tensor that is argument `argument`.
static void fill(attn::ForwardOp forward, BlockArgument argument,
                 const Sizes &sizes, const InputOptions &options,
                 HostTensor &tensor) {
  if (argument == forward.getCuSeqlensQ())
    return copyValues(sizes.startsQ, tensor);
  if (argument == forward.getCuSeqlensKV())
    return copyValues(sizes.startsKV, tensor);
  if (argument == forward.getKvLens())
    return copyValues(sizes.keyLengths, tensor);
  if (!isa<FloatType>(tensor.getElementType()))
    return fillIntegers(getStream(options, argument.getArgNumber()), tensor);
  fillFloats(forward, argument, options, tensor);
}

/// Does to the unused rows of an argument what the options say.
static void fillUnusedRows(attn::ForwardOp forward, BlockArgument argument,
                           const Sizes &sizes, UnusedRows unused,
                           HostTensor &tensor) {
  if (unused == UnusedRows::Keep)
    return;
  for (RowBlock rows : getUnusedRows(forward, argument, sizes))
    fillRows(rows, forward.isBatched(), unused == UnusedRows::Poison, tensor);
}

static LogicalResult addArgument(const AttentionFunction &problem,
                                 BlockArgument argument, const Sizes &sizes,
                                 const InputOptions &options, Inputs &inputs) {
  attn::ForwardOp forward = problem.forward;
  Type type = argument.getType();
  if (type.isIntOrIndexOrFloat()) {
    FailureOr<double> value = getScalar(forward, argument, options);
    if (failed(value))
      return failure();
    inputs.addScalar(getBits(type, *value));
    return success();
  }
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType || !isHostElement(tensorType.getElementType()))
    return emitError(argument.getLoc(), "argument ")
           << argument.getArgNumber()
           << " must be a scalar or a tensor of floats, or of integers of 1, "
              "8, 16, 32 or 64 bits, found "
           << type;
  FailureOr<SmallVector<int64_t>> shape =
      getArgumentShape(problem, argument, sizes, options);
  if (failed(shape))
    return failure();
  HostTensor tensor(tensorType.getElementType(), *shape);
  auto given = options.tensors.find(argument.getArgNumber());
  if (given != options.tensors.end())
    tensor = given->second.tensor;
  else
    fill(forward, argument, sizes, options, tensor);
  fillUnusedRows(forward, argument, sizes, options.unusedRows, tensor);
  inputs.addTensor(std::move(tensor));
  return success();
}

LogicalResult fa::execute::makeInputs(const AttentionFunction &problem,
                                      const Sizes &sizes,
                                      const InputOptions &options,
                                      Inputs &inputs) {
  func::FuncOp function = problem.function;
  for (BlockArgument argument : function.getArguments())
    if (failed(addArgument(problem, argument, sizes, options, inputs)))
      return failure();
  return success();
}
