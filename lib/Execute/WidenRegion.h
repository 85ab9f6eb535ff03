//===- WidenRegion.h - Score and mask regions in f64 -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_EXECUTE_WIDENREGION_H
#define FA_LIB_EXECUTE_WIDENREGION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace fa::execute {

/// Clones the only block of `region` at the builder's insertion point,
/// computing in `wide` what the region computes in f32. `arguments` stand for
/// the block's arguments. Returns what the block yields; fails with a
/// diagnostic at an op with no meaning in another type.
mlir::FailureOr<mlir::Value> cloneWidened(mlir::OpBuilder &builder,
                                          mlir::Region &region,
                                          mlir::ValueRange arguments,
                                          mlir::FloatType wide);

/// `value`, a float, in the type `target`.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, mlir::FloatType target);

} // namespace fa::execute

#endif // FA_LIB_EXECUTE_WIDENREGION_H
