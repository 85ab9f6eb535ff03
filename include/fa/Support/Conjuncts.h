//===- Conjuncts.h - What a condition is the "and" of -----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_SUPPORT_CONJUNCTS_H
#define FA_SUPPORT_CONJUNCTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace fa {

/// Appends the conditions that `condition` is the "and" of, itself where it is
/// none.
inline void collectConjuncts(mlir::Value condition,
                             llvm::SmallVectorImpl<mlir::Value> &conjuncts) {
  auto both = condition.getDefiningOp<mlir::arith::AndIOp>();
  if (!both) {
    conjuncts.push_back(condition);
    return;
  }
  collectConjuncts(both.getLhs(), conjuncts);
  collectConjuncts(both.getRhs(), conjuncts);
}

} // namespace fa

#endif // FA_SUPPORT_CONJUNCTS_H
