//===- Compile.h - One problem to one kernel -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_COMPILE_H
#define FA_TOOLS_FA_GEN_COMPILE_H

#include "Spec.h"

#include "fa/Pipelines/Pipelines.h"

#include "fa/Pipelines/Pipelines.h"

#include "llvm/Support/JSON.h"

namespace fa {

/// A kernel: its code and its entry in the manifest.
struct CompiledKernel {
  std::string data; ///< a cubin, or PTX text without a ptxas
  bool isCubin = false;
  llvm::json::Object entry; ///< see docs/kernel-library.md
  double seconds = 0;
};

/// Parts of the schedule given by hand; 0: the model's choice.
struct ScheduleOverrides {
  int64_t br = 0, bc = 0, teams = 0, stages = 0;
  std::string rescale; ///< always, lazy or first-max; empty: the step's
};

/// Rows of Q in a block of a kernel for decoding: the fewest that the tensor
/// cores take.
inline constexpr int64_t kDecodeRows = 16;

/// The rows of Q that a kernel for short sequences is meant for, its teams of
/// warpgroups, and the rows of each.
inline constexpr int64_t kShortRows = 1024, kShortTeams = 2, kTeamRows = 64;

/// The kernel's name: fwd_bf16_d128_causal_sm_80, and the step where it is not
/// the last one.
std::string kernelName(const KernelSpec &spec, const AblationStep &step,
                       llvm::StringRef arch);

/// Compiles `spec` for `arch` by the passes of `step`, in a context of its own.
/// Diagnostics go to `diagnostics`.
mlir::FailureOr<CompiledKernel>
compileKernel(const mlir::DialectRegistry &registry, const KernelSpec &spec,
              const AblationStep &step, llvm::StringRef arch,
              llvm::StringRef hash, const ScheduleOverrides &overrides,
              llvm::raw_ostream &diagnostics);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_COMPILE_H
