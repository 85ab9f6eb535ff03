//===- AttnTypes.td - Types of the attention dialect's operands -*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_DIALECT_ATTN_IR_ATTNTYPES_TD
#define FA_DIALECT_ATTN_IR_ATTNTYPES_TD

include "mlir/IR/CommonTypeConstraints.td"

/// What Q, K, V and O are made of.
def Attn_Element : AnyTypeOf<[F16, BF16, F32]>;

/// Whole tensors, [B, H, S, D].
def Attn_Tensor4 : TensorRankOf<[Attn_Element], [4]>;
/// Whole row statistics, [B, H, S].
def Attn_RowStats : TensorRankOf<[F32], [3]>;

/// A whole tensor, or a tile of one head: [S, D].
def Attn_TensorOrTile : TensorRankOf<[Attn_Element], [2, 4]>;
def Attn_AccOrTile : TensorRankOf<[F32], [2, 4]>;
def Attn_RowsOrTile : TensorRankOf<[F32], [1, 3]>;

#endif // FA_DIALECT_ATTN_IR_ATTNTYPES_TD
