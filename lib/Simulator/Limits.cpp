//===- Limits.cpp - Whether a kernel fits its target ----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory is counted exactly. Registers are counted from below, by the
// fragments that must be there while a product is started or waited for; what
// is read from memory need not be, since ptxas may read it later. A kernel that
// is refused here spills, and one that is not may.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "fa/Dialect/Cta/IR/SharedMemory.h"

#include "mlir/Analysis/Liveness.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fa;
using namespace fa::sim;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

static LogicalResult checkSharedMemory(const Kernel &kernel,
                                       const Target &target) {
  int64_t total = 0;
  gpu::GPUFuncOp func = kernel.func;
  func.walk([&](Operation *op) { total += cta::getSharedBytes(op); });
  if (total <= target.sharedBytesPerBlock)
    return success();
  return func.emitError("the kernel takes ")
         << total << " bytes of shared memory, but " << target.name << " has "
         << target.sharedBytesPerBlock << " for a block";
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Threads of a warp, and of the group that shares a fragment's row.
static constexpr int64_t kWarpThreads = 32, kQuadThreads = 4;

/// The 32-bit registers that `value` takes of each thread of a team.
static int64_t getRegisters(Value value, int64_t warps) {
  // Constants and repeated values are parts of instructions, and a shape cast
  // is another name.
  if (value.getDefiningOp<arith::ConstantOp>() ||
      value.getDefiningOp<vector::BroadcastOp>() ||
      value.getDefiningOp<vector::ShapeCastOp>() ||
      value.getDefiningOp<cta::ReadOp>() ||
      value.getDefiningOp<cta::LookupOp>())
    return 0;
  auto type = dyn_cast<VectorType>(value.getType());
  if (auto flight = dyn_cast<cta::FlightType>(value.getType()))
    type = flight.getFragmentType();
  if (!type || type.getElementType().isInteger(1))
    return 0;
  int64_t threads = warps * kWarpThreads;
  bool isRow = type.getRank() == 1 || type.getDimSize(1) == 1;
  bool isColumn = !isRow && type.getDimSize(0) == 1;
  if (isRow)
    return type.getNumElements() * kQuadThreads / threads;
  if (isColumn)
    return type.getNumElements() / kQuadThreads;
  return type.getNumElements() * type.getElementTypeBitWidth() / (32 * threads);
}

namespace {
/// The most registers that a role's fragments take at once.
class RegisterCount {
public:
  RegisterCount(Operation *root, int64_t warps)
      : liveness(root), warps(warps) {}

  /// Visits `block`, around which `outside` registers are taken.
  void visit(Block &block, int64_t outside);

  int64_t most = 0;
  Operation *where = nullptr;

private:
  Liveness liveness;
  int64_t warps;
};
} // namespace

void RegisterCount::visit(Block &block, int64_t outside) {
  const LivenessBlockInfo *info = liveness.getLiveness(&block);
  for (Operation &op : block) {
    bool isPoint = isa<cta::MmaOp, cta::WaitOp>(op);
    if (!isPoint && op.getNumRegions() == 0)
      continue;
    int64_t here = 0, through = 0;
    for (Value value : info->currentlyLiveValues(&op)) {
      // A result takes the place of an operand.
      if (value.getDefiningOp() == &op)
        continue;
      // What was there before this block is counted around it.
      bool isOwn = value.getParentBlock() == &block;
      int64_t registers = isOwn ? getRegisters(value, warps) : 0;
      here += registers;
      if (!liveness.isDeadAfter(value, &op))
        through += registers;
    }
    if (isPoint && outside + here > most) {
      most = outside + here;
      where = &op;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        visit(inner, outside + through);
  }
}

static LogicalResult checkRole(cta::RoleOp role, int64_t blockThreads,
                               const Target &target) {
  int64_t budget = std::min(target.maxRegistersPerThread,
                            target.registersPerSM / blockThreads);
  if (role.getRegs())
    budget = *role.getRegs();
  RegisterCount count(role, role.getWarps());
  count.visit(role.getBody().front(), 0);
  if (count.most <= budget)
    return success();
  return count.where->emitError("the fragments that are there take ")
         << count.most << " registers of each thread of role \""
         << role.getName() << "\", which has " << budget;
}

/// The registers that each thread gets at the launch: whole units, and no more
/// than it may have. Roles hand around what is there, and nothing else.
static int64_t getLaunchRegisters(int64_t threads, const Target &target) {
  constexpr int64_t unit = 8;
  return std::min<int64_t>(target.registersPerSM / threads / unit * unit,
                           llvm::alignTo(target.maxRegistersPerThread, unit));
}

static LogicalResult checkRegisters(const Kernel &kernel,
                                    const Target &target) {
  int64_t threads = 0, budgeted = 0;
  gpu::GPUFuncOp func = kernel.func;
  func.walk([&](cta::RoleOp role) {
    threads += role.getThreads();
    budgeted += role.getRegs().value_or(0) * role.getThreads();
  });
  int64_t given = getLaunchRegisters(threads, target) * threads;
  if (budgeted > given)
    return func.emitError("the roles' budgets take ")
           << budgeted << " registers, but a launch on " << target.name
           << " gives " << given;
  WalkResult result = func.walk([&](cta::RoleOp role) {
    return WalkResult(checkRole(role, threads, target));
  });
  return failure(result.wasInterrupted());
}

LogicalResult fa::sim::checkLimits(const Kernel &kernel, const Target &target) {
  return failure(failed(checkSharedMemory(kernel, target)) ||
                 failed(checkRegisters(kernel, target)));
}
