//===- Extents.cpp - What the sizes of arguments are -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extents.h"

#include "SizeBinder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fa;
using namespace fa::execute;

/// What the four indexes that a score or mask region takes run over.
static constexpr Dim kIndexDims[] = {Dim::B, Dim::Hq, Dim::Sq, Dim::Skv};

/// `index` before casts between integer types, which keep it what it is.
static Value stripCasts(Value index) {
  while (Operation *op = index.getDefiningOp())
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>(op))
      index = op->getOperand(0);
    else
      break;
  return index;
}

/// Adds that a region whose last four arguments are `indexes` reads the
/// dimension at `index`.
static void addRead(ValueRange indexes, Value index, Extent &extent) {
  index = stripCasts(index);
  APInt constant;
  auto found = llvm::find(indexes, index);
  if (found != indexes.end())
    extent.dims.push_back(kIndexDims[found - indexes.begin()]);
  else if (matchPattern(index, m_ConstantInt(&constant)))
    extent.least = std::max(extent.least, constant.getSExtValue() + 1);
  else
    extent.isUnknown = true;
}

SmallVector<Extent> fa::execute::inferExtents(attn::ForwardOp forward,
                                              BlockArgument argument) {
  SmallVector<Extent> extents(
      cast<RankedTensorType>(argument.getType()).getRank());
  auto set = [&](Value operand, ArrayRef<Dim> dims, int64_t more = 0) {
    if (operand != argument)
      return;
    for (auto [extent, dim] : llvm::zip(extents, dims)) {
      extent.dims.push_back(dim);
      extent.more = more;
    }
  };
  set(forward.getQ(), getQueryDims(forward));
  set(forward.getK(), getKeyDims(forward));
  set(forward.getV(), getKeyDims(forward));
  set(forward.getCuSeqlensQ(), Dim::B, /*more=*/1);
  set(forward.getCuSeqlensKV(), Dim::B, /*more=*/1);
  set(forward.getKvLens(), Dim::B);
  for (Region *region : {&forward.getScoreRegion(), &forward.getMaskRegion()}) {
    if (region->empty())
      continue;
    ValueRange indexes = region->getArguments().take_back(4);
    region->walk([&](tensor::ExtractOp op) {
      if (op.getTensor() == argument)
        for (auto [extent, index] : llvm::zip_equal(extents, op.getIndices()))
          addRead(indexes, index, extent);
    });
  }
  return extents;
}
