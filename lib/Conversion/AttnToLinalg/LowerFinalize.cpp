//===- LowerFinalize.cpp - attn.finalize into elementwise generics --------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowArithmetic.h"

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"

using namespace mlir;
using namespace fa;

void fa::lowerFinalize(RewriterBase &rewriter, attn::FinalizeOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  GenericBuilder b(rewriter, op.getLoc());
  int64_t rank = op.getAcc().getType().getRank();
  Type element = op.getO().getType().getElementType();

  // 1. o = acc / sum, one division a row; 0 for a row that saw no key.
  SmallVector<Value> inputs{op.getAcc()};
  if (!op.getNormalized())
    inputs.push_back(inverseSums(b, op.getSum(), /*empty=*/0.0));
  Value o = b.generic(inputs, {op.getOInit()}, rank, false,
                      [&](GenericBuilder &in, ValueRange args) {
                        Value value = args[0];
                        if (!op.getNormalized())
                          value = in.mul(value, args[1]);
                        return SmallVector<Value>{in.narrow(value, element)};
                      })
                .front();

  // 2. lse = unit * max + log(sum).
  Value lse = buildLse(b, op.getMax(), op.getSum(),
                       makeExponent(b, op.getUnit()), op.getLseInit());
  rewriter.replaceOp(op, {o, lse});
}
