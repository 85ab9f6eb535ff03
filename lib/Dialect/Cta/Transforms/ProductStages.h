//===- ProductStages.h - A loop body of two products, divided ---*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What --overlap-softmax knows of a loop: its two products, and what has to
// come before, between and after them when the second one runs a block late.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_CTA_TRANSFORMS_PRODUCTSTAGES_H
#define FA_LIB_DIALECT_CTA_TRANSFORMS_PRODUCTSTAGES_H

#include "fa/Dialect/Cta/IR/Cta.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace fa {

/// The body of a loop, divided.
struct ProductStages {
  mlir::scf::ForOp loop;
  cta::MmaOp first;  ///< reads nothing that the loop's accumulator is made of
  cta::MmaOp second; ///< adds to the accumulator
  cta::WaitOp firstWait, secondWait;
  cta::ConsumeOp consume; ///< of the second product's tile
  cta::ReleaseOp release;
  unsigned accumulator = 0; ///< its number among the carried values

  /// What comes before and with the first product; reads of memory that need
  /// not wait for it; what comes between its wait and the second product; and
  /// what must come after the second product of the block before: writing its
  /// fragment operand, and working on the accumulator.
  llvm::SmallVector<mlir::Operation *> start, reads, middle, end;

  mlir::Value getCarried() { return loop.getRegionIterArg(accumulator); }
};

/// Divides the body of `loop`; on failure `reason` says why it cannot be.
mlir::FailureOr<ProductStages> findProductStages(mlir::scf::ForOp loop,
                                                 std::string &reason);

/// Whether the second product of a loop may be that of the loop before.
bool agree(ProductStages &a, ProductStages &b);

} // namespace fa

#endif // FA_LIB_DIALECT_CTA_TRANSFORMS_PRODUCTSTAGES_H
