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
    RecursiveMemoryEffects, RecursivelySpeculatable]> {
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
      Indexes count from the start of the whole sequence, of Q or of K. Both regions may use
      values from outside, tensors too.
    - `using [...]`: sugar for common variants (`#attn.causal`), which expands
      into the regions.

    Example:

    ```mlir
    %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
        scale(%scale) using [#attn.causal] : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
    ```
  }];
  let arguments = (ins Attn_Tensor4:$q, Attn_Tensor4:$k, Attn_Tensor4:$v,
                       Optional<F32>:$scale, OptionalAttr<ArrayAttr>:$variants);
  let regions = (region MaxSizedRegion<1>:$scoreRegion, MaxSizedRegion<1>:$maskRegion);
  let results = (outs Attn_Tensor4:$o, Attn_RowStats:$lse);
  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `:` type($q) `,` type($k) `,` type($v) `)`
    (`scale` `(` $scale^ `)`)? (`using` $variants^)?
    custom<VariantRegions>($scoreRegion, $maskRegion)
    attr-dict `:` type($o) `,` type($lse)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
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
    The neutral element of the fold. acc is [B, H, Sq, Dv] or a tile [Br, Dv];
    max and sum are [B, H, Sq] or [Br]; all f32.

    Example:

    ```mlir
    %a, %m, %l = attn.init outs(%a0, %m0, %l0 : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>)
    ```
  }];
  let arguments = (ins Attn_AccOrTile:$accInit, Attn_RowsOrTile:$maxInit, Attn_RowsOrTile:$sumInit);
  let results = (outs Attn_AccOrTile:$acc, Attn_RowsOrTile:$max, Attn_RowsOrTile:$sum);
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
    RecursiveMemoryEffects, RecursivelySpeculatable,
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

    The operands are whole tensors as in `attn.forward` with state [B, Hq, Sq,
    Dv] and [B, Hq, Sq], or tiles of one head: q [Br, D], k [Bc, D], v [Bc, Dv],
    acc [Br, Dv], max and sum [Br]. `at(%b, %h, %i, %j)` is the position of their
    first element in the whole problem, and `lens(%sq, %skv)` the lengths of the
    whole problem. p is rounded to v's element type before the product with v.

    Tiling: parallel over (b, h, i), a reduction over j. A tile of one batch and
    one head drops those dimensions.
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
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_FinalizeOp : Attn_StateOp<"finalize", [Pure,
    AllTypesMatch<["oInit", "o"]>, AllTypesMatch<["lseInit", "lse"]>]> {
  let summary = "turns the state into O and LSE";
  let description = [{
    o = acc / sum (0 where sum is 0), rounded to o's element type, and lse = u *
    max + log(sum) (-inf where sum is 0), with `unit(%u)` the factor from the
    unit of max to the natural exponent. With `normalized` acc is divided
    already.

    Shapes: acc [B, H, Sq, Dv] or [Br, Dv]; max, sum and lse [B, H, Sq] or [Br].
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

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["ForwardOp", "UpdateOp"]>]> {
  let summary = "yields a score (f32) or a mask element (i1)";
  let arguments = (ins AnyTypeOf<[F32, I1]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // FA_DIALECT_ATTN_IR_ATTNOPS_TD
