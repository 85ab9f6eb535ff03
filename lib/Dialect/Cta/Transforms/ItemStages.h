//===- ItemStages.h - A work item, divided ----------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What --overlap-tiles knows of a computing team's work item: the first block
// of all and the last block's second product, as --overlap-softmax leaves them,
// and what the result is made and stored by.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_CTA_TRANSFORMS_ITEMSTAGES_H
#define FA_LIB_DIALECT_CTA_TRANSFORMS_ITEMSTAGES_H

#include "fa/Dialect/Cta/IR/Cta.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace fa {

/// The last block's second product, which is alone in a branch.
struct LateProduct {
  mlir::scf::IfOp branch; ///< taken where the item has a block at all
  cta::ConsumeOp consume;
  cta::MmaOp product;
  cta::WaitOp wait;
  cta::ReleaseOp release;

  mlir::Value getAccumulator() { return product.getAcc(); }
  mlir::Value getOperand() { return product.getA(); }
};

/// A block of one first product, among the ways through the first block.
struct FirstProduct {
  cta::MmaOp product;
  cta::WaitOp wait;
  /// What makes the late product's operand, if nothing else: that of the item
  /// before is read until its product is done.
  mlir::Operation *narrowing = nullptr;
  /// What makes this block's accumulator alone, which may wait until that of
  /// the item before is stored.
  llvm::SetVector<mlir::Operation *> accumulating;

  bool isLast(mlir::Operation *op) const {
    return op == narrowing || accumulating.contains(op);
  }
};

/// The body of a work.
struct ItemStages {
  cta::WorkOp work;
  LateProduct late;
  /// The first block of all, as a tree of branches, and which of its results
  /// the late product's accumulator and operand begin with.
  mlir::scf::IfOp first;
  unsigned accumulator = 0, operand = 0;
  llvm::DenseMap<mlir::Block *, FirstProduct> products; ///< of that tree
  /// What is made of the late product, with the stores.
  llvm::SetVector<mlir::Operation *> epilogue;
  /// The item's values that the epilogue reads beside the late product.
  llvm::SetVector<mlir::Value> reads;
  /// Loops behind the late product that give stages of its ring back.
  llvm::SmallVector<mlir::scf::ForOp> drains;
};

/// Divides the body of `work`; on failure `reason` says why it cannot be.
mlir::FailureOr<ItemStages> findItemStages(cta::WorkOp work,
                                           std::string &reason);

} // namespace fa

#endif // FA_LIB_DIALECT_CTA_TRANSFORMS_ITEMSTAGES_H
