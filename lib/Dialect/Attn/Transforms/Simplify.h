//===- Simplify.h - Tidying after a pass -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_ATTN_TRANSFORMS_SIMPLIFY_H
#define FA_LIB_DIALECT_ATTN_TRANSFORMS_SIMPLIFY_H

#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fa::attn {

/// Removes what a pass left dead or computed twice under `root`, and asks for a
/// slice's sizes where they come from, so that the IR after each step reads
/// well.
inline void removeRedundancy(mlir::RewriterBase &rewriter,
                             mlir::Operation *root) {
  mlir::RewritePatternSet patterns(root->getContext());
  mlir::memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  // Not reaching a fixed point would leave valid IR.
  (void)mlir::applyPatternsGreedily(root, std::move(patterns));
  mlir::DominanceInfo dominance(root);
  mlir::eliminateCommonSubExpressions(rewriter, dominance, root);
}

} // namespace fa::attn

#endif // FA_LIB_DIALECT_ATTN_TRANSFORMS_SIMPLIFY_H
