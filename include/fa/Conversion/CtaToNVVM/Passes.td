//===- Passes.td - From the cta dialect to NVVM ------------*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversion from level D to level E.
//
//===----------------------------------------------------------------------===//

#ifndef FA_CONVERSION_CTATONVVM_PASSES_TD
#define FA_CONVERSION_CTATONVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToNVVM : Pass<"lower-to-nvvm"> {
  let summary = "Lowers tile programs to per-thread NVVM";
  let description = [{
    Level D to E. Fragments become each thread's registers, products `mma.sync` with
    `ldmatrix`, loads and copies `cp.async`, rings groups of `cp.async` with
    counted waits and block barriers, and one block does one work item. The
    rest is upstream's way down to the LLVM dialect; memref arguments stay
    expanded descriptors (pointer, pointer, offset, sizes, strides).

    The kernel is given `cta.shared_bytes`, the dynamic shared memory to launch
    it with, `nvvm.maxntid`, and `nvvm.minctasm` where `cta.min_ctas` is set.

    Where `chip` has wgmma and all teams are of 4 warps, the form is that of
    sm_90: products `wgmma`, loads and copies `cp.async.bulk.tensor` by tensor
    maps, which `cta.tensor_maps` lists, rings mbarriers, roles branches with
    `setmaxnreg`. docs/hopper.md says which op becomes what.

    Before:
    ```mlir
    %f = cta.mma %a, transpose %b : !at, !bt -> !cta.flight<16x8xf32>
    ```
    After:
    ```mlir
    %r = nvvm.ldmatrix %p {num = 4 : i32, ...} : ...
    %d = nvvm.mma.sync A[...] B[...] C[...] ...
    ```
  }];
  let options = [
    Option<"tilesOnly", "tiles-only", "bool", /*default=*/"false",
           "Stop before upstream's passes: per-thread arith, vector, scf and "
           "nvvm">,
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "The architecture, as ptxas names it; teams of 4 warps are lowered "
           "to the sm_90 form where it has wgmma">];
}

#endif // FA_CONVERSION_CTATONVVM_PASSES_TD
