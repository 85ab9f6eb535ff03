//===- Cubin.h - PTX and cubins ---------------------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a gpu.module in the LLVM dialect to PTX, in process, and from PTX to a
// cubin and ptxas's report, by a subprocess.
//
//===----------------------------------------------------------------------===//

#ifndef FA_TARGET_CUBIN_H
#define FA_TARGET_CUBIN_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <optional>
#include <string>

namespace fa {

struct Target;

/// How to make machine code.
struct TargetOptions {
  std::string chip = "sm_80";
  std::string ptxas; ///< Its path; empty: findPtxas().
  int optLevel = 3;  ///< ptxas's.

  /// LLVM's feature string for the chip: the PTX version that is asked for.
  /// The chip must be a known target.
  std::string features() const;
};

/// What ptxas says about one kernel.
struct KernelReport {
  std::string name;
  int64_t registers = 0;
  int64_t spillStores = 0; ///< bytes
  int64_t spillLoads = 0;  ///< bytes
  int64_t staticShared = 0;
  /// Why ptxas makes the kernel's wgmma wait for one another; empty where it
  /// does not.
  std::string serialized;

  bool spills() const { return spillStores || spillLoads; }
};

/// A cubin and what ptxas said while making it.
struct Cubin {
  std::string data;
  std::string version; ///< of ptxas, "13.0"
  llvm::SmallVector<KernelReport> kernels;
};

/// Registers the translations that emitPTX needs.
void registerPTXTranslations(mlir::DialectRegistry &registry);

/// Reports the first op of `module` that is made of instructions that `target`
/// does not have.
mlir::LogicalResult checkInstructions(mlir::gpu::GPUModuleOp module,
                                      const Target &target);

/// The PTX of a module in the LLVM dialect; reports what cannot be translated.
mlir::FailureOr<std::string> emitPTX(mlir::gpu::GPUModuleOp module,
                                     const TargetOptions &options);

/// Assembles `ptx`; reports at `loc` what ptxas refuses.
mlir::FailureOr<Cubin>
assemble(llvm::StringRef ptx, const TargetOptions &options, mlir::Location loc);

/// The path of ptxas: in PATH, else in CUDA's usual place; none if there is
/// none.
std::optional<std::string> findPtxas();

/// Reads the output of `ptxas -v`.
llvm::SmallVector<KernelReport> parsePtxasReport(llvm::StringRef output);

} // namespace fa

#endif // FA_TARGET_CUBIN_H
