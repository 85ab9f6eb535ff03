//===- BlockLists.h - KV loops over lists of blocks -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_ATTN_TRANSFORMS_BLOCKLISTS_H
#define FA_LIB_DIALECT_ATTN_TRANSFORMS_BLOCKLISTS_H

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

#include <string>

namespace fa::attn {

/// Makes the update one over full blocks: no mask, `block` keys.
void makeFullBlock(mlir::RewriterBase &rewriter, UpdateOp update,
                   int64_t block);

/// Replaces `loop`, the KV loop around `update`, by loops over the blocks that
/// an `attn.block_list` in front of the parallel loop finds. On failure
/// `reason` says why and the IR is unchanged.
mlir::LogicalResult listBlocks(mlir::RewriterBase &rewriter,
                               mlir::scf::ForOp loop, UpdateOp update,
                               std::string &reason);

} // namespace fa::attn

#endif // FA_LIB_DIALECT_ATTN_TRANSFORMS_BLOCKLISTS_H
