//===- Passes.td - Passes on the cta dialect ---------------*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes that change how tiles are staged in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_CTA_TRANSFORMS_PASSES_TD
#define FA_DIALECT_CTA_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def StageTiles : Pass<"stage-tiles"> {
  let summary = "Turns the shared loads of loops into rings of stages";
  let description = [{
    Level D to D. Each `cta.load once` in a loop becomes acquire and copy at the
    same place, a consume before the tile's first use (so that copies overlap
    what comes before it), and a release after its last use has been waited for.
    Loads of one tensor with one tile type share a ring, so that the loops over
    full and over partial blocks do.

    Before:
    ```mlir
    %k = cta.load once %K[%b, %h, %j, %c0] : memref<?x?x?x64xbf16> -> !kt
    %f = cta.mma %q, transpose %k : !qt, !kt -> !cta.flight<64x64xf32>
    %s = cta.wait %f : !cta.flight<64x64xf32>
    ```
    After:
    ```mlir
    %e = cta.acquire %ring : !cta.ring<2, !kt>
    cta.copy %K[%b, %h, %j, %c0] to %e : memref<?x?x?x64xbf16>, !kt
    %k = cta.consume %ring : !cta.ring<2, !kt>
    %f = cta.mma %q, transpose %k : !qt, !kt -> !cta.flight<64x64xf32>
    %s = cta.wait %f : !cta.flight<64x64xf32>
    cta.release %k : !kt
    ```
  }];
  let options = [Option<"stages", "stages", "int64_t", /*default=*/"0",
                        "Stages of each ring (0: the function's attribute "
                        "cta.stages, or 2)">];
  let statistics = [Statistic<"numRings", "rings", "Rings allocated">,
                    Statistic<"numLoads", "loads", "Loads staged">];
  let dependentDialects = ["::fa::cta::CtaDialect"];
}

def Prefetch : Pass<"prefetch"> {
  let summary = "Starts the copies of a block before the block that needs it";
  let description = [{
    Level D to D. In a chain of loops over the same rings, where each loop begins where the
    one before ends, the acquire and copy of a block are moved `stages - 1`
    blocks ahead: the first ones before the chain, each further one after the
    consume of its ring. Blocks past the chain's end are copied from rows past
    the memref's end, which read as 0 and touch no memory, and are drained
    after the chain, so that acquires and releases stay balanced. A function
    whose attribute `cta.stages` is 1 stays as it is.

    Before:
    ```mlir
    scf.for %j = %lo to %hi step %c64 {
      %e = cta.acquire %ring : !ring
      cta.copy %K[%j, %c0] to %e : memref<?x64xbf16>, !kt
      %k = cta.consume %ring : !ring
      ...
    }
    ```
    After:
    ```mlir
    %e = cta.acquire %ring : !ring
    cta.copy %K[%first, %c0] to %e : memref<?x64xbf16>, !kt
    scf.for %j = %lo to %hi step %c64 {
      %k = cta.consume %ring : !ring
      %n = cta.acquire %ring : !ring
      cta.copy %K[%next, %c0] to %n : memref<?x64xbf16>, !kt
      ...
    }
    %d = cta.consume %ring : !ring
    cta.release %d : !kt
    ```
  }];
  let statistics = [Statistic<"numChains", "chains", "Loop chains skewed">,
                    Statistic<"numCopies", "copies", "Copies moved ahead">];
  let dependentDialects = ["::fa::cta::CtaDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif // FA_DIALECT_CTA_TRANSFORMS_PASSES_TD
