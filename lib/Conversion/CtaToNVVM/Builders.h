//===- Builders.h - Small IR builders ---------------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shorthands for the i32 arithmetic and the per-thread vectors that the
// lowering is made of.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_CTATONVVM_BUILDERS_H
#define FA_LIB_CONVERSION_CTATONVVM_BUILDERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace fa {

/// i32 arithmetic at one place.
struct I32Builder {
  mlir::ImplicitLocOpBuilder &b;

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value c);
  mlir::Value add(mlir::Value a, int64_t c);
  mlir::Value mul(mlir::Value a, int64_t c);
  mlir::Value shr(mlir::Value a, int64_t c);
  mlir::Value bitAnd(mlir::Value a, int64_t c);
  mlir::Value bitXor(mlir::Value a, mlir::Value c);
  mlir::Value bitXor(mlir::Value a, int64_t c);
  mlir::Value fromIndex(mlir::Value index);
};

/// The pointer into shared memory at `address` (i32) plus a constant.
mlir::Value sharedPointer(mlir::ImplicitLocOpBuilder &b, mlir::Value address,
                          int64_t offset);

/// Orders the thread's reads and writes of shared memory before those of copies
/// that start once others know of them.
void fenceAsyncProxy(mlir::ImplicitLocOpBuilder &b);

/// Runs `build` where `condition` holds.
void buildGuarded(mlir::ImplicitLocOpBuilder &b, mlir::Value condition,
                  llvm::function_ref<void(mlir::ImplicitLocOpBuilder &)> build);

/// The scalars of a vector, in order.
llvm::SmallVector<mlir::Value> toElements(mlir::ImplicitLocOpBuilder &b,
                                          mlir::Value vector);
/// The vector of `type` made of `elements`.
mlir::Value fromElements(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                         llvm::ArrayRef<mlir::Value> elements);

/// Makes `op`, a branch, again with one more i32 result for each of
/// `otherwise`, which a missing second region yields; operations cannot grow
/// results. The regions' own yields grow before.
mlir::Operation *growBranch(mlir::RewriterBase &rewriter, mlir::Operation *op,
                            mlir::ValueRange otherwise);

/// Two 16-bit floats in one i32.
mlir::Value pack(mlir::ImplicitLocOpBuilder &b, mlir::Value low,
                 mlir::Value high);

} // namespace fa

#endif // FA_LIB_CONVERSION_CTATONVVM_BUILDERS_H
