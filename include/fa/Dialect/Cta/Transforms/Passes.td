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
    Level D to D. In a chain of loops over the same rings, where each loop begins
    where the one before ends, an acquire and its copy are moved to where their stage has
    just become free. Where the loop's body consumes another ring after it
    released this one, that is in the same block: with n stages, block k + n is
    copied in block k, after that consume, which all threads meet at anyway; or,
    into an only stage, right after the release, unless fragments leave no
    registers for the copy's addresses. Otherwise it is after the body's first
    consume, for block k + n - 1.

    The first blocks are copied before the chain, and loads that only the chain
    needs are moved below them, so that all are under way together. Blocks past
    the chain's end are copied from rows past the memref's end, which read as 0
    and touch no memory, and are drained after the chain, so that acquires and
    releases stay balanced.

    Before:
    ```mlir
    scf.for %j = %lo to %hi step %c64 {
      %ke = cta.acquire %kr : !ring
      cta.copy %K[%j, %c0] to %ke : memref<?x64xbf16>, !tile
      %ve = cta.acquire %vr : !ring
      cta.copy %V[%j, %c0] to %ve : memref<?x64xbf16>, !tile
      %k = cta.consume %kr : !ring
      ... cta.release %k ...
      %v = cta.consume %vr : !ring
      ... cta.release %v ...
    }
    ```
    After, with rings of one stage:
    ```mlir
    %e = cta.acquire %kr : !ring
    cta.copy %K[%lo, %c0] to %e : memref<?x64xbf16>, !tile
    scf.for %j = %lo to %hi step %c64 {
      %k = cta.consume %kr : !ring
      %ve = cta.acquire %vr : !ring
      cta.copy %V[%j, %c0] to %ve : memref<?x64xbf16>, !tile
      ... cta.release %k ...
      %ke = cta.acquire %kr : !ring
      cta.copy %K[%next, %c0] to %ke : memref<?x64xbf16>, !tile
      %v = cta.consume %vr : !ring
      ... cta.release %v ...
    }
    %d = cta.consume %kr : !ring
    cta.release %d : !tile
    ```
  }];
  let statistics = [Statistic<"numChains", "chains", "Loop chains skewed">,
                    Statistic<"numCopies", "copies", "Copies moved ahead">];
  let dependentDialects = ["::fa::cta::CtaDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif // FA_DIALECT_CTA_TRANSFORMS_PASSES_TD
