//===- RunProgram.h - fa-run on what is no attention ------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_RUN_RUNPROGRAM_H
#define FA_TOOLS_FA_RUN_RUNPROGRAM_H

#include "Options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fa::run {

/// The only function of `module` where it is a program: it has a schedule of
/// its own and no attention. Null otherwise.
mlir::func::FuncOp findProgram(mlir::ModuleOp module);

/// Runs `left`, what passes left of the program `source`, on the CPU or in the
/// simulator, and `source` itself as it is written and in f64. Prints what came
/// out, or with --check how far it is off; writes all tensors where there is a
/// folder for them. Fails with a diagnostic.
mlir::LogicalResult runProgram(mlir::func::FuncOp source, mlir::ModuleOp left,
                               const Options &options);

} // namespace fa::run

#endif // FA_TOOLS_FA_RUN_RUNPROGRAM_H
