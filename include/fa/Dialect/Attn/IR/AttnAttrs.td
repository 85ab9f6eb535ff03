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

class Attn_Variant<string name, string attrMnemonic, list<string> methods>
    : Attn_Attr<name, attrMnemonic, [
        DeclareAttrInterfaceMethods<Attn_VariantAttrInterface, methods>]>;

def Attn_CausalAttr : Attn_Variant<"Causal", "causal", ["hasMask", "buildMask"]> {
  let summary = "a query sees the keys up to its own position";
  let description = [{
    Causal mask, aligned to the bottom right corner of the score matrix: query i
    of Sq sees key j of Skv where `j <= i + Skv - Sq`. With Sq > Skv the first
    Sq - Skv queries see no key. Sq and Skv are the lengths of the sequence
    where these differ within a batch.
  }];
}

def Attn_WindowAttr : Attn_Variant<"Window", "window", ["hasMask", "buildMask"]> {
  let summary = "a query sees the keys near its own position";
  let description = [{
    Sliding window, inclusive at both ends, aligned to the bottom right corner:
    query i of Sq sees key j of Skv where `p - left <= j <= p + right` with
    `p = i + Skv - Sq`. A side that is left out is open; `left = 0` is the
    query's own position and not "no window".

    Example: `#attn.window<left = 1023, right = 0>`: causal, 1024 keys at most.
  }];
  let parameters = (ins OptionalParameter<"std::optional<int64_t>">:$left,
                        OptionalParameter<"std::optional<int64_t>">:$right);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_SoftcapAttr : Attn_Variant<"Softcap", "softcap", ["hasScore", "buildScore"]> {
  let summary = "scores bounded smoothly";
  let description = [{
    `cap * tanh(s / cap)` of the scaled score s, with `cap` > 0, as in Gemma 2.

    Example: `#attn.softcap<30.0>`.
  }];
  let parameters = (ins "::mlir::FloatAttr":$cap);
  let assemblyFormat = "`<` $cap `>`";
  let genVerifyDecl = 1;
}

def Attn_AlibiAttr : Attn_Variant<"Alibi", "alibi", ["hasScore", "buildScore"]> {
  let summary = "scores lowered with distance, by a slope for each head";
  let description = [{
    `s - slope(h) * |i + Skv - Sq - j|` with the slopes of Press et al., "Train
    Short, Test Long" (2022): with n the largest power of two up to Hq,
    `slope(h) = 2^(-8 (h + 1) / n)` for h < n and `2^(-4 (2 (h - n) + 1) / n)`
    for the rest. Other slopes are a score region that reads a tensor.
  }];
}

def Attn_Partition : I32EnumAttr<"Partition", "how teams share a block's work", [
    I32EnumAttrCase<"SplitQ", 0, "split_q">,
    I32EnumAttrCase<"SplitK", 1, "split_k">]> {
  let cppNamespace = "::fa::attn";
  let genSpecializedAttr = 0;
}
def Attn_PartitionAttr : EnumAttr<Attn_Dialect, Attn_Partition, "partition">;

def Attn_Rescale : I32EnumAttr<"Rescale", "when a state moves to a new maximum", [
    I32EnumAttrCase<"Always", 0, "always">,
    I32EnumAttrCase<"Lazy", 1, "lazy">,
    I32EnumAttrCase<"FirstMax", 2, "first_max">]> {
  let cppNamespace = "::fa::attn";
  let genSpecializedAttr = 0;
}

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
    - `rescale`: what `--online-softmax` does where a block raises a row's
      maximum: `always` (the default), `lazy` or `first_max`.

    Example: `#attn.schedule<target = "sm_80", br = 128, bc = 64, teams = 4,
    warps = 1, stages = 2, partition = split_q>`.
  }];
  let parameters = (ins
    StringRefParameter<>:$target, "int64_t":$br, "int64_t":$bc,
    "int64_t":$teams, "int64_t":$warps, "int64_t":$stages,
    EnumParameter<Attn_Partition>:$partition,
    DefaultValuedParameter<"::fa::attn::Rescale", "::fa::attn::Rescale::Always">:$rescale);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // FA_DIALECT_ATTN_IR_ATTNATTRS_TD
