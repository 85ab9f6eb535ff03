//===- TensorProgram.h - Any function on tensors, on the CPU ----*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs what is no attention: a function at level C, as it is written and, as
// its reference, in f64.
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_TENSORPROGRAM_H
#define FA_EXECUTE_TENSORPROGRAM_H

#include "fa/Execute/HostTensor.h"
#include "fa/Execute/Jit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <variant>

namespace fa::execute {

/// An argument: a tensor, or a scalar.
using ProgramValue = std::variant<HostTensor, double>;

/// Compiled code for one function on tensors and scalars.
class TensorProgram {
public:
  /// Compiles `function`, at level C; with `wide` all of its floats are f64.
  /// Fails with a diagnostic.
  static mlir::FailureOr<TensorProgram> compile(mlir::func::FuncOp function,
                                                bool wide);

  /// Runs it once; tensors of `inputs` are converted to the element types that
  /// it takes.
  llvm::Expected<std::vector<HostTensor>>
  run(llvm::ArrayRef<ProgramValue> inputs);

private:
  TensorProgram() = default;

  Jit jit;
  std::string name;
  llvm::SmallVector<mlir::Type> arguments, results;
};

} // namespace fa::execute

#endif // FA_EXECUTE_TENSORPROGRAM_H
