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

    `rescale` says when a row's state moves to the maximum of a new block. All
    policies are the same in exact arithmetic; the option wins over the
    `rescale` of `attn.schedule` (and is written there).

    - `always`: in every block, by alpha = exp2(c * max - guard'), which is
      exactly 1 where the maximum stays. Source: Milakov and Gimelshein (2018);
      Dao (2023), Algorithm 1.
    - `lazy`: only where c * (maximum of the block - max) > 8, so max is a
      reference that the true maximum is above by a factor of at most 2^8 in p.
      A p of up to 256 has the relative rounding error of one up to 1, in f16,
      bf16 and f32, and is far from the largest f16; sum and lse are those of
      the reference. The accumulator is rescaled in a `scf.if`, taken where any
      row of the tile moved; a row's first maximum rescales nothing.
    - `first-max`: a row stays at the maximum of its first block that it sees a
      key of. Later blocks look for a maximum only where a row has seen no key,
      and nothing is rescaled. Behind the fold, `%ok` is whether every sum of
      the tile (of the whole problem before `--interchange`) is at most 32752 in
      f16, or 2^64 in bf16 and f32; then every p was at most that too, since the
      sum is of p >= 0, and none overflowed; nor did acc, which is at most sum *
      max|v|, while |v| <= 2^63. Where a sum is larger, infinite or NaN,
      `scf.if` runs the fold once more with `always`. So a row of more than
      32752 equal scores in f16 is folded twice; the result is right all the
      same. No p is too small either: the reference is never above the true
      maximum.

    `lazy` and `first-max` are for accumulators that are not normalised
    (`--delay-normalization`).

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
    With `lazy`:
    ```mlir
    %any = linalg.generic ... ["reduction"] ins(%st#3)        // alpha < 1 in any row
    %moved = tensor.extract %any[] : tensor<i1>
    %a0 = scf.if %moved { acc * alpha } else { acc }
    ```
    With `first-max`, behind the loops:
    ```mlir
    %all = linalg.generic ... ["reduction"] ins(%sum)         // sum <= 32752 in all rows
    %ok = tensor.extract %all[] : tensor<i1>
    %r:3 = scf.if %ok { %acc, %max, %sum } else { the loops once more, rescale=always }
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

def DecomposeAttention : Pass<"decompose-attention", "::mlir::func::FuncOp"> {
  let summary = "standard attention: scores, softmax and output as whole tensors";
  let description = [{
    Level A to C, the baseline that FlashAttention is measured against:
    `attn.forward` in three steps, with the scores and their softmax written to
    memory as whole tensors [B, Hq, Sq, Skv]. Each step is a `scf.forall` over
    batch and query heads, on slices of whole heads. The scores are f32 after
    scale, score and mask, the weights are rounded to the inputs' type; a row
    that sees no key has o = 0 and lse = -inf. Sequences of different lengths are
    split first (`--split-sequences`), variants expanded.

    Source: Dao et al., "FlashAttention" (2022), Algorithm 0.

    Before:
    ```mlir
    %o, %lse = attn.forward ins(%q, %k, %v : ...) ...
    ```
    After:
    ```mlir
    %s = scf.forall (%b, %h) in (%nb, %nh) shared_outs(%so = ...) {    // s = scale q k^T, masked
      ... linalg.matmul, linalg.generic ... }
    %p:2 = scf.forall (%b, %h) in (%nb, %nh) shared_outs(%po = ..., %lo = ...) { // p = softmax(s), lse
      %sh = tensor.extract_slice %s[%b, %h, 0, 0] [1, 1, %sq, %skv] ...
      ... }
    %o = scf.forall (%b, %h) in (%nb, %nh) shared_outs(%oo = ...) {    // o = p v
      %ph = tensor.extract_slice %p#0[%b, %h, 0, 0] [1, 1, %sq, %skv] ...
      ... linalg.matmul ... }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numDecomposed", "num-decomposed", "attentions decomposed">];
}

#endif // FA_CONVERSION_ATTNTOLINALG_PASSES_TD
