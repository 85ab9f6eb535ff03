//===- AttnInterfaces.td - Interfaces of the attention dialect -*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_DIALECT_ATTN_IR_ATTNINTERFACES_TD
#define FA_DIALECT_ATTN_IR_ATTNINTERFACES_TD

include "mlir/IR/Interfaces.td"

def Attn_VariantAttrInterface : AttrInterface<"VariantAttrInterface"> {
  let cppNamespace = "::fa::attn";
  let description = [{
    Sugar for a common variant: an attribute in the `using` list of
    `attn.forward` that writes its meaning into the op's regions. `mask` and
    `score` build the expression at the builder's insertion point (inside the
    region) and return it, or null where the variant has no such part. Lengths
    are those of the whole problem, in elements.
  }];
  let methods = [
    InterfaceMethod<[{Whether this variant hides keys.}], "bool", "hasMask">,
    InterfaceMethod<[{
      Builds the i1 that says whether key `j` is visible to query `i`.
      }], "::mlir::Value", "buildMask",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$bhij, "::mlir::Value":$seqQ,
           "::mlir::Value":$seqKV)>,
  ];
}

#endif // FA_DIALECT_ATTN_IR_ATTNINTERFACES_TD
