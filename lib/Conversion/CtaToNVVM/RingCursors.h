//===- RingCursors.h - Where the sides of rings are ----------- -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ring's user goes through the stages in turn with a cursor: the stage, and
// the parity of the barriers' phase, which changes each time round. Cursors are
// constants where the program's text says them, and i32 values carried by loops
// and branches otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_CTATONVVM_RINGCURSORS_H
#define FA_LIB_CONVERSION_CTATONVVM_RINGCURSORS_H

#include "Hopper.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace fa {

/// Where one side of a ring is: i32 values.
struct Cursor {
  mlir::Value stage, parity;
};
/// A ring or load; for a ring that is filled for one team after the other, the
/// team; and 1 for the side that fills, 0 for the one that reads.
using Side = std::tuple<mlir::Operation *, int64_t, int>;
using Cursors = llvm::MapVector<Side, Cursor>;

/// The side that `op` advances, if it does.
std::optional<Side> getSide(mlir::Operation *op);

/// The sides that operations inside `op` advance.
llvm::SmallVector<Side> findMoved(mlir::Operation *op);

/// The next stage: after the last one comes the first, with the other parity.
Cursor advance(mlir::ImplicitLocOpBuilder &b, Cursor cursor, int64_t stages);

/// Expands what is in a block, from these cursors to those at its end.
using BlockExpander = llvm::function_ref<void(mlir::Block &, Cursors &)>;

/// Expands the body of `loop`, which is made again with what it must carry of
/// `cursors`; they end as the loop's results.
void carryThroughLoop(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop,
                      const HopperKernel &kernel, Cursors &cursors,
                      BlockExpander expand);

/// The same where the loop ends when its first region, which has no rings,
/// says so.
void carryThroughWhile(mlir::RewriterBase &rewriter, mlir::scf::WhileOp loop,
                       const HopperKernel &kernel, Cursors &cursors,
                       BlockExpander expand);

/// Expands the regions of `op`, a branch, which is made again with results for
/// what its ways leave different of `cursors`.
void carryThroughBranch(mlir::RewriterBase &rewriter, mlir::Operation *op,
                        Cursors &cursors, BlockExpander expand);

} // namespace fa

#endif // FA_LIB_CONVERSION_CTATONVVM_RINGCURSORS_H
