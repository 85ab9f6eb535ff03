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

  /// A compiled function, which may be called from several threads at once. It
  /// takes one pointer for each argument; a pointer to the results comes first
  /// where there are several.
  using Function = void (*)(void **);

  /// The function `name`, which must have `llvm.emit_c_interface`. The first
  /// look-up finishes what is left of the compilation, which is lazy.
  llvm::Expected<Function> lookup(llvm::StringRef name);

private:
  /// Frees compiled code once no task is in it.
  struct Release {
    void operator()(mlir::ExecutionEngine *engine) const;
  };

  std::unique_ptr<mlir::ExecutionEngine, Release> engine;
};

} // namespace fa::execute

#endif // FA_EXECUTE_JIT_H
