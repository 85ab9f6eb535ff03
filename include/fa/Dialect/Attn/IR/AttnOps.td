//===- AttnOps.td - Operations of the attention dialect -*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_DIALECT_ATTN_IR_ATTNOPS_TD
#define FA_DIALECT_ATTN_IR_ATTNOPS_TD

include "fa/Dialect/Attn/IR/AttnAttrs.td"
include "fa/Dialect/Attn/IR/AttnDialect.td"
include "fa/Dialect/Attn/IR/AttnTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

class Attn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Attn_Dialect, mnemonic, traits>;

def Attn_ForwardOp : Attn_Op<"forward", [
    AttrSizedOperandSegments, RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "attention over whole tensors: O and LSE";
  let description = [{
    For each batch b, query head h and query i, over the visible keys j:

    ```
    s[j] = score(scale * dot(q[b,h,i,:], k[b,h',j,:]), b, h, i, j)
    lse[b,h,i] = log(sum_j exp(s[j]))
    o[b,h,i,:] = sum_j exp(s[j] - lse[b,h,i]) * v[b,h',j,:]
    ```

    Shapes: q [B, Hq, Sq, D], k [B, Hkv, Skv, D], v [B, Hkv, Skv, Dv], o
    [B, Hq, Sq, Dv] of the same element type (f16, bf16 or f32), lse [B, Hq, Sq]
    in f32, natural logarithm. Head h of Q reads head h' = h / (Hq / Hkv) of K
    and V, so Hq must be a multiple of Hkv. D and Dv are static. Scores and sums
    are f32.

    A query that sees no key has o = 0 and lse = -inf.

    - `scale`: an f32, which must be positive (the running maximum is taken of
      unscaled scores); 1/sqrt(D) where it is left out.
    - `score(%s, %b, %h, %i, %j) {...}` yields the new f32 score.
    - `mask(%b, %h, %i, %j) {...}` yields an i1: whether query i sees key j.
      Indexes count from the start of the whole sequence, of Q or of K. Both
      regions may use values from outside, tensors too.
    - `using [...]`: sugar for common variants (`#attn.causal`, `#attn.window`,
      `#attn.softcap`, `#attn.alibi`), which expands into the regions; scores
      change in the order of the list, after the region.

    Sequences of different lengths:

    - `kv_lens(%n)`, a tensor [B] of i32: batch b has n[b] keys; what k and v hold
      beyond is never used, whatever it is. Skv in a variant's formula is n[b].
    - without a batch dimension (q [H, Sq, D], o [H, Sq, Dv], lse [H, Sq]) there
      is one sequence, b = 0; or, with `cu_seqlens(%cq, %ck)`, two tensors [B + 1]
      of i32, B sequences packed one after the other: sequence b has the queries
      cq[b] to cq[b + 1] and the keys ck[b] to ck[b + 1], which both count from 0
      in the regions. Rows of o and lse before cq[0] or from cq[B] on are
      unspecified. The entries must not decrease nor be over the tensors' sizes.

    Example:

    ```mlir
    %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
        scale(%scale) using [#attn.causal] : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
    ```
  }];
  let arguments = (ins Attn_Tensor:$q, Attn_Tensor:$k, Attn_Tensor:$v,
                       Optional<Attn_Lengths>:$cuSeqlensQ, Optional<Attn_Lengths>:$cuSeqlensKV,
                       Optional<Attn_Lengths>:$kvLens, Optional<F32>:$scale,
                       OptionalAttr<ArrayAttr>:$variants);
  let regions = (region MaxSizedRegion<1>:$scoreRegion, MaxSizedRegion<1>:$maskRegion);
  let results = (outs Attn_Tensor:$o, Attn_RowStats:$lse);
  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `:` type($q) `,` type($k) `,` type($v) `)`
    (`cu_seqlens` `(` $cuSeqlensQ^ `,` $cuSeqlensKV `:` type($cuSeqlensQ) `,` type($cuSeqlensKV) `)`)?
    (`kv_lens` `(` $kvLens^ `:` type($kvLens) `)`)?
    (`scale` `(` $scale^ `)`)? (`using` $variants^)?
    custom<VariantRegions>($scoreRegion, $maskRegion)
    attr-dict `:` type($o) `,` type($lse)
  }];
  let extraClassDeclaration = [{
    /// Whether q, k and v have a batch dimension.
    bool isBatched() { return getQ().getType().getRank() == 4; }
    /// Whether q, k and v hold several sequences one after the other.
    bool isPacked() { return bool(getCuSeqlensQ()); }
    /// Whether sequences may differ in length.
    bool isRagged() { return isPacked() || getKvLens(); }
    /// The dimensions of q and k that count heads, rows and elements.
    int64_t getHeadAxis() { return getQ().getType().getRank() - 3; }
    int64_t getSequenceAxis() { return getQ().getType().getRank() - 2; }
    int64_t getHeadDim() { return getQ().getType().getShape().back(); }
    int64_t getHeadDimV() { return getV().getType().getShape().back(); }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

class Attn_StateOp<string mnemonic, list<Trait> traits = []>
    : Attn_Op<mnemonic, !listconcat(traits, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<TilingInterface, [
          "getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
          "getResultTilePosition", "generateResultTileValue"]>])>;

def Attn_InitOp : Attn_StateOp<"init", [Pure,
    AllTypesMatch<["accInit", "acc"]>, AllTypesMatch<["maxInit", "max"]>,
    AllTypesMatch<["sumInit", "sum"]>]> {
  let summary = "the empty state: acc = 0, max = -inf, sum = 0";
  let description = [{
    The neutral element of the fold. acc is [B, H, Sq, Dv], [H, Sq, Dv] or a tile
    [Br, Dv]; max and sum are the same without Dv; all f32. One more leading
    dimension makes several states (see `attn.merge`).

    Example:

    ```mlir
    %a, %m, %l = attn.init outs(%a0, %m0, %l0 : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>)
    ```
  }];
  let arguments = (ins Attn_AccOrPartial:$accInit, Attn_RowsOrPartial:$maxInit, Attn_RowsOrPartial:$sumInit);
  let results = (outs Attn_AccOrPartial:$acc, Attn_RowsOrPartial:$max, Attn_RowsOrPartial:$sum);
  let assemblyFormat = [{
    `outs` `(` $accInit `,` $maxInit `,` $sumInit `:` type($accInit) `,` type($maxInit) `,` type($sumInit) `)` attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 0, 3);
    }
  }];
  let hasVerifier = 1;
}

def Attn_UpdateOp : Attn_StateOp<"update", [
    PartialReductionOpInterface, RecursiveMemoryEffects, RecursivelySpeculatable,
    AllTypesMatch<["accInit", "acc"]>, AllTypesMatch<["maxInit", "max"]>,
    AllTypesMatch<["sumInit", "sum"]>]> {
  let summary = "folds a block of keys and values into the state of a block of queries";
  let description = [{
    For each query row i of the block, over the keys j of the block that the
    mask leaves, with s[j] = q[i,:] . k[j,:] (after `score`, where there is one,
    of scale times that) and u the unit of s (`scale` without a score region,
    else 1):

    ```
    max' = maximum(max, s[j] for all j)
    p[j] = exp(u * (s[j] - max'))
    sum' = sum * exp(u * (max - max')) + sum_j p[j]
    acc' = acc * exp(u * (max - max')) + sum_j p[j] * v[j,:]
    ```

    With `normalized`, acc holds acc / sum at all times (FlashAttention 1's
    update): acc' = (acc * sum * exp(u * (max - max')) + sum_j p[j] v[j,:]) / sum'.
    Where no key was visible so far the state stays (0, -inf, 0).

    The operands are whole tensors as in `attn.forward` (without packing) with
    state [B, Hq, Sq, Dv] and [B, Hq, Sq], or tiles of one head: q [Br, D], k
    [Bc, D], v [Bc, Dv], acc [Br, Dv], max and sum [Br]. `at(%b, %h, %i, %j)` is
    the position of their first element in the whole problem, and `lens(%sq,
    %skv)` the lengths of the whole problem. p is rounded to v's element type
    before the product with v.

    Tiling: parallel over (b, h, i), a reduction over j. A tile of one batch and
    one head drops those dimensions. Tiled as a partial reduction (outer
    parallel), n tiles of keys each fold into a state of their own, which
    `attn.merge` folds into one.

    Example:

    ```mlir
    %a, %m, %l = attn.update ins(%q, %k, %v : tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64x128xbf16>)
        at(%b, %h, %i, %j) lens(%sq, %skv) scale(%scale)
        outs(%a0, %m0, %l0 : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>) mask(%mb, %mh, %mi, %mj) {
      %sees = arith.cmpi sle, %mj, %mi : index
      attn.yield %sees : i1
    }
    ```
  }];
  let arguments = (ins
    Attn_TensorOrTile:$q, Attn_TensorOrTile:$k, Attn_TensorOrTile:$v,
    Index:$batchPosition, Index:$headPosition, Index:$rowPosition,
    Index:$keyPosition, Index:$seqQ, Index:$seqKV, F32:$scale,
    Attn_AccOrTile:$accInit, Attn_RowsOrTile:$maxInit, Attn_RowsOrTile:$sumInit,
    UnitAttr:$normalized);
  let regions = (region MaxSizedRegion<1>:$scoreRegion, MaxSizedRegion<1>:$maskRegion);
  let results = (outs Attn_AccOrTile:$acc, Attn_RowsOrTile:$max, Attn_RowsOrTile:$sum);
  let assemblyFormat = [{
    (`normalized` $normalized^)?
    `ins` `(` $q `,` $k `,` $v `:` type($q) `,` type($k) `,` type($v) `)`
    `at` `(` $batchPosition `,` $headPosition `,` $rowPosition `,` $keyPosition `)`
    `lens` `(` $seqQ `,` $seqKV `)` `scale` `(` $scale `)`
    `outs` `(` $accInit `,` $maxInit `,` $sumInit `:` type($accInit) `,` type($maxInit) `,` type($sumInit) `)`
    custom<VariantRegions>($scoreRegion, $maskRegion) attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), getNumOperands() - 3, 3);
    }
    /// Whether the operands are tiles of one head rather than whole tensors.
    bool isTile() { return getQ().getType().getRank() == 2; }
    bool hasScore() { return !getScoreRegion().empty(); }
    bool hasMask() { return !getMaskRegion().empty(); }
    // PartialReductionOpInterface, whose generated declarations would need
    // `using namespace mlir`.
    ::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>
    generateInitialTensorForPartialReduction(
        ::mlir::OpBuilder &builder, ::mlir::Location loc,
        ::llvm::ArrayRef<::mlir::OpFoldResult> sizes,
        const ::llvm::SetVector<unsigned> &reductionDims);
    ::llvm::FailureOr<::mlir::TilingResult> tileToPartialReduction(
        ::mlir::OpBuilder &builder, ::mlir::Location loc,
        ::mlir::ReductionTilingStrategy strategy, ::mlir::ValueRange init,
        ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,
        ::llvm::ArrayRef<::mlir::OpFoldResult> sizes,
        const ::llvm::SetVector<unsigned> &reductionDims,
        ::llvm::ArrayRef<::mlir::OpFoldResult> splits);
    ::llvm::FailureOr<::mlir::MergeResult> mergeReductions(
        ::mlir::OpBuilder &builder, ::mlir::Location loc,
        ::mlir::ValueRange partialReduce,
        const ::llvm::SetVector<unsigned> &reductionDims);
    ::llvm::LogicalResult getPartialResultTilePosition(
        ::mlir::OpBuilder &builder, unsigned resultNumber,
        ::mlir::ReductionTilingStrategy strategy,
        ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,
        ::llvm::ArrayRef<::mlir::OpFoldResult> sizes,
        const ::llvm::SetVector<unsigned> &reductionDims,
        ::llvm::ArrayRef<::mlir::OpFoldResult> splits,
        ::llvm::SmallVector<::mlir::OpFoldResult> &resultOffsets,
        ::llvm::SmallVector<::mlir::OpFoldResult> &resultSizes);
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def Attn_MergeOp : Attn_StateOp<"merge", [Pure,
    AllTypesMatch<["accInit", "acc"]>, AllTypesMatch<["maxInit", "max"]>,
    AllTypesMatch<["sumInit", "sum"]>]> {
  let summary = "folds n partial states into one";
  let description = [{
    The product of the monoid of states, over the leading dimension of the
    partial ones and the state in `outs`; with s over these n + 1 states and u the
    factor from the unit of max to the natural exponent (`unit(%u)`):

    ```
    max' = maximum(max[s] for all s)
    w[s] = exp(u * (max[s] - max')), 0 where max[s] is -inf
    sum' = sum_s w[s] * sum[s]
    acc' = sum_s w[s] * acc[s]
    ```

    With `normalized`, acc holds acc / sum: acc' = sum_s w[s] * sum[s] * acc[s] /
    sum'. Empty states alone give (0, -inf, 0). A pair (o, lse) of finished
    attention is the normalised state (o, lse, 1) in the unit 1.

    Shapes: partial acc [n, B, H, Sq, Dv], [n, H, Sq, Dv] or [n, Br, Dv], partial
    max and sum the same without Dv; the state in `outs` the same without n.

    Tiling: parallel over (b, h, i); all n states are in each tile.

    Example:

    ```mlir
    %a, %m, %l = attn.merge ins(%as, %ms, %ls : tensor<4x64x128xf32>, tensor<4x64xf32>, tensor<4x64xf32>) unit(%u)
        outs(%a0, %m0, %l0 : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>)
    ```
  }];
  let arguments = (ins
    Attn_PartialAcc:$partialAcc, Attn_PartialRows:$partialMax, Attn_PartialRows:$partialSum, F32:$unit,
    Attn_AccOrTile:$accInit, Attn_RowsOrTile:$maxInit, Attn_RowsOrTile:$sumInit, UnitAttr:$normalized);
  let results = (outs Attn_AccOrTile:$acc, Attn_RowsOrTile:$max, Attn_RowsOrTile:$sum);
  let assemblyFormat = [{
    (`normalized` $normalized^)?
    `ins` `(` $partialAcc `,` $partialMax `,` $partialSum `:` type($partialAcc) `,` type($partialMax) `,` type($partialSum) `)`
    `unit` `(` $unit `)`
    `outs` `(` $accInit `,` $maxInit `,` $sumInit `:` type($accInit) `,` type($maxInit) `,` type($sumInit) `)` attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 4, 3);
    }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Attn_FinalizeOp : Attn_StateOp<"finalize", [Pure,
    AllTypesMatch<["oInit", "o"]>, AllTypesMatch<["lseInit", "lse"]>]> {
  let summary = "turns the state into O and LSE";
  let description = [{
    o = acc / sum (0 where sum is 0), rounded to o's element type, and lse = u *
    max + log(sum) (-inf where sum is 0), with `unit(%u)` the factor from the
    unit of max to the natural exponent. With `normalized` acc is divided
    already.

    Shapes: acc [B, H, Sq, Dv], [H, Sq, Dv] or [Br, Dv]; max, sum and lse the same
    without Dv.

    Example:

    ```mlir
    %o, %lse = attn.finalize ins(%a, %m, %l : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>) unit(%u)
        outs(%o0, %lse0 : tensor<64x128xbf16>, tensor<64xf32>)
    ```
  }];
  let arguments = (ins
    Attn_AccOrTile:$acc, Attn_RowsOrTile:$max, Attn_RowsOrTile:$sum, F32:$unit,
    Attn_TensorOrTile:$oInit, Attn_RowsOrTile:$lseInit, UnitAttr:$normalized);
  let results = (outs Attn_TensorOrTile:$o, Attn_RowsOrTile:$lse);
  let assemblyFormat = [{
    (`normalized` $normalized^)?
    `ins` `(` $acc `,` $max `,` $sum `:` type($acc) `,` type($max) `,` type($sum) `)` `unit` `(` $unit `)`
    `outs` `(` $oInit `,` $lseInit `:` type($oInit) `,` type($lseInit) `)` attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 4, 2);
    }
    // Fusing with the tiled producer of the state.
    ::llvm::FailureOr<::mlir::TilingResult> getTiledImplementationFromOperandTiles(
        ::mlir::OpBuilder &builder, ::llvm::ArrayRef<unsigned> operands,
        ::llvm::ArrayRef<::llvm::SmallVector<::mlir::OpFoldResult>> offsets,
        ::llvm::ArrayRef<::llvm::SmallVector<::mlir::OpFoldResult>> sizes);
    ::llvm::LogicalResult getIterationDomainTileFromOperandTiles(
        ::mlir::OpBuilder &builder, ::llvm::ArrayRef<unsigned> operands,
        ::llvm::ArrayRef<::llvm::SmallVector<::mlir::OpFoldResult>> offsets,
        ::llvm::ArrayRef<::llvm::SmallVector<::mlir::OpFoldResult>> sizes,
        ::llvm::SmallVectorImpl<::mlir::OpFoldResult> &domainOffsets,
        ::llvm::SmallVectorImpl<::mlir::OpFoldResult> &domainSizes);
  }];
  let hasVerifier = 1;
}

def Attn_BlockListOp : Attn_Op<"block_list", [
    RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "which blocks of keys each block of queries sees";
  let description = [{
    For a mask whose blocks are known at run time only. Cuts the score matrix of
    `lens(%sq, %skv)` into blocks of `blocks(br, bc)` and lists, for each batch,
    head and block of queries, the numbers of the key blocks

    - that all its queries see whole: the first counts[b, h, q, 0] entries of
      blocks[b, h, q, :], in order;
    - of which some of its queries see some: the next counts[b, h, q, 1] entries,
      in order. A block that the end of the keys cuts short is one of these. So
      may be one that all see whole or none sees at all, where the least and the
      largest of the values that the mask is made of do not tell.

    Entries after those are unspecified; there is at least one. Shapes: blocks
    [batches, heads, ceil(sq / br), ceil(skv / bc) + 1] and counts [batches, heads, ceil(sq / br), 2],
    i32. `batches` and `heads` are 1 where the mask depends on neither.

    Example:

    ```mlir
    %blocks, %counts = attn.block_list batches(%c1) heads(%c1) lens(%sq, %skv) blocks(128, 64) mask(%b, %h, %i, %j) {
      %di = tensor.extract %ids[%i] : tensor<?xi32>
      %dj = tensor.extract %ids[%j] : tensor<?xi32>
      %sees = arith.cmpi eq, %di, %dj : i32
      attn.yield %sees : i1
    } : tensor<?x?x?x?xi32>, tensor<?x?x?x2xi32>
    ```
  }];
  let arguments = (ins Index:$batches, Index:$heads, Index:$seqQ, Index:$seqKV,
    ConfinedAttr<I64Attr, [IntPositive]>:$br, ConfinedAttr<I64Attr, [IntPositive]>:$bc);
  let regions = (region SizedRegion<1>:$maskRegion);
  let results = (outs TensorRankOf<[I32], [4]>:$blocks, TensorRankOf<[I32], [4]>:$counts);
  let assemblyFormat = [{
    `batches` `(` $batches `)` `heads` `(` $heads `)` `lens` `(` $seqQ `,` $seqKV `)`
    `blocks` `(` $br `,` $bc `)` custom<MaskRegion>($maskRegion)
    attr-dict `:` type($blocks) `,` type($counts)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["ForwardOp", "UpdateOp", "BlockListOp"]>]> {
  let summary = "yields a score (f32) or a mask element (i1)";
  let description = [{
    Ends a score region with the new score, and a mask region with whether the
    query sees the key.

    Example:

    ```mlir
    attn.yield %sees : i1
    ```
  }];
  let arguments = (ins AnyTypeOf<[F32, I1]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // FA_DIALECT_ATTN_IR_ATTNOPS_TD
