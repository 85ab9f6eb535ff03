//===- AttnDialect.td - The attention dialect -*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_DIALECT_ATTN_IR_ATTNDIALECT_TD
#define FA_DIALECT_ATTN_IR_ATTNDIALECT_TD

include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::fa::attn";
  let summary = "Attention as a mathematical problem, and as a fold over blocks of keys";
  let description = [{
    Levels A and B of the staircase.

    Level A is `attn.forward`: O and LSE of attention over whole tensors, with
    everything that makes a variant (scale, score function, mask) as an operand,
    an attribute or a region.

    Level B says the same as a fold: `attn.init` makes an empty state (acc, max,
    sum) for each query row, `attn.update` folds a block of keys and values into
    it, and `attn.finalize` turns it into O and LSE. An update over all keys
    equals the updates over the blocks of any partition of them, in order or each
    into a state of its own with `attn.merge` over those: that is the algebra
    behind the tiling passes (Milakov and Gimelshein, "Online normalizer
    calculation for softmax", 2018; Dao et al., "FlashAttention", 2022).
    `attn.block_list` says which blocks a mask leaves, where that is known at run
    time only.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // FA_DIALECT_ATTN_IR_ATTNDIALECT_TD
