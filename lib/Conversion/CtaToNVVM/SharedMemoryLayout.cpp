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

/// Whether the warps' own slabs of `store`'s fragment fit into the rows of
/// `load`'s tile that the same warps read as slabs, and these are not read any
/// more.
static bool canReuse(cta::LoadOp load, cta::StoreOp store) {
  auto value = cast<VectorType>(store.getValue().getType());
  cta::TileType tile = load.getTile().getType();
  SwizzledTile needed{value.getDimSize(0), value.getDimSize(1)};
  if (load.getKind() != cta::LoadKind::Each || tile.getRows() != needed.rows ||
      tile.getByteSize() < needed.segments() * needed.segmentStride())
    return false;
  Block *block = store->getBlock();
  auto isOver = [&](Operation *user) {
    auto mma = dyn_cast<cta::MmaOp>(user);
    Operation *inBlock = block->findAncestorOpInBlock(*user);
    return mma && mma.getA() == load.getTile() && inBlock &&
           inBlock->isBeforeInBlock(store);
  };
  return block->findAncestorOpInBlock(*load) &&
         llvm::all_of(load->getUsers(), isOver);
}

/// Finds the tile that each store of a 16-bit fragment can pass through.
static void findStoreScratch(Kernel &kernel) {
  llvm::SmallPtrSet<Operation *, 4> taken;
  kernel.func.walk([&](cta::StoreOp store) {
    auto type = cast<VectorType>(store.getValue().getType());
    std::optional<FragmentLayout> layout =
        FragmentLayout::get(type.getShape(), kernel.warps);
    if (!layout || layout->kind != FragmentKind::Matrix ||
        type.getElementTypeBitWidth() != 16 || type.getDimSize(1) % kStepDepth)
      return;
    kernel.func.walk([&](cta::LoadOp load) {
      if (kernel.storeScratch.contains(store) || !canReuse(load, store) ||
          !taken.insert(load).second)
        return;
      int64_t bytes =
          llvm::alignTo(load.getTile().getType().getByteSize(), kTileAlignment);
      kernel.storeScratch[store] = {kernel.sharedOffset.lookup(load), bytes};
    });
  });
}

int64_t fa::getCombineBytes(const Kernel &kernel, cta::CombineOp op) {
  auto type = cast<VectorType>(op.getValue().getType());
  std::optional<FragmentLayout> layout =
      FragmentLayout::get(type.getShape(), kernel.warps);
  int64_t elements = ShapedType::getNumElements(layout->threadShape());
  return kernel.warps * kWarpThreads * elements * sizeof(float);
}

LogicalResult fa::layOutSharedMemory(Kernel &kernel) {
  auto placeBytes = [&](Operation *op, int64_t size, int64_t copies) {
    kernel.sharedOffset[op] = kernel.sharedBytes;
    int64_t bytes = llvm::alignTo(size, kTileAlignment);
    int64_t rest = kMaxSharedBytes - kernel.sharedBytes;
    if (copies > rest / bytes)
      return LogicalResult(op->emitOpError("needs more shared memory than any "
                                           "GPU has for a block: ")
                           << copies << " times " << bytes << " bytes, and "
                           << rest << " are left");
    kernel.sharedBytes += copies * bytes;
    return LogicalResult::success();
  };
  auto place = [&](Operation *op, cta::TileType tile, int64_t copies) {
    if (failed(checkTile(op, tile)))
      return LogicalResult::failure();
    return placeBytes(op, tile.getByteSize(), copies);
  };
  WalkResult result = kernel.func.walk([&](Operation *op) {
    LogicalResult placed = success();
    if (auto load = dyn_cast<cta::LoadOp>(op))
      placed = place(op, load.getTile().getType(),
                     load.getKind() == cta::LoadKind::Each ? kernel.teams : 1);
    else if (auto ring = dyn_cast<cta::RingOp>(op))
      placed = place(op, ring.getRing().getType().getTile(),
                     ring.getRing().getType().getStages());
    else if (auto combine = dyn_cast<cta::CombineOp>(op))
      placed =
          placeBytes(op, kernel.teams * getCombineBytes(kernel, combine), 1);
    return failed(placed) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  findStoreScratch(kernel);
  return success();
}
