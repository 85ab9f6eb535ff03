//===- Reference.h - Attention by its definition -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_REFERENCE_H
#define FA_EXECUTE_REFERENCE_H

#include "fa/Execute/AttentionFunction.h"

namespace fa::execute {

/// How exactly a reference computes.
enum class Precision {
  /// Everything in f64.
  Double,
  /// What a plain program in the input type would do: softmax in f32, its
  /// result rounded to the input type, products added up in f32, o rounded.
  Naive
};

/// Adds to `module` a function `name` that computes `problem` by its
/// definition, in loops over rows and keys. It uses none of our passes. It
/// takes the problem's arguments and then two memrefs of f64, o and lse, and
/// two indexes: it fills the rows first, first + step, ... of each sequence and
/// head. Fails with a diagnostic where a region uses an op that it cannot
/// widen.
mlir::FailureOr<mlir::func::FuncOp>
buildReference(const AttentionFunction &problem, mlir::ModuleOp module,
               llvm::StringRef name, Precision precision);

} // namespace fa::execute

#endif // FA_EXECUTE_REFERENCE_H
