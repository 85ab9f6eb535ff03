//===- HopperAnalysis.cpp - What has an sm_90 form ------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the roles of a kernel of warpgroups, who fills and reads its rings, and
// what its waits wait for; refuses by name what the sm_90 form cannot do.
//
//===----------------------------------------------------------------------===//

#include "Hopper.h"
#include "fa/Conversion/CtaToNVVM/WgmmaDescriptor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fa;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

bool fa::hasWarpgroups(gpu::GPUFuncOp func) {
  bool found = false, all = true;
  func.walk([&](cta::RoleOp role) {
    found = true;
    all &= role.getWarps() == kGroupWarps;
  });
  return found && all;
}

const HopperRole &HopperKernel::getRole(Operation *op) const {
  auto role = op->getParentOfType<cta::RoleOp>();
  for (const HopperRole &known : roles)
    if (known.op == role)
      return known;
  return roles.front();
}

/// Whether the role's operations on tiles do nothing but fill rings.
static bool isLoader(cta::RoleOp role) {
  bool fills = false, others = false;
  role.getBody().walk([&](Operation *op) {
    bool isCopy = isa<cta::AcquireOp, cta::CopyOp>(op);
    fills |= isCopy;
    others |= !isCopy && isa_and_nonnull<cta::CtaDialect>(op->getDialect()) &&
              !isa<cta::WorkOp, cta::YieldOp>(op);
  });
  return fills && !others;
}

/// Whether `op` marks work items.
static bool marksItems(Operation *op) {
  return op->walk([](cta::MarkOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// The most threads and registers of a block; registers are given out by 8.
static constexpr int64_t kMaxThreads = 1024;
static constexpr int64_t kBlockRegisters = 65536;
static constexpr int64_t kRegisterUnit = 8;

/// `setmaxnreg` moves registers within what the block got when it was started:
/// more is waited for for ever.
static LogicalResult checkRegisters(HopperKernel &kernel) {
  int64_t wanted = 0;
  for (const HopperRole &role : kernel.roles) {
    if (role.registers.has_value() !=
        kernel.roles.front().registers.has_value())
      return role.op->emitOpError("expects a register budget for all roles or "
                                  "for none");
    wanted += role.registers.value_or(0) * role.teams;
  }
  int64_t each = llvm::alignDown(kBlockRegisters / kernel.threads(),
                                 static_cast<uint64_t>(kRegisterUnit));
  if (wanted > each * kernel.teams)
    return kernel.func.emitOpError("gives its warpgroups ")
           << wanted << " registers a thread in all, but a block of "
           << kernel.teams << " is started with " << each << " for each, "
           << each * kernel.teams << " in all";
  return success();
}

static LogicalResult findRoles(HopperKernel &kernel) {
  kernel.warps = kGroupWarps;
  kernel.teams = 0;
  kernel.func.walk<WalkOrder::PreOrder>([&](cta::RoleOp op) {
    HopperRole role;
    role.op = op;
    role.firstTeam = kernel.teams;
    role.teams = op.getTeams();
    if (std::optional<uint64_t> registers = op.getRegs())
      role.registers = *registers;
    role.isLoader = isLoader(op);
    role.marks = marksItems(op);
    if (role.marks) {
      if (!kernel.marks)
        kernel.marks.emplace();
      kernel.marks->arrivals += role.teams * kGroupWarps;
    }
    kernel.teams += role.teams;
    kernel.roles.push_back(role);
  });
  if (kernel.threads() > kMaxThreads)
    return kernel.func.emitOpError("expects at most ")
           << kMaxThreads << " threads, but found " << kernel.threads();
  for (const HopperRole &role : kernel.roles)
    if (kernel.hasRoles() && !isa<gpu::GPUFuncOp>(role.op->getParentOp()))
      return role.op->emitOpError("must stand in the function, around its "
                                  "cta.work, where there are several roles");
  return checkRegisters(kernel);
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// Whether a team is a constant once loops over teams have been unrolled.
static bool isKnownTeam(Value team) {
  if (getConstantIntValue(team))
    return true;
  auto argument = dyn_cast<BlockArgument>(team);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  return loop && loop.getInductionVar() == team &&
         getConstantIntValue(loop.getLowerBound()) &&
         getConstantIntValue(loop.getUpperBound()) &&
         getConstantIntValue(loop.getStep());
}

/// Notes what `op` says about the ring that it uses.
static LogicalResult
checkRingUser(HopperKernel &kernel, Operation *op,
              llvm::DenseMap<Operation *, int64_t> &fillers) {
  auto acquire = dyn_cast<cta::AcquireOp>(op);
  auto consume = dyn_cast<cta::ConsumeOp>(op);
  if (!acquire && !consume)
    return success();
  auto ring = op->getOperand(0).getDefiningOp<cta::RingOp>();
  if (!ring)
    return op->emitOpError("must name the result of a cta.ring itself");
  int64_t role = kernel.getRole(op).firstTeam;
  if (consume)
    return success();
  if (acquire.getTeam() && !isKnownTeam(acquire.getTeam()))
    return op->emitOpError("has no sm_90 form where its team is neither a "
                           "constant nor the counter of a loop with constant "
                           "bounds");
  if (!fillers.try_emplace(ring, role).second && fillers[ring] != role)
    return op->emitOpError("fills a ring that another role fills");
  if (!acquire.getTile().hasOneUse() ||
      !isa<cta::CopyOp>(*acquire.getTile().user_begin()))
    return op->emitOpError("expects one cta.copy that fills its stage");
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static LogicalResult checkMma(cta::MmaOp op) {
  cta::FlightType type = op.getFlight().getType();
  if (type.getRows() % kWgmmaRows || type.getCols() > kMaxWgmmaCols)
    return op.emitOpError("has no wgmma of a product of ")
           << type.getRows() << "x" << type.getCols()
           << " (rows in multiples of " << kWgmmaRows << ", at most "
           << kMaxWgmmaCols << " columns)";
  if (op.getDepth() % kStepDepth)
    return op.emitOpError("has no wgmma of depth ")
           << op.getDepth() << ", which is no multiple of " << kStepDepth;
  return success();
}

/// The products started after `mma` and before `wait`, where that can be seen.
static int64_t countLater(cta::MmaOp mma, cta::WaitOp wait) {
  int64_t count = 0;
  for (Operation *op = mma->getNextNode(); op && op != wait.getOperation();
       op = op->getNextNode())
    count += isa<cta::MmaOp>(op);
  return count;
}

static LogicalResult checkWait(HopperKernel &kernel, cta::WaitOp op) {
  auto mma = op.getFlight().getDefiningOp<cta::MmaOp>();
  if (!mma)
    return op.emitOpError(
        "has no sm_90 form where its product is not a cta.mma "
        "that it names itself");
  bool isSeen = mma->getBlock() == op->getBlock();
  kernel.pending[op] =
      isSeen ? std::min<int64_t>(op.getPending(), countLater(mma, op)) : 0;
  return success();
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

static LogicalResult checkTransfer(Operation *op, Value source,
                                   ValueRange indices, cta::TileType tile) {
  std::string reason = whyNoTensorMap(source, indices, tile);
  if (!reason.empty())
    return op->emitOpError("has no sm_90 form: ") << reason;
  return success();
}

static LogicalResult checkLoad(HopperKernel &kernel, cta::LoadOp op) {
  if (op.getKind() == cta::LoadKind::Once && kernel.hasRoles() &&
      kernel.getRole(op).teams > 1)
    return op.emitOpError("has no sm_90 form for several teams of one of "
                          "several roles; a ring has");
  return checkTransfer(op, op.getSource(), op.getIndices(),
                       op.getTile().getType());
}

/// Items are handed out by the thread that loads.
static LogicalResult checkWork(HopperKernel &kernel, cta::WorkOp op) {
  if (op.getOrder().getPersistence() != cta::Persistence::Dynamic)
    return success();
  if (llvm::count_if(kernel.roles,
                     [](const HopperRole &role) { return role.isLoader; }) != 1)
    return op.emitOpError("has no sm_90 form with the order ")
           << op.getOrder()
           << " where not one role does nothing but load (--specialize-warps)";
  for (Value extent : op.getExtents())
    if (extent.getParentRegion() != &kernel.func.getBody())
      return op.emitOpError("has no sm_90 form with the order ")
             << op.getOrder()
             << " where extents are not computed outside of the roles";
  if (int64_t(op.getExtents().size()) > kMaxHandedCoordinates)
    return op.emitOpError("has no sm_90 form with the order ")
           << op.getOrder() << " and more than " << kMaxHandedCoordinates
           << " coordinates";
  kernel.handout.emplace();
  for (const HopperRole &role : kernel.roles)
    kernel.handout->readers += role.isLoader ? 1 : role.teams * kGroupWarps;
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult fa::analyseHopper(HopperKernel &kernel) {
  if (failed(findRoles(kernel)))
    return failure();
  llvm::DenseMap<Operation *, int64_t> fillers;
  WalkResult result = kernel.func.walk([&](Operation *op) {
    LogicalResult checked = checkCommon(op, kernel.warps);
    if (succeeded(checked))
      checked = checkRingUser(kernel, op, fillers);
    if (failed(checked))
      return WalkResult::interrupt();
    if (auto mma = dyn_cast<cta::MmaOp>(op))
      checked = checkMma(mma);
    else if (auto wait = dyn_cast<cta::WaitOp>(op))
      checked = checkWait(kernel, wait);
    else if (auto load = dyn_cast<cta::LoadOp>(op))
      checked = checkLoad(kernel, load);
    else if (auto copy = dyn_cast<cta::CopyOp>(op))
      checked = checkTransfer(copy, copy.getSource(), copy.getIndices(),
                              copy.getTile().getType());
    else if (auto work = dyn_cast<cta::WorkOp>(op))
      checked = checkWork(kernel, work);
    else if (auto branch = dyn_cast<cta::IfAnyOp>(op))
      checked = checkBranch(branch, kernel);
    else if (isa<cta::AnyOp>(op) && kernel.hasRoles())
      checked = op->emitOpError("has no sm_90 form in one of several roles: "
                                "the others would not know (--defer-redo)");
    else if (isa<cta::CombineOp, cta::MeetOp>(op))
      checked = op->emitOpError("has no sm_90 form: warpgroups divide rows");
    return WalkResult(checked);
  });
  return failure(result.wasInterrupted());
}
