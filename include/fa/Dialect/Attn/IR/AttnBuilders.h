//===- AttnBuilders.h - Values that attention is made of -*- C++ -*-------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_ATTN_IR_ATTNBUILDERS_H
#define FA_DIALECT_ATTN_IR_ATTNBUILDERS_H

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/IR/Builders.h"

namespace fa::attn {

/// The head of K and V that query head `head` reads: head / (Hq / Hkv), with
/// the whole tensors `q` and `k`.
mlir::OpFoldResult buildKeyHead(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value q, mlir::Value k,
                                mlir::OpFoldResult head);

/// The scale operand of `op`, or 1/sqrt(D).
mlir::Value buildScale(mlir::OpBuilder &builder, ForwardOp op);

} // namespace fa::attn

#endif // FA_DIALECT_ATTN_IR_ATTNBUILDERS_H
