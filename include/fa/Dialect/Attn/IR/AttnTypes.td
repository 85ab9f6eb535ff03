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

/// Whole tensors: [B, H, S, D], or [H, S, D] of one sequence or of several
/// packed one after the other.
def Attn_Tensor : TensorRankOf<[Attn_Element], [3, 4]>;
/// Whole row statistics, [B, H, S] or [H, S].
def Attn_RowStats : TensorRankOf<[F32], [2, 3]>;
/// The first row of each sequence in a packed tensor and the end, or the length
/// of each sequence.
def Attn_Lengths : TensorRankOf<[I32], [1]>;

/// A whole tensor, or a tile of one head: [S, D].
def Attn_TensorOrTile : TensorRankOf<[Attn_Element], [2, 3, 4]>;
def Attn_AccOrTile : TensorRankOf<[F32], [2, 3, 4]>;
def Attn_RowsOrTile : TensorRankOf<[F32], [1, 2, 3]>;

/// The same with a leading dimension of partial states.
def Attn_PartialAcc : TensorRankOf<[F32], [3, 4, 5]>;
def Attn_PartialRows : TensorRankOf<[F32], [2, 3, 4]>;
def Attn_AccOrPartial : TensorRankOf<[F32], [2, 3, 4, 5]>;
def Attn_RowsOrPartial : TensorRankOf<[F32], [1, 2, 3, 4]>;

#endif // FA_DIALECT_ATTN_IR_ATTNTYPES_TD
