//===- AttnBuilders.cpp - Values that attention is made of ---------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/IR/AttnBuilders.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace fa::attn;

using OFR = OpFoldResult;

OFR fa::attn::buildKeyHead(OpBuilder &builder, Location loc, Value q, Value k,
                           OFR head) {
  int64_t axis = cast<RankedTensorType>(q.getType()).getRank() - 3;
  OFR headsQ = tensor::getMixedSize(builder, loc, q, axis);
  OFR headsKV = tensor::getMixedSize(builder, loc, k, axis);
  std::optional<int64_t> staticQ = getConstantIntValue(headsQ);
  std::optional<int64_t> staticKV = getConstantIntValue(headsKV);
  if (staticQ && staticKV && *staticQ == *staticKV)
    return head;
  auto value = [&](OFR ofr) {
    return getValueOrCreateConstantIndexOp(builder, loc, ofr);
  };
  Value group =
      arith::DivUIOp::create(builder, loc, value(headsQ), value(headsKV));
  return arith::DivUIOp::create(builder, loc, value(head), group).getResult();
}

Value fa::attn::buildScale(OpBuilder &builder, ForwardOp op) {
  if (op.getScale())
    return op.getScale();
  double scale = 1.0 / std::sqrt(double(op.getHeadDim()));
  return arith::ConstantOp::create(builder, op.getLoc(),
                                   builder.getF32FloatAttr(scale));
}
