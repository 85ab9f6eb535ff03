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
#include "fa/Schedule/Schedule.h"
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

/// What the thread of a role that loads needs more where it is told its items:
/// their coordinates, and what is computed from them, are in its own registers
/// then, not in those that all threads of a warp share. By ptxas, 9 registers
/// more for lists of blocks, 4 for sequences.
static constexpr int64_t kRegistersOfTold = 16;
/// What a thread that computes keeps at least.
static constexpr int64_t kLeastOfGivers = 160;
/// Registers are given out by so many.
static constexpr uint64_t kRegisterUnit = 8;

/// Gives the role that loads so many registers more: what the block has left,
/// and as much of each computing team as it takes.
static void growLoader(gpu::GPUFuncOp func) {
  cta::RoleOp loader;
  SmallVector<cta::RoleOp> others;
  int64_t groups = 0, used = 0, teams = 0;
  for (auto role : func.getOps<cta::RoleOp>()) {
    if (!role.getRegs())
      return;
    groups += role.getTeams();
    used += role.getTeams() * *role.getRegs();
    bool loads =
        role.walk([](cta::AcquireOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (loads) {
      loader = role;
    } else {
      others.push_back(role);
      teams += role.getTeams();
    }
  }
  if (!loader || others.empty())
    return;
  auto move = [](cta::RoleOp role, int64_t registers) {
    OpBuilder b(role);
    role.setRegsAttr(b.getI64IntegerAttr(*role.getRegs() + registers));
  };
  int64_t left =
      std::clamp<int64_t>(getRegisterPool(groups) - used, 0, kRegistersOfTold);
  int64_t fromEach = llvm::alignTo(
      llvm::divideCeil(kRegistersOfTold - left, teams), kRegisterUnit);
  // Of three teams none has registers to give: ptxas would serialise products.
  for (cta::RoleOp role : others)
    if (int64_t(*role.getRegs()) < kLeastOfGivers + fromEach)
      fromEach = 0;
  for (cta::RoleOp role : others)
    move(role, -fromEach);
  move(loader, left + fromEach * teams);
}

/// Values of the option `scheduler`.
static constexpr StringLiteral kAuto = "auto", kStatic = "static",
                               kDynamic = "dynamic";

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
    if (scheduler != kAuto && scheduler != kStatic && scheduler != kDynamic) {
      func.emitError("expects a scheduler of auto, static or dynamic, but "
                     "found '")
          << scheduler << "'";
      return signalPassFailure();
    }
    // All roles go through the items in one order.
    cta::Persistence kind = choosePersistence(works);
    cta::WorkOrder shares = chooseShares(func, works);
    for (cta::WorkOp work : works)
      work.setOrderAttr(makePersistent(work.getOrder(), kind, shares));
    if (kind == cta::Persistence::Dynamic)
      growLoader(func);
    int64_t rings = stageNextItem(func, sharedBytes);
    numRings += rings;
    if (tilesFirst)
      for (cta::WorkOp work : works)
        numTilesFirst += putFirstTileFirst(work);
    ++numKernels;
    remarkDecision(func, "persistent", "items")
        << remark::metric("ringsForNextItem", rings)
        << remark::reason("{0}", cta::stringifyPersistence(kind));
  }

  /// Whether the block's items are known before.
  cta::Persistence choosePersistence(ArrayRef<cta::WorkOp> works) const {
    bool isDynamic =
        scheduler == kDynamic ||
        (scheduler == kAuto && (llvm::any_of(works, isSearched) ||
                                llvm::any_of(works, followsLists)));
    return isDynamic ? cta::Persistence::Dynamic : cta::Persistence::Static;
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
                                cta::Persistence persistence,
                                cta::WorkOrder shares) const {
    bool isDynamic = persistence == cta::Persistence::Dynamic;
    cta::WorkOrder kind = order.getKind();
    int64_t bytes = order.getGroupBytes();
    if (kind == cta::WorkOrder::LPT && isDynamic && bytes == 0)
      bytes = groupBytes;
    if (kind == cta::WorkOrder::LPT && !isDynamic) {
      kind = shares;
      bytes = 0;
    }
    return cta::OrderAttr::get(order.getContext(), kind, bytes, persistence);
  }
};
} // namespace
