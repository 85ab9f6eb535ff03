//===- Inputs.cpp - The arguments of a run -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Inputs.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

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
// Sizes
//===----------------------------------------------------------------------===//

/// What the leading dimensions of q (and o and lse), and of k and v, are.
static constexpr Dim kQueryDims[] = {Dim::B, Dim::Hq, Dim::Sq};
static constexpr Dim kKeyDims[] = {Dim::B, Dim::Hkv, Dim::Skv};
/// What the four indexes that a score or mask region takes run over.
static constexpr Dim kIndexDims[] = {Dim::B, Dim::Hq, Dim::Sq, Dim::Skv};

/// Takes the static sizes of `type` over into `sizes`.
static LogicalResult bindType(Operation *op, Type type, ArrayRef<Dim> dims,
                              Sizes &sizes) {
  for (auto [dim, size] :
       llvm::zip(dims, cast<RankedTensorType>(type).getShape())) {
    if (ShapedType::isDynamic(size))
      continue;
    bool &given = sizes.given[unsigned(dim)];
    if (given && sizes[dim] != size)
      return op->emitError("the types fix ")
             << getName(dim) << " to " << size << ", found " << sizes[dim];
    sizes[dim] = size;
    given = true;
  }
  return success();
}

/// What the dimensions of `argument` are: from its place in attn.forward, or
/// from the indexes with which the score or mask region reads it.
static SmallVector<std::optional<Dim>> inferDims(attn::ForwardOp forward,
                                                 BlockArgument argument) {
  SmallVector<std::optional<Dim>> dims(
      cast<RankedTensorType>(argument.getType()).getRank());
  auto set = [&](Value operand, ArrayRef<Dim> known) {
    if (operand == argument)
      llvm::copy(known, dims.begin());
  };
  set(forward.getQ(), kQueryDims);
  set(forward.getK(), kKeyDims);
  set(forward.getV(), kKeyDims);
  for (Region *region : {&forward.getScoreRegion(), &forward.getMaskRegion()}) {
    if (region->empty())
      continue;
    auto indexes = region->getArguments().take_back(4);
    region->walk([&](tensor::ExtractOp op) {
      if (op.getTensor() != argument)
        return;
      for (auto [dim, index] : llvm::zip_equal(dims, op.getIndices())) {
        auto *found = llvm::find(indexes, index);
        if (found != indexes.end())
          dim = kIndexDims[found - indexes.begin()];
      }
    });
  }
  return dims;
}

/// The shape of a tensor argument.
static FailureOr<SmallVector<int64_t>>
getShape(attn::ForwardOp forward, BlockArgument argument, const Sizes &sizes) {
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [number, size, dim] :
       llvm::enumerate(shape, inferDims(forward, argument))) {
    if (!ShapedType::isDynamic(size))
      continue;
    if (!dim)
      return emitError(argument.getLoc(), "dimension ")
             << number << " of argument " << argument.getArgNumber()
             << " has an unknown size: it is dynamic, and neither region reads "
                "it at b, h, i or j";
    size = sizes[*dim];
  }
  return shape;
}

/// Adds the bytes of a tensor of `shape` to `total`. Fails where that
/// overflows. A dimension of 0 counts as 1, so that strides cannot overflow
/// either.
static LogicalResult addBytes(FloatType element, ArrayRef<int64_t> shape,
                              int64_t &total) {
  int64_t bytes = element.getWidth() / 8;
  for (int64_t size : shape)
    if (llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes))
      return failure();
  return failure(llvm::AddOverflow(total, bytes, total));
}

/// Checks that the tensors of a run are not larger than they may be.
static LogicalResult checkBytes(const AttentionFunction &problem,
                                const Sizes &sizes) {
  attn::ForwardOp forward = problem.forward;
  func::FuncOp function = problem.function;
  int64_t total = 0;
  bool fits = true;
  auto add = [&](Type element, ArrayRef<int64_t> shape) {
    if (auto type = dyn_cast<FloatType>(element))
      fits = fits && succeeded(addBytes(type, shape, total));
  };
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    FailureOr<SmallVector<int64_t>> shape = getShape(forward, argument, sizes);
    if (failed(shape))
      return failure();
    add(type.getElementType(), *shape);
  }
  SmallVector<int64_t> outShape = {sizes[Dim::B], sizes[Dim::Hq],
                                   sizes[Dim::Sq]};
  add(forward.getLse().getType().getElementType(), outShape);
  outShape.push_back(forward.getO().getType().getDimSize(3));
  add(forward.getO().getType().getElementType(), outShape);
  if (fits && total <= kMaxTensorBytes)
    return success();
  return forward.emitError("the tensors of a run may take ")
         << (kMaxTensorBytes >> 30) << " GiB together, which is too little for "
         << sizes.str();
}

FailureOr<Sizes> fa::execute::bindSizes(const AttentionFunction &problem,
                                        Sizes sizes) {
  attn::ForwardOp forward = problem.forward;
  if (failed(bindType(forward, forward.getQ().getType(), kQueryDims, sizes)) ||
      failed(bindType(forward, forward.getO().getType(), kQueryDims, sizes)) ||
      failed(
          bindType(forward, forward.getLse().getType(), kQueryDims, sizes)) ||
      failed(bindType(forward, forward.getK().getType(), kKeyDims, sizes)) ||
      failed(bindType(forward, forward.getV().getType(), kKeyDims, sizes)))
    return failure();
  if (sizes[Dim::Hkv] < 1 || sizes[Dim::Hq] % sizes[Dim::Hkv] != 0)
    return forward.emitError("Hq must be a multiple of Hkv, found ")
           << sizes[Dim::Hq] << " and " << sizes[Dim::Hkv];
  bool isShared =
      forward.getQ() == forward.getK() || forward.getQ() == forward.getV();
  if (isShared &&
      (sizes[Dim::Hq] != sizes[Dim::Hkv] || sizes[Dim::Sq] != sizes[Dim::Skv]))
    return forward.emitError(
               "q is k or v, so Hq must be Hkv and Sq Skv, found ")
           << sizes.str();
  if (failed(checkBytes(problem, sizes)))
    return failure();
  return sizes;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Fills `tensor`, which is argument `argument`, with its distribution.
static void fill(attn::ForwardOp forward, BlockArgument argument,
                 const InputOptions &options, HostTensor &tensor) {
  const Distribution &distribution = options.distribution;
  bool isQ = argument == forward.getQ(), isK = argument == forward.getK();
  bool isConstant = distribution.kind == Distribution::Constant && (isQ || isK);
  bool isLarge = distribution.kind == Distribution::Large && isQ;
  double factor = isLarge ? distribution.value : 1;
  uint64_t stream = (options.seed << 8) + argument.getArgNumber();
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.store(i, isConstant ? distribution.value
                               : factor * drawNormal(stream, i));
}

/// The value of a scalar argument: the user's, 1/sqrt(D) for the scale, or 1
/// for another float.
static FailureOr<double> getScalar(attn::ForwardOp forward,
                                   BlockArgument argument,
                                   const InputOptions &options) {
  auto found = options.scalars.find(argument.getArgNumber());
  if (found != options.scalars.end())
    return found->second;
  if (argument == forward.getScale())
    return 1 / std::sqrt(double(forward.getQ().getType().getDimSize(3)));
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

static LogicalResult addArgument(attn::ForwardOp forward,
                                 BlockArgument argument, const Sizes &sizes,
                                 const InputOptions &options, Inputs &inputs) {
  Type type = argument.getType();
  if (type.isIntOrIndexOrFloat()) {
    FailureOr<double> value = getScalar(forward, argument, options);
    if (failed(value))
      return failure();
    inputs.addScalar(getBits(type, *value));
    return success();
  }
  auto tensorType = dyn_cast<RankedTensorType>(type);
  auto element = tensorType ? dyn_cast<FloatType>(tensorType.getElementType())
                            : FloatType();
  if (!element)
    return emitError(argument.getLoc(), "argument ")
           << argument.getArgNumber() << " must be a scalar or a tensor of "
           << "floats, found " << type;
  FailureOr<SmallVector<int64_t>> shape = getShape(forward, argument, sizes);
  if (failed(shape))
    return failure();
  HostTensor tensor(element, *shape);
  fill(forward, argument, options, tensor);
  inputs.addTensor(std::move(tensor));
  return success();
}

LogicalResult fa::execute::makeInputs(const AttentionFunction &problem,
                                      const Sizes &sizes,
                                      const InputOptions &options,
                                      Inputs &inputs) {
  func::FuncOp function = problem.function;
  for (BlockArgument argument : function.getArguments())
    if (failed(addArgument(problem.forward, argument, sizes, options, inputs)))
      return failure();
  return success();
}
