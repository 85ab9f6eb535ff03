//===- Persistent.cpp - A thread block runs many work items ---------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which block runs which items is an attribute of the order; this pass sets it
// where the kernel is fit for it. What is loaded once an item gets room for the
// next item's.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "fa/Dialect/Cta/IR/SharedMemory.h"
#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/GpuModules.h"
#include "fa/Support/Remarks.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_PERSISTENT
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

//===----------------------------------------------------------------------===//
// Stages for the next item
//===----------------------------------------------------------------------===//

/// Whether `ring` has one stage and is filled once an item.
static bool isFilledOnceAnItem(cta::RingOp ring) {
  bool isFilled = false;
  for (Operation *user : ring->getUsers()) {
    auto acquire = dyn_cast<cta::AcquireOp>(user);
    if (acquire && !isa<cta::WorkOp>(acquire->getParentOp()))
      return false;
    isFilled |= !!acquire;
  }
  return isFilled && ring.getRing().getType().getStages() == 1;
}

/// The shared memory that `func` names, with the tiles by which its 16-bit
/// matrices go out (those of one type follow one another) and the barriers.
static int64_t countSharedBytes(gpu::GPUFuncOp func) {
  int64_t bytes = cta::kTileAlignment;
  SetVector<std::pair<Operation *, Type>> stored;
  func.walk([&](Operation *op) {
    bytes += cta::getSharedBytes(op);
    auto store = dyn_cast<cta::StoreOp>(op);
    auto type =
        store ? dyn_cast<VectorType>(store.getValue().getType()) : VectorType();
    auto role = op->getParentOfType<cta::RoleOp>();
    if (type && type.getRank() == 2 && type.getElementTypeBitWidth() == 16 &&
        stored.insert({role, type}))
      bytes += role.getTeams() *
               llvm::alignTo(type.getNumElements() * 2, cta::kTileAlignment);
  });
  return bytes;
}

/// Gives rings that are filled once an item a second stage, as far as
/// `sharedBytes` go, so that the next item's tile is there when this one ends.
static int64_t stageNextItem(gpu::GPUFuncOp func, int64_t sharedBytes) {
  int64_t numRings = 0;
  int64_t taken = countSharedBytes(func);
  func.walk([&](cta::RingOp ring) {
    int64_t more = cta::getSharedBytes(ring);
    if (!isFilledOnceAnItem(ring) || taken + more > sharedBytes)
      return;
    taken += more;
    cta::TileType tile = ring.getRing().getType().getTile();
    ring.getRing().setType(cta::RingType::get(/*stages=*/2, tile));
    ++numRings;
  });
  return numRings;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct Persistent : public fa::impl::PersistentBase<Persistent> {
  using Base::Base;

  void runOnOperation() override {
    for (gpu::GPUFuncOp func : findKernels(getOperation(), "--persistent"))
      if (!readsNoTile(func))
        makePersistent(func);
  }

private:
  void makePersistent(gpu::GPUFuncOp func) {
    SmallVector<cta::WorkOp> works;
    func.walk([&](cta::WorkOp work) { works.push_back(work); });
    if (works.empty()) {
      emitWarning(func.getLoc())
          << "persistent finds no cta.work in '" << func.getName() << "'";
      return;
    }
    for (cta::WorkOp work : works)
      if (!work->getParentOfType<cta::RoleOp>()) {
        emitWarning(work.getLoc())
            << "persistent leaves '" << func.getName()
            << "': its work starts the roles (run --specialize-warps first)";
        return;
      }
    if (groupBytes < 0) {
      func.emitError("expects group-bytes of at least 0, but found ")
          << groupBytes.getValue();
      return signalPassFailure();
    }
    for (cta::WorkOp work : works) {
      cta::OrderAttr order = work.getOrder();
      work.setOrderAttr(makePersistent(order));
    }
    int64_t rings = stageNextItem(func, sharedBytes);
    numRings += rings;
    ++numKernels;
    remarkDecision(func, "persistent", "items")
        << remark::metric("ringsForNextItem", rings)
        << remark::reason("{0}", cta::stringifyPersistence(getPersistence()));
  }

  cta::Persistence getPersistence() const {
    return dynamic ? cta::Persistence::Dynamic : cta::Persistence::Static;
  }

  /// Items of unequal length are handed out in groups of heads, or shared out
  /// beforehand; the shares' pairs are of few heads at a time anyway.
  cta::OrderAttr makePersistent(cta::OrderAttr order) const {
    cta::WorkOrder kind = order.getKind();
    int64_t bytes = order.getGroupBytes();
    if (kind == cta::WorkOrder::LPT && dynamic && bytes == 0)
      bytes = groupBytes;
    if (kind == cta::WorkOrder::LPT && !dynamic) {
      kind = cta::WorkOrder::Balanced;
      bytes = 0;
    }
    return cta::OrderAttr::get(order.getContext(), kind, bytes,
                               getPersistence());
  }
};
} // namespace
