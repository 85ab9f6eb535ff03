//===- Kernel.cpp - A kernel, prepared for the simulator -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace fa;
using namespace fa::sim;

std::string TeamInfo::getName() const {
  cta::RoleOp op = role;
  return "team " + std::to_string(number) + " of \"" + op.getName().str() +
         "\"";
}

//===----------------------------------------------------------------------===//
// The closed list
//===----------------------------------------------------------------------===//

/// What a block does before it divides into teams.
static bool isOfBlock(Operation *op) {
  return isa<cta::WorkOp, cta::RoleOp, cta::YieldOp, cta::RingOp,
             cta::BarrierOp, gpu::ReturnOp, memref::DimOp, memref::LoadOp>(op);
}

/// What a team does with more than its own values.
static bool isOfTeam(Operation *op) {
  return isa<cta::AcquireOp, cta::AnyOp, cta::ArriveOp, cta::CombineOp,
             cta::ConsumeOp, cta::CopyOp, cta::FetchOp, cta::IfAnyOp,
             cta::LoadOp, cta::LookupOp, cta::MarkOp, cta::MeetOp, cta::MmaOp,
             cta::ReadOp, cta::ReleaseOp, cta::StoreOp, cta::SyncOp,
             cta::WaitOp, cta::WorkOp, cta::YieldOp, memref::DimOp,
             memref::LoadOp, memref::StoreOp, scf::ForOp, scf::IfOp,
             scf::YieldOp>(op);
}

/// Whether values of `type` are known. Tensors of integers can be read element
/// by element only.
static bool isKnown(Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    Type element = vector.getElementType();
    bool isNarrowInteger =
        isa<IntegerType>(element) && element.getIntOrFloatBitWidth() <= 32;
    return vector.getRank() >= 1 && vector.getRank() <= 2 &&
           !vector.isScalable() && (isNarrowInteger || getFloatFormat(element));
  }
  if (auto tile = dyn_cast<cta::TileType>(type))
    return getFloatFormat(tile.getElementType()).has_value();
  if (auto memref = dyn_cast<MemRefType>(type))
    return memref.getElementType().isIntOrIndex() ||
           getFloatFormat(memref.getElementType());
  if (isa<cta::RingType, cta::BarrierType, cta::FlightType>(type))
    return true;
  bool isInteger = type.isIntOrIndex() &&
                   (type.isIndex() || type.getIntOrFloatBitWidth() <= 64);
  return isInteger || getFloatFormat(type);
}

static LogicalResult checkTypes(Operation *op, TypeRange types) {
  for (Type type : types)
    if (!isKnown(type))
      return op->emitError("the simulator does not know values of type ")
             << type;
  return success();
}

/// Checks that `op`, which is no arithmetic, is on the list, and in its place.
static LogicalResult checkPlace(Operation *op) {
  bool inRole = op->getParentOfType<cta::RoleOp>() != nullptr;
  if (!isOfBlock(op) && !isOfTeam(op))
    return op->emitError("the simulator does not know the op '")
           << op->getName() << "'";
  if (!inRole && !isOfBlock(op))
    return op->emitError("'")
           << op->getName() << "' must stand inside a cta.role";
  if (inRole && !isOfTeam(op))
    return op->emitError("'")
           << op->getName() << "' must not stand inside a cta.role";
  auto store = dyn_cast<cta::StoreOp>(op);
  if (store && !isa<FloatType>(getElementTypeOrSelf(store.getValue())))
    return op->emitError("the simulator does not know stores of integers");
  bool isAllocation = isa<cta::RingOp, cta::BarrierOp>(op);
  if (isAllocation && !isa<gpu::GPUFuncOp>(op->getParentOp()))
    return op->emitError("'")
           << op->getName() << "' must stand at the top of the function";
  if (isa<cta::RoleOp>(op) &&
      !isa<gpu::GPUFuncOp, cta::WorkOp>(op->getParentOp()))
    return op->emitError("'cta.role' must stand in the function or in its "
                         "cta.work");
  return success();
}

/// Finds the evaluator of `op`, or checks that it is another known op.
static LogicalResult prepareOp(Operation *op, Kernel &kernel) {
  if (failed(checkTypes(op, op->getOperandTypes())) ||
      failed(checkTypes(op, op->getResultTypes())))
    return failure();
  StringRef name = op->getName().getStringRef();
  const Evaluator *evaluator = findArithmetic(name);
  if (!evaluator)
    evaluator = findRearrangement(name);
  if (!evaluator)
    return checkPlace(op);
  kernel.evaluators[op] = evaluator;
  return success();
}

//===----------------------------------------------------------------------===//
// Teams and rings
//===----------------------------------------------------------------------===//

/// Adds the teams of the role around `op` to `teams`, once.
static void addTeams(const Kernel &kernel, Operation *op,
                     SmallVector<unsigned> &teams) {
  auto role = op->getParentOfType<cta::RoleOp>();
  unsigned first = kernel.firstTeam.lookup(role);
  if (llvm::is_contained(teams, first))
    return;
  for (int64_t n = 0; n < int64_t(role.getTeams()); ++n)
    teams.push_back(first + n);
}

/// Checks that what `op` uses as a ring or barrier is one that was allocated.
static LogicalResult checkAllocated(Operation *op) {
  for (Value operand : op->getOperands())
    if (isa<cta::RingType, cta::BarrierType>(operand.getType()) &&
        !operand.getDefiningOp<cta::RingOp>() &&
        !operand.getDefiningOp<cta::BarrierOp>())
      return op->emitError("must name the result of a cta.ring or cta.barrier "
                           "itself");
  return success();
}

/// Finds who fills and who reads each ring.
static LogicalResult findRingTeams(Kernel &kernel) {
  WalkResult result = kernel.func.walk([&](Operation *op) -> WalkResult {
    if (failed(checkAllocated(op)))
      return WalkResult::interrupt();
    if (auto consume = dyn_cast<cta::ConsumeOp>(op))
      addTeams(kernel, op,
               kernel.rings[consume.getRing().getDefiningOp()].consumers);
    auto acquire = dyn_cast<cta::AcquireOp>(op);
    if (!acquire)
      return WalkResult::advance();
    auto &producers = kernel.rings[acquire.getRing().getDefiningOp()].producers;
    auto role = op->getParentOfType<cta::RoleOp>();
    if (!producers.empty() && kernel.teams[producers.front()].role != role)
      return op->emitError("is in a race: roles \"")
             << kernel.teams[producers.front()].role.getName() << "\" and \""
             << role.getName() << "\" both fill the stages of one ring";
    addTeams(kernel, op, producers);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<Kernel> Kernel::build(gpu::GPUFuncOp func) {
  Kernel kernel;
  kernel.func = func;
  auto number = [&](ValueRange values) {
    for (Value value : values)
      kernel.slots.try_emplace(value, kernel.slots.size());
  };
  // 1. A place for each value, and what each op is.
  WalkResult result =
      func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
        number(op->getResults());
        for (Region &region : op->getRegions())
          for (Block &block : region)
            number(block.getArguments());
        return WalkResult(prepareOp(op, kernel));
      });
  number(func.getArguments());
  if (result.wasInterrupted() ||
      failed(checkTypes(func, func.getArgumentTypes())))
    return failure();
  // 2. Who there is.
  func.walk<WalkOrder::PreOrder>([&](cta::RoleOp role) {
    kernel.firstTeam[role] = kernel.teams.size();
    for (int64_t n = 0; n < int64_t(role.getTeams()); ++n)
      kernel.teams.push_back({role, n});
  });
  func.walk([&](cta::RingOp ring) { kernel.rings.try_emplace(ring); });
  func.walk([&](cta::MarkOp mark) { addTeams(kernel, mark, kernel.markers); });
  if (failed(findRingTeams(kernel)))
    return failure();
  return kernel;
}
