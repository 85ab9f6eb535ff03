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
    `attn.forward` that writes its meaning into the op's regions. The build
    methods write at the builder's insertion point, which is inside a region.
  }];
  let methods = [
    InterfaceMethod<[{Whether this variant hides keys.}], "bool", "hasMask",
      (ins), "", [{ return false; }]>,
    InterfaceMethod<[{Whether this variant changes scores.}], "bool", "hasScore",
      (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      Builds the i1 that says whether key `j` is visible to query `i`.
      }], "::mlir::Value", "buildMask",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "const ::fa::attn::VariantScope &":$scope), "",
      [{ llvm_unreachable("this variant hides no keys"); }]>,
    InterfaceMethod<[{
      Builds the new score from `score`, a scalar of any float type, in that type.
      }], "::mlir::Value", "buildScore",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::Value":$score, "const ::fa::attn::VariantScope &":$scope), "",
      [{ llvm_unreachable("this variant changes no scores"); }]>,
  ];
}

#endif // FA_DIALECT_ATTN_IR_ATTNINTERFACES_TD
