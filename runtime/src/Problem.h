//===- Problem.h - Sizes and checks of a forward pass -----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything about the arguments of a forward pass that does not depend on the
// kernel that will run it.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_PROBLEM_H
#define FLASHLOOM_RUNTIME_PROBLEM_H

#include "Kernel.h"

namespace fa::rt {

/// Kernels move q, k, v and o in pieces of 16 bytes and lse in pieces of 4; the
/// address of a workspace is a multiple of 16.
inline constexpr int64_t kPieceBytes = 16, kLseBytes = 4;
inline constexpr int64_t kWorkspaceAddressBytes = 16;

/// The sizes of a forward pass, taken from its tensors.
struct Problem {
  fa_dtype dtype;
  std::string variant;
  int64_t batch, heads, kvHeads, seqQ, seqKv, headDim, headDimV;

  /// No output element: there is nothing to launch.
  bool empty() const { return batch == 0 || heads == 0 || seqQ == 0; }

  /// Heads of q that read one head of k and v.
  int64_t group() const { return kvHeads ? heads / kvHeads : 1; }

  /// "fwd bf16, head_dim 128, head_dim_v 128, variant causal".
  std::string describe() const;
};

/// Checks every rule of fa_forward_params and returns the sizes. Throws
/// Failure(FA_INVALID_ARGUMENT) that names the argument, the rule and the
/// value.
Problem checkProblem(const fa_forward_params *params);

/// Checks that lse's rows are neighbours, as kernels know them to be. Where
/// heads are packed as rows, `params` are those after it. Throws
/// Failure(FA_INVALID_ARGUMENT).
void checkRowStride(const fa_forward_params &params);

/// The problem's size that an argument (Batch to SeqKv) stands for.
int64_t sizeOf(Argument argument, const Problem &problem);

/// Extra arguments, one after another.
struct ExtraRange {
  const fa_extra *first = nullptr;
  size_t count = 0;

  const fa_extra *begin() const { return first; }
  const fa_extra *end() const { return first + count; }
};

/// The extra arguments; none for a caller that does not know of them. Throws
/// Failure(FA_INVALID_ARGUMENT) where there is a number but no array.
ExtraRange extrasOf(const fa_forward_params &params);

/// What the caller says about workspaces and parts of the keys.
struct WorkspaceArguments {
  void *data = nullptr;
  size_t bytes = 0;
  int32_t splits = 0; ///< 0: the runtime's choice
};

/// The caller's; none for a caller that does not know of them.
WorkspaceArguments workspaceOf(const fa_forward_params &params);

/// Bits of fa_forward_flag; none for a caller that does not know of them.
uint64_t flagsOf(const fa_forward_params &params);

/// A copy of what the caller has, of which fields that it does not know of are
/// 0.
fa_forward_params copyOf(const fa_forward_params &params);

/// The tensor that an argument stands for (Q, K, V, O or Lse).
const fa_tensor &tensorOf(Argument argument, const fa_forward_params &params);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_PROBLEM_H
