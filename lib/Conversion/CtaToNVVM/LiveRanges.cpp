//===- LiveRanges.cpp - Fewer registers around the fragments --------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fragments take most of a thread's registers, so what lives beside them
// across a loop is kept small: addresses and bounds are computed where they are
// used first, and what costs nothing is computed again in each block.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace fa;

/// Whether `type` is a number, a pointer, or a row vector of integers.
static bool isAddressType(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (vector && vector.getRank() <= 2)
    type = vector.getElementType();
  return type.isIntOrIndex() || isa<LLVM::LLVMPointerType>(type);
}

/// Whether `op` makes an address, a bound or the like, and may be moved.
static bool isAddressArithmetic(Operation &op) {
  return isPure(&op) && !op.getNumRegions() && op.getNumResults() &&
         !op.hasTrait<OpTrait::ConstantLike>() &&
         llvm::all_of(op.getResultTypes(), isAddressType);
}

/// The first operation of `block` that uses a result of `op`, itself or in its
/// regions.
static Operation *findFirstUser(Operation &op, Block &block) {
  Operation *first = nullptr;
  for (Operation *user : op.getUsers()) {
    Operation *inBlock = block.findAncestorOpInBlock(*user);
    if (!first || inBlock->isBeforeInBlock(first))
      first = inBlock;
  }
  return first;
}

void fa::sinkAddresses(gpu::GPUFuncOp func) {
  func.walk([](Block *block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block))) {
      if (!isAddressArithmetic(op))
        continue;
      if (Operation *user = findFirstUser(op, *block))
        op.moveBefore(user);
    }
  });
}

/// Whether `op` is folded into the instruction that uses it, if it stands in
/// the same block: a constant offset, or a widening.
static bool isFree(Operation *op) {
  auto gep = dyn_cast<LLVM::GEPOp>(op);
  return isa<LLVM::IntToPtrOp, arith::ExtSIOp, arith::ExtUIOp,
             arith::IndexCastOp, arith::IndexCastUIOp>(op) ||
         (gep && gep.getDynamicIndices().empty());
}

/// Repeats a free operation in each other block that uses its result.
static void repeatInUserBlocks(Operation *op) {
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    Operation *user = use.getOwner();
    if (user->getBlock() == op->getBlock())
      continue;
    OpBuilder b(user);
    use.set(b.clone(*op)->getResult(0));
  }
  if (op->use_empty())
    op->erase();
}

void fa::repeatFreeOperations(gpu::GPUFuncOp func) {
  // Users first, so that a chain of free operations is repeated as a whole.
  SmallVector<Operation *> free;
  func.walk([&](Operation *op) {
    if (isFree(op))
      free.push_back(op);
  });
  for (Operation *op : llvm::reverse(free))
    repeatInUserBlocks(op);
}
