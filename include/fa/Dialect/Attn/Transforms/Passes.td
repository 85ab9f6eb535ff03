//===- Passes.td - Passes on the attention dialect -*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_DIALECT_ATTN_TRANSFORMS_PASSES_TD
#define FA_DIALECT_ATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandVariants : Pass<"expand-variants", "::mlir::func::FuncOp"> {
  let summary = "write the `using` sugar of attn.forward into its regions";
  let description = [{
    Level A to A. A variant's mask joins the mask region by `and`; its score is
    applied to what the score region yields, in the order of the list. `--tile`
    does this first; the pass exists to look at the result.

    Before:
    ```mlir
    attn.forward ins(%q, %k, %v : ...) using [#attn.causal] : ...
    ```
    After:
    ```mlir
    attn.forward ins(%q, %k, %v : ...) mask(%b, %h, %i, %j) {
      %shift = arith.subi %skv, %sq : index
      %last = arith.addi %i, %shift : index
      %sees = arith.cmpi sle, %j, %last : index
      attn.yield %sees : i1
    } : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numVariants", "num-variants", "variants expanded">];
}

def SplitSequences : Pass<"split-sequences", "::mlir::func::FuncOp"> {
  let summary = "sequences of different lengths: a loop over attention on one each";
  let description = [{
    Level A to A. `attn.forward` with `cu_seqlens` or `kv_lens` becomes a
    `scf.forall` over sequences around `attn.forward` on slices of just their
    length, so that nothing beyond it is ever read. The `using` list is expanded
    on the way, with each sequence's own lengths. `--tile` does this first.

    Before:
    ```mlir
    attn.forward ins(%q, %k, %v : tensor<?x?x64xf16>, ...) cu_seqlens(%cq, %ck : ...) ...
    ```
    After:
    ```mlir
    scf.forall (%b) in (%n) shared_outs(%o = ..., %lse = ...) {
      %i0 = tensor.extract %cq[%b] ...
      %qb = tensor.extract_slice %q[0, %i0, 0] [%h, %sq, 64] ...
      ...
      %ob, %lseb = attn.forward ins(%qb, %kb, %vb : ...) ...
      ... tensor.parallel_insert_slice %ob into %o[0, %i0, 0] ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numSplit", "num-split", "attentions split">];
}

def CheckSupport : Pass<"check-support", "::mlir::func::FuncOp"> {
  let summary = "refuse what a pipeline does not make";
  let description = [{
    Level A to A. Changes nothing. A pipeline that makes no kernels of an attention,
    or none with one of its options, says so here, at the attention and with the
    option's name, before a pass far below meets what it cannot lower. The
    options are what the pipeline refuses.

    Before, with `pipeline=fa1 packed=true`:
    ```mlir
    %o, %lse = attn.forward ins(%q, %k, %v) cu_seqlens(%cq, %ck) ...
    ```
    After:
    ```
    error: 'attn.forward' op --fa1 makes no kernels of packed sequences
      (cu_seqlens): use --fa2
    ```
  }];
  let options = [
    Option<"pipeline", "pipeline", "std::string", "\"\"", "the pipeline's name, for what is said">,
    Option<"instead", "instead", "std::string", "\"--fa2\"", "what to use instead, for what is said">,
    Option<"caches", "caches", "bool", "false", "refuse kv_lens">,
    Option<"packed", "packed", "bool", "false", "refuse cu_seqlens">,
    Option<"rescale", "rescale", "std::string", "\"\"", "refuse the pipeline's options: this value of rescale,">,
    Option<"splitKV", "split-kv", "std::string", "\"\"", "this value of split-kv,">,
    Option<"warps", "warps", "std::string", "\"\"", "this value of warps,">,
    Option<"partition", "partition", "std::string", "\"\"", "this value of partition, together">,
  ];
}

def ChooseSchedule : Pass<"choose-schedule", "::mlir::func::FuncOp"> {
  let summary = "attach #attn.schedule: block sizes, teams and stages";
  let description = [{
    Level A to A. Chooses for the one head dimension and element type of the
    function's attention and writes `attn.schedule` on the function. Every later
    pass reads its choices there and nowhere else. Options given override what
    the policy chose; the resource model refuses what does not fit the target.

    Policies:

    - `target` takes the choice of the target's resource model (see
      fa/Schedule/Schedule.h): 32 rows a warp where the registers allow it, the
      largest blocks of keys that fit, the stages that leave the most blocks
      resident.
    - `warpgroups` is for targets with wgmma: teams of four warps with 64 rows
      each, and as many keys as shared memory and registers hold beside a group
      that loads.
    - `paper` takes FlashAttention 1's block sizes: Bc = ceil(M / 4d) for the
      outer loop and Br = min(Bc, d) for the inner one, with M the shared memory
      in elements (`shared-bytes` overrides the target's), each rounded down to
      16.

    Options overrule either, one number each. The models' registers are
    estimates, and ptxas has the last word: what it spilled can be given as
    `more-registers`, for a schedule that needs fewer; where none needs so few
    they take the smallest blocks that there are. `rescale=auto` is
    `first-max` where a row's first block says what the others are like, else
    `always`: not where scores depend on where a key is (ALiBi: the first keys
    are the furthest, each row would be folded again).

    `--remarks-filter=choose-schedule` says what was chosen and what it takes:
    ```
    remark: [Passed] schedule | Category:choose-schedule | Function=attention |
      br=128, bc=32, teams=4, stages=1, sharedBytes=49152,
      registersPerThread=223, blocksPerSM=2, Reason="policy target for sm_80"
    ```

    Before:
    ```mlir
    func.func @attention(...) {
    ```
    After:
    ```mlir
    func.func @attention(...) attributes {attn.schedule = #attn.schedule<
      target = "sm_80", br = 128, bc = 32, teams = 4, warps = 1, stages = 1,
      partition = split_q>} {
    ```
  }];
  let dependentDialects = ["::fa::attn::AttnDialect"];
  let options = [
    Option<"policy", "policy", "std::string", "\"target\"", "target, warpgroups or paper">,
    Option<"target", "target", "std::string", "\"sm_80\"", "the GPU, as ptxas names it">,
    Option<"br", "br", "int64_t", "0", "rows of Q in a block (0: the policy's)">,
    Option<"bc", "bc", "int64_t", "0", "rows of K and V in a block (0: the policy's)">,
    Option<"teams", "teams", "int64_t", "0", "teams in a thread block (0: the policy's)">,
    Option<"warps", "warps", "int64_t", "0", "warps in a team (0: the policy's)">,
    Option<"stages", "stages", "int64_t", "0", "blocks of K and of V in shared memory (0: the policy's)">,
    Option<"partition", "partition", "std::string", "\"\"", "split_q or split_k (default: the policy's)">,
    Option<"rescale", "rescale", "std::string", "\"\"", "always, lazy, first-max or auto (default: always)">,
    Option<"heldStates", "held-states", "int64_t", "1", "states that a thread holds: 1, or 2 where one is read and another written">,
    Option<"stagesMatrices", "stages-matrices", "bool", "false", "tiles of matrices that scores are made with lie in shared memory (--stage-lookups)">,
    Option<"moreRegisters", "more-registers", "int64_t", "0", "registers of a thread beside those that the policy counts, as ptxas found">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "0", "M of the paper's formula, in bytes (0: the target's)">,
  ];
  let statistics = [Statistic<"numScheduled", "num-scheduled", "functions scheduled">,
    Statistic<"numKept", "num-kept", "schedules that were there already">,
    Statistic<"numForCpu", "num-for-cpu", "attentions that no schedule fits the target for">];
}

def Tile : Pass<"tile", "::mlir::func::FuncOp"> {
  let summary = "attention into a loop nest over blocks: KV outside, Q inside";
  let description = [{
    Level A to B: FlashAttention 1's nest. `attn.forward` becomes
    finalize(update(init)) on whole tensors, and the update is tiled by one
    batch, one head, Bc keys and Br queries through its TilingInterface. The
    state lives in full-size tensors; the update keeps acc normalised, as the
    paper does. Block sizes come from `attn.schedule`; without one
    `--choose-schedule` runs first.

    Source: Dao et al., "FlashAttention" (2022), Algorithm 1.

    Before:
    ```mlir
    %o, %lse = attn.forward ins(%q, %k, %v : ...) scale(%scale) : ...
    ```
    After:
    ```mlir
    %s:3 = attn.init outs(%acc, %max, %sum : ...)
    %r:3 = scf.for %b ... { scf.for %h ... { scf.for %j = %c0 to %skv step %c64 ... {
      scf.for %i = %c0 to %sq step %c128 iter_args(%a, %m, %l) {
        %qt = tensor.extract_slice %q[%b, %h, %i, 0] ...
        ...
        %u:3 = attn.update normalized ins(%qt, %kt, %vt : ...) at(%b, %h, %i, %j) ...
        ... tensor.insert_slice %u#0 into %a[%b, %h, %i, 0] ...
      } } } }
    %o, %lse = attn.finalize normalized ins(%r#0, %r#1, %r#2 : ...) ...
    ```
  }];
  let dependentDialects = [
    "::fa::attn::AttnDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numTiled", "num-tiled", "attentions tiled">];
}

def Interchange : Pass<"interchange", "::mlir::func::FuncOp"> {
  let summary = "Q blocks outside and in parallel, KV blocks inside with the state in iter_args";
  let description = [{
    Level B to B, or C to C: from FlashAttention 1's loop order to FlashAttention
    2's. A nest of `scf.for` whose state tensors are read and written in slices
    becomes a `scf.forall` over the loops that choose the slices (q block, head,
    batch) around the loop that does not (KV blocks), which carries its slice of
    the state. The producer of the initial state (`attn.init`) and the consumer
    of the final one (`attn.finalize`) move into the forall, tiled through their
    TilingInterface.

    Legal because different iterations of the outer loops touch disjoint slices
    of the state, and each slice sees the KV blocks in the same order. The pass
    verifies this: each state tensor is read and written at one and the same
    slice, whose offsets are the outer loops' induction variables, one dimension
    each, with sizes at most the loop's step; where it does not hold the nest
    stays and a warning says why.

    Source: Dao, "FlashAttention-2" (2023), section 3.2.

    Before:
    ```mlir
    scf.for %j = ... { scf.for %i = ... iter_args(%a) {
      %t = tensor.extract_slice %a[%b, %h, %i, 0] ...
      %u = attn.update ... outs(%t ...)
      tensor.insert_slice %u into %a[%b, %h, %i, 0] ... } }
    ```
    After:
    ```mlir
    scf.forall (%i, %h, %b) = ... shared_outs(%o) {
      %r = scf.for %j = ... iter_args(%t) { %u = attn.update ... outs(%t ...); scf.yield %u }
      ... tensor.parallel_insert_slice ... }
    ```
  }];
  let dependentDialects = [
    "::fa::attn::AttnDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numInterchanged", "num-interchanged", "loop nests interchanged">];
}

def FlattenSequences : Pass<"flatten-sequences", "::mlir::func::FuncOp"> {
  let summary = "one parallel loop over the blocks of sequences of different lengths";
  let description = [{
    Level B to B. What `--split-sequences` and `--interchange` leave, a loop over
    sequences around a loop over (q block, head), becomes one loop: with
    `kv_lens` over (q block, head, batch), with `cu_seqlens` over (slot, head).
    Without such a nest it does nothing.

    A slot is a place for one Q block. Sequence b has those from
    floor(cq[b] / Br) + b up to the same of b + 1: as many as its blocks, or one
    more, in which there are neither rows nor keys. The number of slots follows
    from the sizes of q and cq, whatever cq holds, and each slot finds its
    sequence by a binary search in cq: nobody must know the longest sequence
    before the launch, and a launch that was recorded stays right when lengths
    change.

    A sequence's blocks are in its slots in their order, or with `pairs` the last
    one, the first, the last but one, the second and so on: with a mask by which
    later blocks see more, slots next to each other have together about as much
    work as others, for blocks that run both.

    Before:
    ```mlir
    scf.forall (%b) in (%n) shared_outs(%o = ..., %lse = ...) {
      %i0 = ... tensor.extract %cq[%b] ...
      %ob, %lseb = scf.forall (%i, %h) = (0, 0) to (%sq, %hq) step (64, 1) ... {
        ... tensor.parallel_insert_slice %t into %oi[%h, %i, 0] ...
      }
      ... tensor.parallel_insert_slice %ob into %o[0, %i0, 0] ...
    }
    ```
    After:
    ```mlir
    %slots = ceil(rows of %q / 64) + size of %cq
    scf.forall (%slot, %h) in (%slots, %hq) shared_outs(%o = ..., %lse = ...) {
      %b = ... binary search ...
      %i0 = ... tensor.extract %cq[%b] ...
      %i = ... 64 * (%slot - first slot of %b), 0 where there is no such block ...
      ... tensor.parallel_insert_slice %t into %o[%h, %i0 + %i, 0] ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"pairs", "pairs", "bool", "false", "Alternate a packed sequence's last blocks and its first">,
  ];
  let statistics = [Statistic<"numFlattened", "num-flattened", "nests made one loop">];
}

def Parallelize : Pass<"parallelize", "::mlir::func::FuncOp"> {
  let summary = "heads in parallel around FlashAttention 1's loops, the state in full-size tensors";
  let description = [{
    Level B to B, where `--interchange` is not wanted: FlashAttention 1's loop
    order, one thread block for each head and batch. The loops that stand outside
    of the first one that carries the state from iteration to iteration become a
    `scf.forall`; the order of all others stays. The state stays in full-size
    tensors, which become results of the forall beside o and lse: a kernel's
    workspaces. Its beginning (`attn.init`) and its end (`attn.finalize`) move
    into the forall, in loops over its slices.

    Legal where `--interchange` is, for the same reason: different iterations of
    the parallel loops touch disjoint slices of the state.

    Source: Dao et al., "FlashAttention" (2022), Algorithm 1 and section 3.1.

    Before:
    ```mlir
    scf.for %b = ... { scf.for %h = ... { scf.for %j = ... { scf.for %i = ... iter_args(%a) {
      %t = tensor.extract_slice %a[%b, %h, %i, 0] ...
      %u = attn.update ... outs(%t ...)
      tensor.insert_slice %u into %a[%b, %h, %i, 0] ... } } } }
    ```
    After:
    ```mlir
    scf.forall (%h, %b) = ... shared_outs(%o, %s) {
      %s0 = scf.for %i = ... iter_args(%a = %s) { attn.init ...; tensor.insert_slice ... }
      %s1 = scf.for %j = ... { scf.for %i = ... iter_args(%a) { ... as before ... } }
      %r = scf.for %i = ... iter_args(%w = %o) { attn.finalize ...; tensor.insert_slice ... }
      ... tensor.parallel_insert_slice ... }
    ```
  }];
  let dependentDialects = [
    "::fa::attn::AttnDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numParallelized", "num-parallelized", "loop nests with a parallel part">];
}

def DelayNormalization : Pass<"delay-normalization", "::mlir::func::FuncOp"> {
  let summary = "keep acc unnormalised in updates, divide once at the end";
  let description = [{
    Level B to B. Drops `normalized` from every update of a fold and from its
    finalize, which then divides: one division a row instead of one a row and
    block, and no multiplication by the old sum. The updates are found by
    following the state from the finalize through loops to the init; a fold
    whose updates cannot all be found is left alone with a warning.

    Source: Dao, "FlashAttention-2" (2023), section 3.1.

    Before:
    ```mlir
    %u:3 = attn.update normalized ins(...) ...
    attn.finalize normalized ins(%u#0, %u#1, %u#2 : ...) ...
    ```
    After:
    ```mlir
    %u:3 = attn.update ins(...) ...
    attn.finalize ins(%u#0, %u#1, %u#2 : ...) ...
    ```
  }];
  let dependentDialects = ["::fa::attn::AttnDialect"];
  let statistics = [Statistic<"numDelayed", "num-delayed", "folds with one division">];
}

def SkipMaskedBlocks : Pass<"skip-masked-blocks", "::mlir::func::FuncOp"> {
  let summary = "cut and split the KV loop: skip empty blocks, mask only partial ones";
  let description = [{
    Level B to B. Derives from the mask region, for the rows of a Q block, an
    interval outside of which no row sees a key and one inside of which all rows
    see all keys: signed comparisons that are affine in i and j, joined by and,
    or, not and select; what depends on neither i nor j may be anything. The KV
    loop is cut to the first interval and split in up to three loops around the
    second: partial blocks at the lower edge, full blocks, partial blocks at the
    upper edge. Full blocks lose the mask region and have static sizes; a block
    cut short by the end of K counts as partial. Needs the Q loop outside
    (`--interchange`).

    The loops are in the order of the keys, except where the schedule keeps a
    row's first maximum (`rescale=first-max`) and the score depends on the key's
    place: then the blocks at the upper edge come first, from the last one on,
    where ALiBi's scores are largest.

    Before:
    ```mlir
    scf.for %j = %c0 to %skv step %c64 { attn.update ... mask(...) {...} }
    ```
    After (causal):
    ```mlir
    scf.for %j = %c0 to %full step %c64 { attn.update ... }
    scf.for %j = %full to %end step %c64 { attn.update ... mask(...) {...} }
    ```
  }];
  let dependentDialects = [
    "::fa::attn::AttnDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"blockLists", "block-lists", "bool", "true",
           "list the blocks of masks that leave no full block known">,
  ];
  let statistics = [Statistic<"numSplit", "num-split", "KV loops split">];
}

def SplitKV : Pass<"split-kv", "::mlir::func::FuncOp"> {
  let summary = "independent parts of the keys, then a merge: parallelism for short queries";
  let description = [{
    Level B to B. A parallel loop over blocks of queries becomes two. The first
    runs over parts of the keys as well: each part folds its share of the KV
    loops' blocks and leaves its state (acc, max, sum) in a full-size tensor with
    a leading dimension of parts. The second merges the parts (`attn.merge`) and
    finalizes. Legal because states form a monoid.

    `splits=N` makes N parts; `splits=auto` computes, from the launch's sizes and
    how many thread blocks of the schedule the target holds at a time, the
    smallest N whose occupancy reaches 95% of the best; at most 128, and no more
    than there are blocks of keys. `splits=argument` adds an argument of type index
    to the function, for a launch that knows what it runs on.

    Run `--interchange` and `--delay-normalization` first, `--skip-masked-blocks`
    too so that parts share what is left of the keys, and `--pad-tiles` after.

    Source: Dao et al., "Flash-Decoding for long-context inference" (2023).

    Before:
    ```mlir
    scf.forall (%i, %h, %b) ... {
      %r:3 = scf.for %j = %begin to %end step %c64 iter_args(...) { attn.update ... }
      attn.finalize ins(%r#0, %r#1, %r#2 : ...) ...
    }
    ```
    After:
    ```mlir
    %p:3 = scf.forall (%s, %i, %h, %b) in (%n, ...) shared_outs(%accs, %maxs, %sums) {
      %r:3 = scf.for %j = %partBegin to %partEnd step %c64 iter_args(...) { attn.update ... }
      ... tensor.parallel_insert_slice %r#0 into %accs[%s, %b, %h, %i, 0] ...
    }
    scf.forall (%i, %h, %b) ... {
      %m:3 = attn.merge ins(...) unit(%u) outs(...)
      attn.finalize ins(%m#0, %m#1, %m#2 : ...) ...
    }
    ```
  }];
  let dependentDialects = [
    "::fa::attn::AttnDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"splits", "splits", "std::string", "\"auto\"",
           "parts of the keys: a number, auto for what occupancy asks for, or argument">,
  ];
  let statistics = [Statistic<"numSplit", "num-split", "folds split">];
}

def PadTiles : Pass<"pad-tiles", "::mlir::func::FuncOp"> {
  let summary = "make tiles static: pad with zeros, join j < Skv to the mask";
  let description = [{
    Level B to B. A tile cut short by the end of a tensor is padded to the full
    block: `tensor.extract_slice` then `tensor.pad` with 0, so that nothing from
    beyond the end (a NaN in a cache, say) enters a product. Where K and V are
    padded, `j < Skv` joins the mask region. Regions that read tensors at i or j
    read them at the last row or key for padding. State tiles that are made by
    `attn.init` inside the loop become static through the whole fold; those that
    live in full-size tensors are padded and cut again around each update.

    Before:
    ```mlir
    %n = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 64)>(%j)[%skv]
    %kt = tensor.extract_slice %k[%b, %h, %j, 0] [1, 1, %n, 128] ...
    attn.update ins(..., %kt : tensor<?x128xbf16>) ...
    ```
    After:
    ```mlir
    %kt = tensor.extract_slice ...
    %kp = tensor.pad %kt low[0, 0] high[%rest, 0] ... : tensor<?x128xbf16> to tensor<64x128xbf16>
    attn.update ins(..., %kp : tensor<64x128xbf16>) ... mask(...) { ... j < %skv ... }
    ```
  }];
  let dependentDialects = [
    "::fa::attn::AttnDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numPadded", "num-padded", "operands padded">];
}

#endif // FA_DIALECT_ATTN_TRANSFORMS_PASSES_TD
