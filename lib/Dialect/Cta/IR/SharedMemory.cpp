//===- SharedMemory.cpp - What ops take of shared memory ------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Cta/IR/SharedMemory.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fa::cta;

int64_t fa::cta::getSharedBytes(Operation *op) {
  auto bytes = [](TileType tile) -> int64_t {
    return llvm::alignTo(tile.getByteSize(), kTileAlignment);
  };
  if (auto ring = dyn_cast<RingOp>(op)) {
    RingType type = ring.getRing().getType();
    return ring.getTeams().value_or(1) * type.getStages() *
           bytes(type.getTile());
  }
  // Each team leaves its fragment there, as its threads hold it: four share a
  // row.
  if (auto combine = dyn_cast<CombineOp>(op)) {
    auto role = op->getParentOfType<RoleOp>();
    auto type = cast<VectorType>(combine.getValue().getType());
    int64_t copies = type.getRank() == 1 ? 4 : 1;
    return llvm::alignTo(role.getTeams() * copies * type.getNumElements() *
                             sizeof(float),
                         kTileAlignment);
  }
  auto load = dyn_cast<LoadOp>(op);
  if (!load)
    return 0;
  bool isOnce = load.getKind() == LoadKind::Once;
  int64_t copies = isOnce ? 1 : op->getParentOfType<RoleOp>().getTeams();
  return copies * bytes(load.getTile().getType());
}
