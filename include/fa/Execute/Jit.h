//===- Jit.h - Compiling and calling functions in process -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_JIT_H
#define FA_EXECUTE_JIT_H

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"

namespace fa::execute {

/// A module in the LLVM dialect, compiled for this machine.
class Jit {
public:
  /// Compiles `module`. Without `optimize` that is quick and the code is slow.
  static llvm::Expected<Jit> compile(mlir::ModuleOp module, bool optimize);

  /// Finishes what is left of the compilation, which is lazy, of the module
  /// that holds the function `name`, so that calls can be timed.
  llvm::Error prepare(llvm::StringRef name);

  /// Calls the function `name`, which must have `llvm.emit_c_interface`, with
  /// one pointer for each argument; a pointer to the results comes first where
  /// there are several.
  llvm::Error call(llvm::StringRef name, llvm::ArrayRef<void *> arguments);

private:
  std::unique_ptr<mlir::ExecutionEngine> engine;
};

} // namespace fa::execute

#endif // FA_EXECUTE_JIT_H
