//===- CtaAttrs.td - Attributes of the cta dialect ---------*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of work items, the grid's extents, and how a tile is loaded.
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_CTA_IR_CTAATTRS_TD
#define FA_DIALECT_CTA_IR_CTAATTRS_TD

include "fa/Dialect/Cta/IR/CtaDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Cta_Attr<string name, string attrMnemonic> : AttrDef<Cta_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Cta_WorkOrder : I32EnumAttr<"WorkOrder", "order of the work items", [
    I32EnumAttrCase<"Natural", 0, "natural">,
    I32EnumAttrCase<"LPT", 1, "lpt">,
    I32EnumAttrCase<"Balanced", 2, "balanced">,
    I32EnumAttrCase<"Paired", 3, "paired">,
    I32EnumAttrCase<"Mirrored", 4, "mirrored">]> {
  let cppNamespace = "::fa::cta";
  let genSpecializedAttr = 0;
}

def Cta_Persistence : I32EnumAttr<"Persistence",
    "how many work items a thread block runs, and which", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Static", 1, "static">,
    I32EnumAttrCase<"Dynamic", 2, "dynamic">]> {
  let cppNamespace = "::fa::cta";
  let genSpecializedAttr = 0;
}

def Cta_LoadKind : I32EnumAttr<"LoadKind", "who loads a tile", [
    I32EnumAttrCase<"Once", 0, "once">,
    I32EnumAttrCase<"Each", 1, "each">]> {
  let cppNamespace = "::fa::cta";
  let genSpecializedAttr = 0;
}

def Cta_LoadKindAttr : EnumAttr<Cta_Dialect, Cta_LoadKind, "load_kind">;

def Cta_OrderAttr : Cta_Attr<"Order", "order"> {
  let summary = "the order in which work items are started";
  let description = [{
    `natural`: the first coordinate runs fastest, upwards. `lpt` (longest
    processing time first): the same with the first coordinate running
    downwards, for causal problems, whose last blocks are the longest.
    `group_bytes` groups the other coordinates so that what a group reads
    again and again (the keys and values of its heads) fits so many bytes.

    `balanced` is for static blocks and items that are the longer the larger
    their first coordinate is: pairs of the longest and the shortest, and at the
    end single items, the longest first, in shares that are almost equal
    (fa/Schedule/BalancedOrder.h has the formula).

    `paired` is for static blocks and items of which every two neighbours, 2 n
    and 2 n + 1 of the first coordinate, are about as long together as their
    other neighbours: blocks of sequences of any length, where only a table
    knows which are long. A block runs both one after the other
    (fa/Schedule/PairedOrder.h).

    `mirrored` is for static blocks and items that the others share data with,
    as a head's blocks of rows do its keys and values: pairs of the first and the
    last, the next ones and so on, of one head after the other, so that what they
    share is read from memory once (fa/Schedule/MirroredOrder.h).

    `persistent` says that a thread block runs many items, which all of its
    roles run in the same order. `static`: of g blocks, block b runs items b,
    b + g, b + 2g and so on, unless the order is one of shares (`balanced`,
    `paired`, `mirrored`). `dynamic`: a block takes the next item that nobody has
    taken.

    ```mlir
    #cta.order<lpt, group_bytes = 33554432>
    #cta.order<natural, persistent = static>
    #cta.order<balanced, persistent = static>
    #cta.order<paired, persistent = static>
    #cta.order<mirrored, persistent = static>
    ```
  }];
  let parameters = (ins "::fa::cta::WorkOrder":$kind, "int64_t":$groupBytes,
                        "::fa::cta::Persistence":$persistence);
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "::fa::cta::WorkOrder":$kind,
                     CArg<"int64_t", "0">:$groupBytes,
                     CArg<"::fa::cta::Persistence",
                          "::fa::cta::Persistence::None">:$persistence),
                [{ return $_get($_ctxt, kind, groupBytes, persistence); }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cta_ExtentAttr : Cta_Attr<"Extent", "extent"> {
  let summary = "one extent of the grid";
  let description = [{
    The size of dimension `dim` of the kernel's argument `arg`, divided by
    `tile` and rounded up; where `plusArg` is given, and the size of that
    argument's dimension `plusDim`. The grid is the product of the extents.

    ```mlir
    #cta.extent<arg = 0, dim = 2, tile = 128>
    #cta.extent<arg = 0, dim = 1, tile = 128, plusArg = 4, plusDim = 0>
    ```
  }];
  let parameters = (ins "int64_t":$arg, "int64_t":$dim, "int64_t":$tile,
                        DefaultValuedParameter<"int64_t", "kNone">:$plusArg,
                        DefaultValuedParameter<"int64_t", "0">:$plusDim);
  let extraClassDeclaration = [{
    /// The plusArg of an extent without one.
    static constexpr int64_t kNone = -1;
  }];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cta_TensorMapAttr : Cta_Attr<"TensorMap", "tensor_map"> {
  let summary = "a tensor map that the launch makes for a kernel";
  let description = [{
    The map (PTX's `CUtensorMap`) of the kernel's argument `arg`, for tiles of
    `rows` x `cols` elements with a swizzle of `swizzle` bytes. The
    map has five dimensions, innermost first: the columns of one swizzled
    segment, rows, segments, heads, batches; those that the argument lacks have
    the size 1. The box is {swizzle / element size, rows, segments of the tile,
    1, 1}. Rows that the tensor does not have are read as 0 and not written.

    Where `cols` is not of whole segments, which it only is where it is the
    argument's number of columns, and where that number is dynamic, the first
    dimension is the whole row, the third has the size 1, and a box is one
    segment of a tile. Columns that it has beyond the row are read as 0 and not
    written.

    The array `cta.tensor_maps` on a kernel lists its maps in the order of the
    parameters that take them, which follow all others; each is 128 bytes, by
    value.

    ```mlir
    #cta.tensor_map<arg = 1, rows = 128, cols = 128, swizzle = 128>
    ```
  }];
  let parameters = (ins "int64_t":$arg, "int64_t":$rows, "int64_t":$cols,
                        "int64_t":$swizzle);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // FA_DIALECT_CTA_IR_CTAATTRS_TD
