//===- AttnToLinalg.h - From attention to arithmetic -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_CONVERSION_ATTNTOLINALG_ATTNTOLINALG_H
#define FA_CONVERSION_ATTNTOLINALG_ATTNTOLINALG_H

#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Schedule/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace fa {

#define GEN_PASS_DECL
#include "fa/Conversion/AttnToLinalg/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fa/Conversion/AttnToLinalg/Passes.h.inc"

/// Replace one op by arithmetic on tensors; see the pass.
void lowerInit(mlir::RewriterBase &rewriter, attn::InitOp op);
mlir::LogicalResult lowerUpdate(mlir::RewriterBase &rewriter, attn::UpdateOp op,
                                Rescale rescale = Rescale::Always);
void lowerMerge(mlir::RewriterBase &rewriter, attn::MergeOp op);
void lowerFinalize(mlir::RewriterBase &rewriter, attn::FinalizeOp op);
void lowerBlockList(mlir::RewriterBase &rewriter, attn::BlockListOp op);

/// Replaces `op` by standard attention on whole tensors; see the pass.
void decomposeAttention(mlir::RewriterBase &rewriter, attn::ForwardOp op);

/// Puts a check behind the fold that ends in `finalize`, and a copy of it where
/// the check fails. Returns the updates of the original, which may then be
/// lowered with `Rescale::FirstMax`; the copy's must be with `Rescale::Always`.
/// Fails, with a diagnostic, where the fold is not one that can be repeated.
mlir::FailureOr<llvm::SmallVector<attn::UpdateOp>>
addExactFold(mlir::RewriterBase &rewriter, attn::FinalizeOp finalize);

} // namespace fa

#endif // FA_CONVERSION_ATTNTOLINALG_ATTNTOLINALG_H
