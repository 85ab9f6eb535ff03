//===- LaunchPlan.h - Runs the kernels of a launch plan ---------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_SIMULATOR_LAUNCHPLAN_H
#define FA_SIMULATOR_LAUNCHPLAN_H

#include "fa/Simulator/Simulator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fa::sim {

/// What one kernel of a plan took.
struct LaunchStatistics {
  std::string kernel;
  Statistics statistics;
};

/// Whether `function` calls kernels, as `--outline-kernels` and `--map-warps`
/// leave it.
bool isLaunchPlan(mlir::func::FuncOp function);

/// Runs `plan` and the kernels that it calls, in their order; `arguments` are
/// its own, then a tensor for each of its results. Workspaces begin as NaN. The
/// limits of `options.target` hold for every kernel. Fails with a
/// diagnostic where a kernel does, or the plan holds an op that is none of
/// index arithmetic, sizes, tensors without values and calls.
mlir::FailureOr<std::vector<LaunchStatistics>>
simulatePlan(mlir::func::FuncOp plan, llvm::ArrayRef<Argument> arguments,
             const Options &options);

} // namespace fa::sim

#endif // FA_SIMULATOR_LAUNCHPLAN_H
