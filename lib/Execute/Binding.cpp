//===- Binding.cpp - What the dimensions of arguments are -----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Binding.h"

#include "Extents.h"
#include "SizeBinder.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace fa;
using namespace fa::execute;

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>>
fa::execute::getArgumentShape(const AttentionFunction &problem,
                              BlockArgument argument, const Sizes &sizes,
                              const InputOptions &options) {
  auto type = cast<RankedTensorType>(argument.getType());
  unsigned argNumber = argument.getArgNumber();
  auto given = options.tensors.find(argNumber);
  SmallVector<int64_t> shape(given == options.tensors.end()
                                 ? type.getShape()
                                 : given->second.tensor.getShape());
  for (auto [number, size, extent] :
       llvm::enumerate(shape, inferExtents(problem.forward, argument))) {
    bool isDynamic = ShapedType::isDynamic(size);
    if (isDynamic && !extent.isKnown())
      return emitError(argument.getLoc(), "dimension ")
             << number << " of argument " << argNumber
             << " has an unknown size: it is dynamic, and not every index at "
                "which a region reads it is b, h, i, j or a constant; "
                "--input="
             << argNumber << "=FILE.npy gives the tensor";
    int64_t needed = extent.getSize(sizes);
    if (!isDynamic && size < needed)
      return emitError(argument.getLoc(), "dimension ")
             << number << " of argument " << argNumber << " is " << size
             << ", which is too small: indexes go up to " << needed - 1;
    if (isDynamic)
      size = needed;
  }
  return shape;
}

SmallVector<int64_t> fa::execute::getLseShape(const AttentionFunction &problem,
                                              const Sizes &sizes) {
  return llvm::map_to_vector(getQueryDims(problem.forward),
                             [&](Dim dim) { return sizes[dim]; });
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Adds the bytes of a tensor of `shape` to `total`. Fails where that
/// overflows. A dimension of 0 counts as 1, so that strides cannot overflow
/// either.
static LogicalResult addBytes(Type element, ArrayRef<int64_t> shape,
                              int64_t &total) {
  int64_t bytes = HostTensor(element, {0}).getElementBytes();
  for (int64_t size : shape)
    if (llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes))
      return failure();
  return failure(llvm::AddOverflow(total, bytes, total));
}

/// Checks that the tensors of a run are not larger than they may be.
static LogicalResult checkBytes(const AttentionFunction &problem,
                                const Sizes &sizes,
                                const InputOptions &options) {
  attn::ForwardOp forward = problem.forward;
  func::FuncOp function = problem.function;
  int64_t total = 0;
  bool fits = true;
  auto add = [&](Type element, ArrayRef<int64_t> shape) {
    if (isHostElement(element))
      fits = fits && succeeded(addBytes(element, shape, total));
  };
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    FailureOr<SmallVector<int64_t>> shape =
        getArgumentShape(problem, argument, sizes, options);
    if (failed(shape))
      return failure();
    add(type.getElementType(), *shape);
  }
  SmallVector<int64_t> outShape = getLseShape(problem, sizes);
  add(forward.getLse().getType().getElementType(), outShape);
  outShape.push_back(forward.getHeadDimV());
  add(forward.getO().getType().getElementType(), outShape);
  if (fits && total <= kMaxTensorBytes)
    return success();
  return forward.emitError("the tensors of a run may take ")
         << (kMaxTensorBytes >> 30) << " GiB together, which is too little for "
         << sizes.str();
}

FailureOr<Sizes> fa::execute::bindSizes(const AttentionFunction &problem,
                                        Sizes sizes,
                                        const InputOptions &options) {
  attn::ForwardOp forward = problem.forward;
  if (failed(SizeBinder(problem, sizes, options).bind()))
    return failure();
  if (sizes[Dim::Hkv] < 1 || sizes[Dim::Hq] % sizes[Dim::Hkv] != 0)
    return forward.emitError("Hq must be a multiple of Hkv, found ")
           << sizes[Dim::Hq] << " and " << sizes[Dim::Hkv];
  bool isShared =
      forward.getQ() == forward.getK() || forward.getQ() == forward.getV();
  bool isSame = forward.isPacked() || sizes[Dim::Sq] == sizes[Dim::Skv];
  if (isShared && (sizes[Dim::Hq] != sizes[Dim::Hkv] || !isSame))
    return forward.emitError(
               "q is k or v, so Hq must be Hkv and Sq Skv, found ")
           << sizes.str();
  if (failed(checkBytes(problem, sizes, options)))
    return failure();
  return sizes;
}
