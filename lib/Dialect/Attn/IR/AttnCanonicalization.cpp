//===- AttnCanonicalization.cpp - Simpler forms of attention operations ---===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Casts of the state operations' operands fold by the tensor dialect's own
// pattern for destination-style ops.
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace fa::attn;

/// What a mask region yields if that is a constant.
static std::optional<bool> constantMask(Region &region) {
  APInt value;
  if (region.empty() ||
      !matchPattern(region.front().getTerminator()->getOperand(0),
                    m_ConstantInt(&value)))
    return std::nullopt;
  return !value.isZero();
}

/// A mask that hides nothing is no mask.
template <typename OpTy>
static LogicalResult dropOpenMask(OpTy op, PatternRewriter &rewriter) {
  if (constantMask(op.getMaskRegion()) != true)
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getMaskRegion().getBlocks().clear(); });
  return success();
}

//===----------------------------------------------------------------------===//
// ForwardOp
//===----------------------------------------------------------------------===//

/// A score region that yields its argument changes nothing. (In an update it
/// sets the unit of the running maximum.)
static LogicalResult dropIdentityScore(ForwardOp op,
                                       PatternRewriter &rewriter) {
  Region &region = op.getScoreRegion();
  if (region.empty() ||
      region.front().getTerminator()->getOperand(0) != region.getArgument(0))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { region.getBlocks().clear(); });
  return success();
}

/// Masks said twice, and lists that are empty, say no more. (A score variant
/// said twice applies twice.)
static LogicalResult dropRepeatedVariants(ForwardOp op,
                                          PatternRewriter &rewriter) {
  ArrayAttr variants = op.getVariantsAttr();
  if (!variants)
    return failure();
  SmallVector<Attribute> kept;
  for (Attribute variant : variants)
    if (cast<VariantAttrInterface>(variant).hasScore() ||
        !llvm::is_contained(kept, variant))
      kept.push_back(variant);
  if (kept.size() == variants.size() && !kept.empty())
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    if (kept.empty())
      op.removeVariantsAttr();
    else
      op.setVariantsAttr(rewriter.getArrayAttr(kept));
  });
  return success();
}

/// Reads through casts that only forget sizes.
static LogicalResult foldOperandCasts(ForwardOp op, PatternRewriter &rewriter) {
  bool changed = false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto cast = operand.get().getDefiningOp<tensor::CastOp>();
    if (!tensor::canFoldIntoConsumerOp(cast))
      continue;
    rewriter.modifyOpInPlace(op, [&] { operand.set(cast.getSource()); });
    changed = true;
  }
  return success(changed);
}

void ForwardOp::getCanonicalizationPatterns(RewritePatternSet &results,
                                            MLIRContext *) {
  results.add(dropOpenMask<ForwardOp>);
  results.add(dropIdentityScore);
  results.add(dropRepeatedVariants);
  results.add(foldOperandCasts);
}

//===----------------------------------------------------------------------===//
// UpdateOp and MergeOp
//===----------------------------------------------------------------------===//

/// An update over no visible key leaves the state as it is.
static LogicalResult dropEmptyUpdate(UpdateOp op, PatternRewriter &rewriter) {
  RankedTensorType kType = op.getK().getType();
  bool hasNoKeys = kType.getDimSize(kType.getRank() - 2) == 0;
  if (!hasNoKeys && constantMask(op.getMaskRegion()) != false)
    return failure();
  rewriter.replaceOp(op, {op.getAccInit(), op.getMaxInit(), op.getSumInit()});
  return success();
}

void UpdateOp::getCanonicalizationPatterns(RewritePatternSet &results,
                                           MLIRContext *) {
  results.add(dropOpenMask<UpdateOp>);
  results.add(dropEmptyUpdate);
}

/// Merging no states leaves the state as it is.
static LogicalResult dropEmptyMerge(MergeOp op, PatternRewriter &rewriter) {
  if (op.getPartialAcc().getType().getDimSize(0) != 0)
    return failure();
  rewriter.replaceOp(op, {op.getAccInit(), op.getMaxInit(), op.getSumInit()});
  return success();
}

void MergeOp::getCanonicalizationPatterns(RewritePatternSet &results,
                                          MLIRContext *) {
  results.add(dropEmptyMerge);
}
