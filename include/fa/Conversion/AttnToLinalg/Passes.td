//===- Passes.td - From attention to arithmetic -*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_CONVERSION_ATTNTOLINALG_PASSES_TD
#define FA_CONVERSION_ATTNTOLINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def OnlineSoftmax : Pass<"online-softmax", "::mlir::func::FuncOp"> {
  let summary = "spell the updates out as arithmetic on tiles";
  let description = [{
    Level B to C. Each `attn.update` on tiles becomes two matrix products around
    the online softmax, in the exp2 domain with scale * log2(e) folded into one
    factor c; `attn.init` becomes fills and `attn.finalize` two elementwise
    generics. Score and mask regions are inlined into the generic over the score
    tile. Rows that have seen no key have max = -inf; for them `guard`, which is
    c * max, is 0, so that no -inf - -inf is computed.

    `attn.merge` becomes reductions over the states: their maximum, a weight for
    each, which is exactly 1 for the one that has it, and the weighted sums; with
    `normalized` the weight of an accumulator is times its sum. Init, merge and
    finalize may be on whole tensors too.

    Without a score region max is kept in the unit of q.k, so that scaling costs
    nothing: p = exp2(c * s - guard) is one fused multiply-add and one exp2.

    `rescale=always`: every update rescales acc by alpha = exp2(c * max -
    guard'), which is exactly 1 where the maximum stays. Source: Milakov and Gimelshein (2018); Dao (2023), Algorithm 1.

    Before:
    ```mlir
    %a1, %m1, %l1 = attn.update ins(%q, %k, %v : ...) ... outs(%a, %m, %l : ...)
    ```
    After:
    ```mlir
    %s = linalg.matmul ... ins(%q, %k) outs(%zero)            // s = q k^T
    %s1 = linalg.generic ...                                  // score, mask
    %b = linalg.generic ... ["parallel", "reduction"]         // max of the block
    %st:4 = linalg.generic ...                                // max', sum * alpha, guard, alpha
    %p = linalg.generic ...                                   // exp2(c s - guard)
    %l1 = linalg.generic ... ["parallel", "reduction"]        // + sum of p
    %a0 = linalg.generic ...                                  // acc * alpha
    %a1 = linalg.matmul ins(%pn, %v) outs(%a0)                // + p v
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"rescale", "rescale", "std::string", "\"\"",
           "when a state moves to a new maximum: always, lazy or first-max (default: the schedule's, else always)">,
  ];
  let statistics = [Statistic<"numUpdates", "num-updates", "updates spelled out">];
}

#endif // FA_CONVERSION_ATTNTOLINALG_PASSES_TD
