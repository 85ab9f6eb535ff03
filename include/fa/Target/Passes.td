//===- Passes.td - To machine code -------------------------*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the LLVM dialect to PTX and cubins.
//
//===----------------------------------------------------------------------===//

#ifndef FA_TARGET_PASSES_TD
#define FA_TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitCubin : Pass<"emit-cubin", "::mlir::ModuleOp"> {
  let summary = "Replaces each gpu.module by a gpu.binary with its cubin";
  let description = [{
    Level E. Makes PTX in process with LLVM's NVPTX target and assembles it with
    `ptxas`. The object's property `fa.ptxas` holds what ptxas reports (its
    version and, for each kernel, registers and spilled bytes) beside the
    kernel's launch figures (threads, dynamic shared memory, grid extents, tensor
    maps).

    A kernel that spills is an error unless `allow-spills`; so is one whose wgmma
    ptxas serialises, unless `allow-serialized`. Without a ptxas the
    object holds PTX, and a warning says so.

    Before:
    ```mlir
    gpu.module @kernels { llvm.func @k() attributes {nvvm.kernel, ...} { ... } }
    ```
    After:
    ```mlir
    gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80", features = "+ptx80">,
      properties = {fa.ptxas = {kernels = {k = {registers = 32 : i64, ...}}, version = "13.0"}}, bin = "...">]
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "The architecture, as ptxas names it">,
    Option<"ptxas", "ptxas", "std::string", /*default=*/"",
           "Path of ptxas; default: the one in PATH, then CUDA's usual place">,
    Option<"format", "format", "std::string", /*default=*/"\"bin\"",
           "bin, or ptx to stop at PTX">,
    Option<"optLevel", "opt-level", "int", /*default=*/"3",
           "Optimisation level of ptxas">,
    Option<"allowSpills", "allow-spills", "bool", /*default=*/"false",
           "Accept kernels whose registers spill">,
    Option<"allowSerialized", "allow-serialized", "bool", /*default=*/"false",
           "Accept kernels whose wgmma ptxas makes wait for one another">];
  let statistics = [Statistic<"numKernels", "kernels", "Kernels assembled">];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

#endif // FA_TARGET_PASSES_TD
