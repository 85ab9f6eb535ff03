//===- SharedMemoryLayout.cpp - Where tiles lie in shared memory ----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads and rings get consecutive places, in the order of the program; every
// tile starts at a multiple of the swizzle's period.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fa;

/// What a thread block can have on the largest of the targets (fa/Target).
static constexpr int64_t kMaxSharedBytes = 227 << 10;

/// Checks that the lowering can address `tile`.
static LogicalResult checkTile(Operation *op, cta::TileType tile) {
  if (tile.getSwizzle() != kSegmentBytes)
    return op->emitOpError("has no sm_80 form with a tile whose swizzle is not "
                           "128, but found ")
           << tile;
  if (!tile.getElementType().isF16() && !tile.getElementType().isBF16())
    return op->emitOpError("has no sm_80 form with tiles of other than f16 and "
                           "bf16, but found ")
           << tile;
  if (tile.getRows() % 8)
    return op->emitOpError("has no sm_80 form with tiles whose rows are no "
                           "multiple of 8, but found ")
           << tile;
  return success();
}

LogicalResult fa::layOutSharedMemory(Kernel &kernel) {
  auto place = [&](Operation *op, cta::TileType tile, int64_t copies) {
    if (failed(checkTile(op, tile)))
      return failure();
    kernel.sharedOffset[op] = kernel.sharedBytes;
    int64_t bytes = llvm::alignTo(tile.getByteSize(), kTileAlignment);
    int64_t rest = kMaxSharedBytes - kernel.sharedBytes;
    if (copies > rest / bytes)
      return LogicalResult(op->emitOpError("needs more shared memory than any "
                                           "GPU has for a block: ")
                           << copies << " times " << bytes << " bytes, and "
                           << rest << " are left");
    kernel.sharedBytes += copies * bytes;
    return LogicalResult::success();
  };
  WalkResult result = kernel.func.walk([&](Operation *op) {
    LogicalResult placed = success();
    if (auto load = dyn_cast<cta::LoadOp>(op))
      placed = place(op, load.getTile().getType(),
                     load.getKind() == cta::LoadKind::Each ? kernel.teams : 1);
    else if (auto ring = dyn_cast<cta::RingOp>(op))
      placed = place(op, ring.getRing().getType().getTile(),
                     ring.getRing().getType().getStages());
    return failed(placed) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
