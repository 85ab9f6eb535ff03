//===- Simplify.h - Tidying kernels after a pass ----------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_CTA_TRANSFORMS_SIMPLIFY_H
#define FA_LIB_DIALECT_CTA_TRANSFORMS_SIMPLIFY_H

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fa {

/// Folds constants under `root`, and removes what a pass left dead or computed
/// twice.
inline void simplify(mlir::RewriterBase &rewriter, mlir::Operation *root) {
  mlir::GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(
      mlir::GreedySimplifyRegionLevel::Disabled);
  // Not reaching a fixed point would leave valid IR.
  (void)mlir::applyPatternsGreedily(
      root, mlir::RewritePatternSet(root->getContext()), config);
  mlir::DominanceInfo dominance(root);
  mlir::eliminateCommonSubExpressions(rewriter, dominance, root);
}

} // namespace fa

#endif // FA_LIB_DIALECT_CTA_TRANSFORMS_SIMPLIFY_H
