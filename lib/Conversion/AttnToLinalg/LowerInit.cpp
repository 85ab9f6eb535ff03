//===- LowerInit.cpp - attn.init into fills -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenericBuilder.h"

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"

using namespace mlir;
using namespace fa;

void fa::lowerInit(RewriterBase &rewriter, attn::InitOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  GenericBuilder b(rewriter, op.getLoc());
  Value zero = b.f32(0.0);
  Value acc = b.fill(zero, op.getAccInit());
  Value max = b.fill(b.negativeInfinity(), op.getMaxInit());
  Value sum = b.fill(zero, op.getSumInit());
  rewriter.replaceOp(op, {acc, max, sum});
}
