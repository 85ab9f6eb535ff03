//===- Persistent.cpp - A thread block runs many work items ---------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which block runs which items is an attribute of the order; this pass sets it
// where the kernel is fit for it, and has the loading role begin the next item
// as early as it can.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "NextItem.h"

#include "fa/Dialect/Cta/IR/RereadRows.h"
#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/GpuModules.h"
#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_PERSISTENT
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether what an item of `work` is, is searched in a table by the first
/// coordinate: a sequence's blocks follow those of another one then, and do not
/// grow from the first to the last.
static bool isSearched(cta::WorkOp work) {
  Value first = work.getBody().getArgument(0);
  return llvm::any_of(
      work.getBody().front().getOps<scf::ForOp>(), [&](scf::ForOp loop) {
        bool compares = false, reads = false, acts = false;
        loop.walk([&](Operation *op) {
          compares |= isa<arith::CmpIOp>(op) &&
                      llvm::is_contained(op->getOperands(), first);
          reads |= isa<memref::LoadOp>(op);
          acts |= isa_and_nonnull<cta::CtaDialect>(op->getDialect());
        });
        return compares && reads && !acts;
      });
}

/// Whether `work` follows lists of blocks: how long its items are nobody knows.
static bool followsLists(cta::WorkOp work) {
  return work
      .walk([](scf::ForOp loop) {
        bool follows = !loop.getBody()->getOps<cta::CopyOp>().empty() &&
                       !loop.getBody()->getOps<memref::LoadOp>().empty();
        return follows ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

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
    // All roles go through the items in one order.
    cta::WorkOrder shares = chooseShares(func, works);
    for (cta::WorkOp work : works)
      work.setOrderAttr(makePersistent(work.getOrder(), shares));
    int64_t rings = stageNextItem(func, sharedBytes);
    numRings += rings;
    if (tilesFirst)
      for (cta::WorkOp work : works)
        numTilesFirst += putFirstTileFirst(work);
    ++numKernels;
    remarkDecision(func, "persistent", "items")
        << remark::metric("ringsForNextItem", rings)
        << remark::reason("{0}", cta::stringifyPersistence(getPersistence()));
  }

  cta::Persistence getPersistence() const {
    return dynamic ? cta::Persistence::Dynamic : cta::Persistence::Static;
  }

  /// The order in which items of unequal length are shared out.
  cta::WorkOrder chooseShares(gpu::GPUFuncOp func,
                              ArrayRef<cta::WorkOp> works) const {
    if (llvm::any_of(works, isSearched))
      return cta::WorkOrder::Paired;
    if (llvm::any_of(works, followsLists) ||
        cta::findRereadRows(func).bytes >= mirrorBytes)
      return cta::WorkOrder::Mirrored;
    return cta::WorkOrder::Balanced;
  }

  /// Items of unequal length are handed out in groups of heads, or shared out
  /// beforehand by `shares`, which are of few heads at a time anyway.
  cta::OrderAttr makePersistent(cta::OrderAttr order,
                                cta::WorkOrder shares) const {
    cta::WorkOrder kind = order.getKind();
    int64_t bytes = order.getGroupBytes();
    if (kind == cta::WorkOrder::LPT && dynamic && bytes == 0)
      bytes = groupBytes;
    if (kind == cta::WorkOrder::LPT && !dynamic) {
      kind = shares;
      bytes = 0;
    }
    return cta::OrderAttr::get(order.getContext(), kind, bytes,
                               getPersistence());
  }
};
} // namespace
