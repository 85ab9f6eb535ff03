//===- Simulate.h - fa-run at level D -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_RUN_SIMULATE_H
#define FA_TOOLS_FA_RUN_SIMULATE_H

#include "Options.h"

#include "fa/Execute/Compare.h"
#include "fa/Execute/TensorProgram.h"
#include "fa/Simulator/Simulator.h"

namespace fa::run {

/// Whether `module` holds kernels at level D.
bool holdsKernels(mlir::ModuleOp module);

/// The kernel that the command line names, else the one called `name`, else the
/// only one. Fails with a diagnostic.
mlir::FailureOr<mlir::gpu::GPUFuncOp>
findKernel(mlir::ModuleOp module, llvm::StringRef name, const Options &options);

/// What solves a problem at level D: a kernel, or a plan that launches several.
struct Simulated {
  mlir::gpu::GPUFuncOp kernel;
  mlir::func::FuncOp plan; ///< null: the kernel alone
};

/// The launch plan called `name`, else the kernel that `findKernel` finds.
/// Fails with a diagnostic.
mlir::FailureOr<Simulated> findSimulated(mlir::ModuleOp module,
                                         llvm::StringRef name,
                                         const Options &options);

/// Runs `simulated`, whose arguments are those of `problem` and then o and lse.
/// The simulator's diagnostics come before the error.
llvm::Expected<execute::Outputs>
simulateProblem(const Simulated &simulated,
                const execute::AttentionFunction &problem,
                const execute::Sizes &sizes, execute::Inputs &inputs,
                const Options &options);

/// Runs `kernel` on the values of its first arguments and on `outputs`, its
/// last ones.
mlir::LogicalResult simulateProgram(
    mlir::gpu::GPUFuncOp kernel, llvm::ArrayRef<execute::ProgramValue> inputs,
    std::vector<execute::HostTensor> &outputs, const Options &options);

/// Runs a kernel without a problem: static tensors of random values, and a
/// line for each that it stores to.
mlir::LogicalResult simulateAlone(mlir::gpu::GPUFuncOp kernel,
                                  const Options &options);

} // namespace fa::run

#endif // FA_TOOLS_FA_RUN_SIMULATE_H
