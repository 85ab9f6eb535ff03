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
#include "fa/Schedule/Candidates.h"

#include "llvm/Support/JSON.h"

namespace fa {

/// A kernel: its code and its entry in the manifest.
struct CompiledKernel {
  std::string data; ///< a cubin, or PTX text without a ptxas
  bool isCubin = false;
  int64_t keys = 0;         ///< in a block
  int64_t spillingKeys = 0; ///< in the blocks that were tried first, or 0
  llvm::json::Object entry; ///< see docs/kernel-library.md
  double seconds = 0;
};

/// Parts of the schedule that are set; 0: the model's choice.
struct ScheduleOverrides {
  int64_t br = 0, bc = 0, teams = 0, warps = 0, stages = 0;
  std::string rescale; ///< always, lazy or first-max; empty: the step's
  /// Whether these passes run, where the step has them.
  bool pingPong = true, persistent = true;
  /// Whether items end in the next one (--overlap-tiles).
  bool overlapTiles = false;
  std::string scheduler; ///< auto, static or dynamic; empty: auto
  /// Registers of a thread beside those that the model counts.
  int64_t moreRegisters = 0;
};

/// All parts of `candidate`.
ScheduleOverrides overridesOf(const Candidate &candidate);

/// The rates that a tuned table has for a kernel.
struct Measurement {
  std::string source; ///< card, driver and date; empty: none
  std::vector<int64_t> seqs;
  std::vector<double> tflops; ///< at each of the lengths
};

/// One kernel to make: of `spec` for `arch`, by the passes of `step`.
struct KernelRequest {
  KernelSpec spec;
  const AblationStep *step;
  std::string arch;
  ScheduleOverrides overrides;
  /// What the name says beside the problem: "rows1024"; may be empty.
  std::string label;
  /// The most rows of Q that the kernel is meant for; 0: what the lengths of
  /// the spec say.
  int64_t maxRows = 0;
  /// Whether the overrides are the tuned table's.
  bool isTuned = false;
  Measurement measured;
  /// Of several that are tried: where it spills or cannot be made it is left
  /// out.
  bool isTrial = false;
};

/// Rows of Q in a block of a kernel for decoding: the fewest that the tensor
/// cores take.
inline constexpr int64_t kDecodeRows = 16;

/// The rows of Q that a kernel for short sequences is meant for, its teams of
/// warpgroups, and the rows of each.
inline constexpr int64_t kShortRows = 1024, kShortTeams = 2, kTeamRows = 64;

/// The kernel's name: fwd_bf16_d128_causal_sm_80, and the step where it is not
/// the last one.
std::string kernelName(const KernelRequest &request);

/// The bytes that a kernel of this entry spills, in all its launches.
int64_t countSpills(const llvm::json::Object &entry);

/// Sets the pipeline's options for `request`.
void setPipelineOptions(PipelineOptions &options, const KernelRequest &request);

/// Adds the passes that make `request`.
void buildPasses(mlir::OpPassManager &passes, const PipelineOptions &options,
                 const KernelRequest &request);

/// Compiles what is asked for in a context of its own. Diagnostics go to
/// `diagnostics`. Where ptxas spills with the resource model's blocks, the
/// model is asked again for some that need fewer registers, and the entry has
/// `more_registers`.
mlir::FailureOr<CompiledKernel>
compileKernel(const mlir::DialectRegistry &registry,
              const KernelRequest &request, llvm::StringRef hash,
              llvm::raw_ostream &diagnostics);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_COMPILE_H
