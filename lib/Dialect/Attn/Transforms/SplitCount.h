//===- SplitCount.h - How many parts keys are split into -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_ATTN_TRANSFORMS_SPLITCOUNT_H
#define FA_LIB_DIALECT_ATTN_TRANSFORMS_SPLITCOUNT_H

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace fa::attn {

/// Builds, in front of `forall`, the number of parts of the keys: the smallest
/// n, of those that leave each part a block, whose occupancy is at least 95% of
/// the best. Occupancy is the share of the `capacity` places for thread blocks
/// that the blocks of all waves fill: n blocks over waves times places. `loop`
/// is a KV loop of the fold around `update`.
mlir::Value buildSplitCount(mlir::OpBuilder &builder,
                            mlir::scf::ForallOp forall, UpdateOp update,
                            mlir::scf::ForOp loop, int64_t capacity);

} // namespace fa::attn

#endif // FA_LIB_DIALECT_ATTN_TRANSFORMS_SPLITCOUNT_H
