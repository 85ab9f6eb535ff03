//===- PassOrder.h - Passes refuse an order that cannot work -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The legal orders are in docs/pass-order.md. A pass that meets attention at
// another level than its own stands in the wrong place of the pipeline: an
// error says where it belongs. A pass that merely has nothing to do warns.
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_ATTN_TRANSFORMS_PASSORDER_H
#define FA_DIALECT_ATTN_TRANSFORMS_PASSORDER_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace fa::attn {

/// The level that a pass works on.
enum class PassLevel {
  Whole, ///< A: attn.forward
  Blocks ///< B: attn.update on tiles
};

/// Reports that `pass` (its command-line name) found no `what` in `function`.
/// An error where the order of passes is at fault: then the result is failure.
/// A warning otherwise.
llvm::LogicalResult reportNothingFound(mlir::FunctionOpInterface function,
                                       llvm::StringRef pass, PassLevel level,
                                       llvm::StringRef what);

/// Why a pass leaves an op as it is.
struct Obstacle {
  std::string reason;
  /// Another order of passes would help.
  bool isOrder = false;
};

/// Reports that `pass` does not apply to `op`: an error, and failure, where the
/// order of passes is at fault; a warning and a remark otherwise.
llvm::LogicalResult reportObstacle(mlir::Operation *op, llvm::StringRef pass,
                                   const Obstacle &obstacle);

} // namespace fa::attn

#endif // FA_DIALECT_ATTN_TRANSFORMS_PASSORDER_H
