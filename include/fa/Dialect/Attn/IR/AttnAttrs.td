//===- AttnAttrs.td - Attributes of the attention dialect -*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_DIALECT_ATTN_IR_ATTNATTRS_TD
#define FA_DIALECT_ATTN_IR_ATTNATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "fa/Dialect/Attn/IR/AttnDialect.td"
include "fa/Dialect/Attn/IR/AttnInterfaces.td"

class Attn_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Attn_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Attn_CausalAttr : Attn_Attr<"Causal", "causal", [
    DeclareAttrInterfaceMethods<Attn_VariantAttrInterface>]> {
  let summary = "a query sees the keys up to its own position";
  let description = [{
    Causal mask, aligned to the bottom right corner of the score matrix: query i
    of Sq sees key j of Skv where `j <= i + Skv - Sq`. With Sq > Skv the first
    Sq - Skv queries see no key.
  }];
}

def Attn_Partition : I32EnumAttr<"Partition", "how teams share a block's work", [
    I32EnumAttrCase<"SplitQ", 0, "split_q">,
    I32EnumAttrCase<"SplitK", 1, "split_k">]> {
  let cppNamespace = "::fa::attn";
  let genSpecializedAttr = 0;
}
def Attn_PartitionAttr : EnumAttr<Attn_Dialect, Attn_Partition, "partition">;

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "the choices that the passes after --choose-schedule read";
  let description = [{
    Hangs on the function that holds the problem, as `attn.schedule`.

    - `target`: the GPU, as ptxas names it (`sm_80`).
    - `br`, `bc`: rows of Q and of K/V in a block.
    - `teams`, `warps`: a thread block is `teams` teams of `warps` warps.
    - `stages`: blocks of K and of V that shared memory holds.
    - `partition`: `split_q` gives each team its own rows of the block
      (FlashAttention 2), `split_k` its own columns (FlashAttention 1).

    Example: `#attn.schedule<target = "sm_80", br = 128, bc = 64, teams = 4,
    warps = 1, stages = 2, partition = split_q>`.
  }];
  let parameters = (ins
    StringRefParameter<>:$target, "int64_t":$br, "int64_t":$bc,
    "int64_t":$teams, "int64_t":$warps, "int64_t":$stages,
    EnumParameter<Attn_Partition>:$partition);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // FA_DIALECT_ATTN_IR_ATTNATTRS_TD
