//===- Marks.cpp - Work items that are done again -------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block's items have numbers in the order in which it runs them. Marks are
// bytes in shared memory, one for each number modulo how many there are, and a
// word that says whether any is set: items that share a mark are done again
// with one another, which changes nothing but the time. An mbarrier completes
// its one phase when all warps that mark have ended their items.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Hopper.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fa;

/// A word for each thread of a warpgroup, which clears it: the first one says
/// whether there are marks, the others hold them.
static constexpr int64_t kWordBytes = 4;
static constexpr int64_t kWords = kGroupWarps * kWarpThreads;
static constexpr int64_t kMarks = (kWords - 1) * kWordBytes;

int64_t fa::placeMarks(Marks &marks, int64_t offset) {
  constexpr int64_t kBarrierBytes = 8;
  marks.barrier = offset;
  marks.any = offset + kBarrierBytes;
  marks.items = marks.any + kWordBytes;
  return marks.items + kMarks;
}

void fa::clearMarks(ImplicitLocOpBuilder &b, const HopperKernel &kernel) {
  I32Builder i{b};
  Value clears = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                       kernel.thread, i.constant(kWords));
  buildGuarded(b, clears, [&](ImplicitLocOpBuilder &inner) {
    I32Builder i{inner};
    Value word = i.add(kernel.shared, i.mul(kernel.thread, kWordBytes));
    LLVM::StoreOp::create(inner, i.constant(0),
                          sharedPointer(inner, word, kernel.marks->any));
  });
}

/// Where the mark of the block's item `number` (i32) lies.
static Value markPointer(ImplicitLocOpBuilder &b, const HopperKernel &kernel,
                         Value number) {
  I32Builder i{b};
  Value place = arith::RemUIOp::create(b, number, i.constant(kMarks));
  return sharedPointer(b, i.add(kernel.shared, place), kernel.marks->items);
}

void fa::expandMarks(const HopperKernel &kernel, cta::WorkOp work,
                     Value number) {
  SmallVector<cta::MarkOp> marks;
  work.walk([&](cta::MarkOp mark) { marks.push_back(mark); });
  for (cta::MarkOp mark : marks) {
    ImplicitLocOpBuilder b(mark.getLoc(), mark);
    auto branch = cta::IfAnyOp::create(b, TypeRange(), mark.getPredicate());
    Block *block = b.createBlock(&branch.getThenRegion());
    auto inner = ImplicitLocOpBuilder::atBlockEnd(mark.getLoc(), block);
    auto yield = cta::YieldOp::create(inner);
    inner.setInsertionPoint(yield);
    buildGuarded(inner, isEqual(inner, kernel.lane, 0),
                 [&](ImplicitLocOpBuilder &first) {
                   Value isSet = arith::ConstantIntOp::create(
                       first, first.getI8Type(), 1);
                   LLVM::StoreOp::create(first, isSet,
                                         markPointer(first, kernel, number));
                   LLVM::StoreOp::create(
                       first, I32Builder{first}.constant(1),
                       sharedPointer(first, kernel.shared, kernel.marks->any));
                 });
    mark.erase();
  }
}

void fa::endMarks(ImplicitLocOpBuilder &b, const HopperKernel &kernel,
                  const HopperRole &role) {
  // What was stored before, by either proxy, comes before what the same team
  // stores when an item is done again.
  waitForStores(b, kernel, role);
  NVVM::FenceProxyOp::create(b, NVVM::ProxyKind::async,
                             NVVM::SharedSpaceAttr());
  arriveForWarp(b, kernel,
                I32Builder{b}.add(kernel.shared, kernel.marks->barrier));
}

void fa::waitForMarks(ImplicitLocOpBuilder &b, const HopperKernel &kernel) {
  I32Builder i{b};
  waitForPhase(b, i.add(kernel.shared, kernel.marks->barrier), i.constant(0));
}

/// Whether the integer at `pointer` is not 0, for the warp as a whole: so ptxas
/// knows that its threads stay together. A role that loads is one thread.
static Value isSet(ImplicitLocOpBuilder &b, const HopperRole &role, Type type,
                   Value pointer) {
  Value value = LLVM::LoadOp::create(b, type, pointer);
  Value zero = arith::ConstantIntOp::create(b, type, 0);
  Value own = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
  if (role.isLoader)
    return own;
  return NVVM::VoteSyncOp::create(b, b.getI1Type(),
                                  I32Builder{b}.constant(0xffffffff), own,
                                  NVVM::VoteSyncKind::any);
}

Value fa::buildHasMarks(ImplicitLocOpBuilder &b, const HopperKernel &kernel,
                        const HopperRole &role) {
  return isSet(b, role, b.getI32Type(),
               sharedPointer(b, kernel.shared, kernel.marks->any));
}

Value fa::buildIsMarked(ImplicitLocOpBuilder &b, const HopperKernel &kernel,
                        const HopperRole &role, Value number) {
  return isSet(b, role, b.getI8Type(), markPointer(b, kernel, number));
}
