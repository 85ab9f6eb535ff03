//===- HopperLayout.cpp - Shared memory and barriers of the sm_90 form ----===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Barriers and marks come first, then the stages of rings and the tiles of
// loads, each at a multiple of the swizzle's period, then the tiles by which
// stores go out.
//
//===----------------------------------------------------------------------===//

#include "Hopper.h"
#include "fa/Conversion/CtaToNVVM/WgmmaDescriptor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fa;

/// What a thread block can have (CUDA C++ Programming Guide, "Compute
/// Capability 9.0").
static constexpr int64_t kMaxSharedBytes = 227 << 10;
/// The bytes of an mbarrier object.
static constexpr int64_t kBarrierBytes = 8;
/// The named barriers of a block; number 0 is the whole block's.
static constexpr int64_t kNamedBarriers = 16;

//===----------------------------------------------------------------------===//
// Rings and loads
//===----------------------------------------------------------------------===//

/// Who frees a stage: each warp of the teams that read it.
static int64_t countArrivals(const HopperKernel &kernel, cta::RingOp ring) {
  llvm::SmallSetVector<int64_t, 4> roles;
  int64_t teams = 0;
  for (Operation *user : ring->getUsers()) {
    if (!isa<cta::ConsumeOp>(user))
      continue;
    const HopperRole &role = kernel.getRole(user);
    if (roles.insert(role.firstTeam))
      teams += ring.getTeams() ? 1 : role.teams;
  }
  return teams * kGroupWarps;
}

/// Notes what `op`, a ring or a load, takes.
static LogicalResult addStaging(HopperKernel &kernel, Operation *op) {
  Staging staging;
  if (auto ring = dyn_cast<cta::RingOp>(op)) {
    staging.tile = ring.getRing().getType().getTile();
    staging.stages = ring.getRing().getType().getStages();
    staging.copies = ring.getTeams().value_or(1);
    staging.arrivals = countArrivals(kernel, ring);
    if (!staging.arrivals && !ring->use_empty())
      return op->emitOpError("has no sm_90 form where nobody consumes it");
  } else {
    auto load = cast<cta::LoadOp>(op);
    staging.tile = load.getTile().getType();
    if (load.getKind() == cta::LoadKind::Each)
      staging.copies = kernel.getRole(op).teams;
  }
  kernel.stagings[op] = staging;
  return success();
}

/// Gives barriers and stages their places.
static LogicalResult placeStagings(HopperKernel &kernel) {
  for (auto &[op, staging] : kernel.stagings) {
    int64_t bytes = staging.stages * staging.copies * kBarrierBytes;
    staging.full = kernel.barrierBytes;
    kernel.barrierBytes += bytes;
    if (!staging.arrivals)
      continue;
    staging.empty = kernel.barrierBytes;
    kernel.barrierBytes += bytes;
  }
  if (kernel.marks)
    kernel.barrierBytes = placeMarks(*kernel.marks, kernel.barrierBytes);
  if (kernel.handout)
    kernel.barrierBytes = placeHandout(*kernel.handout, kernel.barrierBytes);
  kernel.sharedBytes = llvm::alignTo(kernel.barrierBytes, kTileAlignment);
  for (auto &[op, staging] : kernel.stagings) {
    int64_t count = staging.stages * staging.copies;
    int64_t rest = kMaxSharedBytes - kernel.sharedBytes;
    if (count > rest / staging.stageBytes())
      return op->emitOpError("needs more shared memory than a block has: ")
             << count << " times " << staging.stageBytes() << " bytes, and "
             << rest << " are left";
    staging.offset = kernel.sharedBytes;
    kernel.sharedBytes += count * staging.stageBytes();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// The tile that a store's fragment makes; none where it is no 16-bit matrix
/// that a tensor map can store.
static std::optional<cta::TileType> getStoredTile(cta::StoreOp store) {
  auto type = cast<VectorType>(store.getValue().getType());
  if (type.getRank() != 2 || type.getElementTypeBitWidth() != 16)
    return std::nullopt;
  auto tile = cta::TileType::get(type.getDimSize(0), type.getDimSize(1),
                                 type.getElementType(), kSegmentBytes);
  if (!whyNoTensorMap(store.getDestination(), store.getIndices(), tile).empty())
    return std::nullopt;
  return tile;
}

/// Whether nobody reads `tile`, which its team loads, from `store` on, and who
/// loads it next waits for what comes after the store: the team itself, or the
/// role that waits for its release.
static bool isFreeAt(Operation *owner, Value tile, cta::StoreOp store) {
  Block *block = store->getBlock();
  if (!block->findAncestorOpInBlock(*owner))
    return false;
  bool released = !isa<cta::ConsumeOp>(owner);
  for (Operation *user : tile.getUsers()) {
    Operation *inBlock = block->findAncestorOpInBlock(*user);
    if (!inBlock)
      return false;
    bool isRelease = isa<cta::ReleaseOp>(user);
    if (isRelease != store->isBeforeInBlock(inBlock))
      return false;
    released |= isRelease;
  }
  return released;
}

/// A tile that each team has for itself and that is free where `store` stands.
static std::optional<BulkStore>
findFreeTile(HopperKernel &kernel, cta::StoreOp store, cta::TileType tile) {
  const HopperRole &role = kernel.getRole(store);
  for (auto &[op, staging] : kernel.stagings) {
    if (staging.stages != 1 || staging.copies != role.teams ||
        staging.stageBytes() < tile.getByteSize())
      continue;
    Value result = op->getResult(0);
    bool isFree = isa<cta::LoadOp>(op) && isFreeAt(op, result, store);
    for (Operation *user : op->getUsers())
      if (auto consume = dyn_cast<cta::ConsumeOp>(user))
        isFree |= isFreeAt(consume, consume.getTile(), store);
    if (!isFree)
      continue;
    int64_t first = staging.offset - role.firstTeam * staging.stageBytes();
    return BulkStore{tile, role.firstTeam, first, staging.stageBytes(), true,
                     true};
  }
  return std::nullopt;
}

/// Whether a block may reach `op` more than once.
static bool isRepeated(Operation *op) {
  auto work = op->getParentOfType<cta::WorkOp>();
  return op->getParentOfType<LoopLikeOpInterface>() ||
         (work && work.getOrder().getPersistence() != cta::Persistence::None);
}

/// Finds the way out of each 16-bit fragment: tiles of its own if there is
/// room, which stores of one size share, else one that the team has no more
/// use for.
static void placeStores(HopperKernel &kernel) {
  llvm::MapVector<std::pair<int64_t, cta::TileType>, BulkStore> own;
  kernel.func.walk([&](cta::StoreOp store) {
    std::optional<cta::TileType> tile = getStoredTile(store);
    if (!tile)
      return;
    const HopperRole &role = kernel.getRole(store);
    auto known = own.find({role.firstTeam, *tile});
    if (known != own.end()) {
      known->second.isShared = true;
      kernel.bulkStores[store] = known->second;
      return;
    }
    int64_t bytes = llvm::alignTo(tile->getByteSize(), kTileAlignment);
    if (role.teams * bytes <= kMaxSharedBytes - kernel.sharedBytes) {
      BulkStore place{
          *tile, role.firstTeam,    kernel.sharedBytes - role.firstTeam * bytes,
          bytes, isRepeated(store), /*isLoaded=*/false};
      kernel.sharedBytes += role.teams * bytes;
      own[{role.firstTeam, *tile}] = place;
      kernel.bulkStores[store] = place;
    } else if (auto free = findFreeTile(kernel, store, *tile)) {
      kernel.bulkStores[store] = *free;
    }
  });
}

//===----------------------------------------------------------------------===//
// Named barriers
//===----------------------------------------------------------------------===//

/// Number 0 is the block's; then one for each team, then those of the program.
static LogicalResult placeBarriers(HopperKernel &kernel) {
  int64_t next = 1 + kernel.teams;
  WalkResult result = kernel.func.walk([&](cta::BarrierOp op) {
    kernel.barriers[op] = next;
    next += op.getBarrier().getType().getCount();
    if (next <= kNamedBarriers)
      return WalkResult::advance();
    op.emitOpError("needs more named barriers than a block has: ")
        << next << " with those of " << kernel.teams << " teams, of "
        << kNamedBarriers;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult fa::layOutHopper(HopperKernel &kernel) {
  WalkResult result = kernel.func.walk([&](Operation *op) {
    if (!isa<cta::RingOp, cta::LoadOp>(op))
      return WalkResult::advance();
    return WalkResult(addStaging(kernel, op));
  });
  if (result.wasInterrupted() || failed(placeStagings(kernel)) ||
      failed(placeBarriers(kernel)))
    return failure();
  placeStores(kernel);
  return success();
}
