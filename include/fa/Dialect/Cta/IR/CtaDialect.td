//===- CtaDialect.td - The cta dialect ---------------------*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect and the base class of its operations.
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_CTA_IR_CTADIALECT_TD
#define FA_DIALECT_CTA_IR_CTADIALECT_TD

include "mlir/IR/OpBase.td"

def Cta_Dialect : Dialect {
  let name = "cta";
  let cppNamespace = "::fa::cta";
  let summary = "What one thread block does, in whole tiles";
  let description = [{
    The `cta` dialect describes the program of one thread block and says
    nothing about single threads.

    - A *shared tile* (`!cta.tile`) is a matrix in shared memory.
    - A *fragment* is a matrix in the registers of one team: the builtin
      `vector<RxCxT>`. A *row vector* (`vector<RxT>` or `vector<Rx1xT>`) has one
      element for each row of a fragment, a *column vector* (`vector<1xCxT>`)
      one for each column. Arithmetic on them is plain `arith`, `math` and
      `vector`.
    - A *flight* (`!cta.flight`) is a matrix product that has been issued and
      not been waited for. No arithmetic is defined on it.
    - A *ring* (`!cta.ring`) is a number of stages of the same tile type, which
      are filled and read in turn.
    - A *role* is a program for a number of teams; a *team* is a number of
      warps which own fragments together.

    The function around them is a `gpu.func`; `cta.extents`, a discardable array
    of `#cta.extent` on it, says the grid.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Cta_Op<string mnemonic, list<Trait> traits = []>
    : Op<Cta_Dialect, mnemonic, traits>;

#endif // FA_DIALECT_CTA_IR_CTADIALECT_TD
