//===- RereadRows.h - What items read again and again -----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_CTA_IR_REREADROWS_H
#define FA_DIALECT_CTA_IR_REREADROWS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace fa::cta {

/// What the items of a head read from the beginning each: its keys and values.
struct RereadRows {
  llvm::SmallVector<mlir::Value> sources; ///< tensors, in the program's order
  int64_t bytes = 0; ///< of one row of each of them together
};

/// Finds what loops in the works of `root` copy from for all teams. What a team
/// copies for itself is of its own rows: of Q, or of a bias.
RereadRows findRereadRows(mlir::Operation *root);

} // namespace fa::cta

#endif // FA_DIALECT_CTA_IR_REREADROWS_H
