//===- AttentionFunction.h - Finding the problem in a file -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_ATTENTIONFUNCTION_H
#define FA_EXECUTE_ATTENTIONFUNCTION_H

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace fa::execute {

/// A function that says one attention problem at level A: it holds one
/// `attn.forward`, gives it its own arguments, and returns (o, lse), which
/// nothing else uses.
struct AttentionFunction {
  mlir::func::FuncOp function;
  attn::ForwardOp forward;

  /// The number of the function's argument that is this operand of `forward`.
  unsigned getArgumentNumber(mlir::Value operand) const;
};

/// The only function of `module`. Fails with a diagnostic where there is none,
/// or more than one.
mlir::FailureOr<mlir::func::FuncOp> findFunction(mlir::ModuleOp module);

/// The problem that `module` says. Fails with a diagnostic that names the first
/// rule that does not hold.
mlir::FailureOr<AttentionFunction> findAttention(mlir::ModuleOp module);

} // namespace fa::execute

#endif // FA_EXECUTE_ATTENTIONFUNCTION_H
