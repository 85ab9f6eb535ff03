//===- KernelFrame.cpp - The kernel around the fragments ------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the one role of an sm_80 kernel, names its threads, and replaces
// `cta.work` and `cta.role` by their bodies: one block does one work item.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Lowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace fa;

/// Dynamic shared memory: all that a kernel uses is carved from it.
static constexpr StringLiteral kSharedSymbol = "fa_shared";

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// What to do about a kernel that only later architectures can run.
static constexpr StringLiteral kHopperHint =
    " (chip=sm_90a with teams of 4 warps makes the sm_90 form)";

/// Refuses an operation that only later architectures can do.
static LogicalResult checkSupported(Operation *op) {
  if (isa<cta::SyncOp, cta::ArriveOp>(op))
    return op->emitOpError("has no sm_80 form: one role's teams do not take "
                           "turns there")
           << kHopperHint;
  if (auto ring = dyn_cast<cta::RingOp>(op))
    if (ring.getTeams())
      return op->emitOpError("has no sm_80 form as each team's ring")
             << kHopperHint;
  auto load = dyn_cast<cta::LoadOp>(op);
  auto copy = dyn_cast<cta::CopyOp>(op);
  if ((load && cta::padsColumns(load.getSource().getType())) ||
      (copy && cta::padsColumns(copy.getSource().getType())))
    return op->emitOpError("has no sm_80 form with a number of columns that "
                           "only the launch knows")
           << kHopperHint;
  if (isa<cta::MarkOp>(op))
    return op->emitOpError("has no sm_80 form: one role's teams ask each other "
                           "there (cta.any)")
           << kHopperHint;
  if (auto work = dyn_cast<cta::WorkOp>(op))
    if (work.getOrder().getPersistence() != cta::Persistence::None)
      return op->emitOpError("has no sm_80 form with the order ")
             << work.getOrder() << kHopperHint;
  if (auto role = dyn_cast<cta::RoleOp>(op))
    if (role.getRegs())
      return op->emitOpError("has no sm_80 form with a register budget, but "
                             "found regs(")
             << *role.getRegs() << ")" << kHopperHint;
  return success();
}

/// The elements that `op` moves between global memory and registers; null: it
/// moves none.
static Type getMovedElement(Operation *op) {
  if (auto store = dyn_cast<cta::StoreOp>(op))
    return store.getDestination().getType().getElementType();
  if (auto fetch = dyn_cast<cta::FetchOp>(op))
    return fetch.getSource().getType().getElementType();
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return load.getMemRefType().getElementType();
  return nullptr;
}

/// Refuses elements, and dimensions, that no form knows.
static LogicalResult checkMemory(Operation *op) {
  Type element = getMovedElement(op);
  if (element &&
      (!element.isIntOrFloat() ||
       (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 16)))
    return op->emitOpError("has no device form with elements of type ")
           << element;
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    int64_t rank = cast<ShapedType>(dim.getSource().getType()).getRank();
    if (index && (*index < 0 || *index >= rank))
      return op->emitOpError("asks for dimension ") << *index << " of " << rank;
  }
  return success();
}

/// Elements of one value that a thread may hold; more than it has registers,
/// which ptxas counts, but few enough to make code for.
static constexpr int64_t kMaxThreadElements = 1024;

/// Whether a value of this type, spread over `warps` warps, is out of reach.
static bool isTooLarge(VectorType type, int64_t warps) {
  int64_t rest = kMaxThreadElements * 32 * warps;
  for (int64_t size : type.getShape()) {
    if (size > rest)
      return true;
    rest /= std::max<int64_t>(size, 1);
  }
  return false;
}

/// Refuses vectors that are no fragments of a team of `warps` warps.
static LogicalResult checkFragments(Operation *op, int64_t warps) {
  auto check = [&](Type type) -> LogicalResult {
    auto vector = dyn_cast<VectorType>(type);
    if (vector && isTooLarge(vector, warps))
      return op->emitOpError("has a value of type ")
             << vector << ", of which a thread of " << warps
             << " warps would hold more than " << kMaxThreadElements
             << " elements";
    if (!vector || FragmentLayout::get(vector.getShape(), warps))
      return success();
    return op->emitOpError("has a value of type ")
           << vector << ", which is no fragment of a team of " << warps
           << " warps (rows in multiples of " << kSlabRows * warps
           << ", columns in multiples of " << kBlockCols << ")";
  };
  for (Type type : op->getOperandTypes())
    if (failed(check(type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  return success();
}

LogicalResult fa::checkCommon(Operation *op, int64_t warps) {
  return failure(failed(checkMemory(op)) || failed(checkFragments(op, warps)));
}

/// Whether `op` does something with the rest of its team.
static bool isOfTeam(Operation *op) {
  return isa<cta::LoadOp, cta::ReadOp, cta::AcquireOp, cta::CopyOp,
             cta::ConsumeOp, cta::ReleaseOp, cta::MmaOp, cta::WaitOp,
             cta::StoreOp, cta::FetchOp, cta::CombineOp, cta::MeetOp,
             cta::AnyOp, cta::SyncOp, cta::ArriveOp>(op);
}

LogicalResult fa::checkBranch(cta::IfAnyOp branch, const Kernel &kernel) {
  WalkResult result = branch.walk([&](Operation *op) -> WalkResult {
    if (kernel.warps > 1 && isOfTeam(op))
      return op->emitOpError("must be reached by the whole team, but stands in "
                             "a branch that its warps take each for itself");
    auto load = dyn_cast<cta::LoadOp>(op);
    if (kernel.teams > 1 && ((load && load.getKind() == cta::LoadKind::Once) ||
                             isa<cta::AcquireOp, cta::AnyOp, cta::CombineOp,
                                 cta::ConsumeOp, cta::MeetOp>(op)))
      return op->emitOpError("must be reached by all teams, but stands in a "
                             "branch that each takes for itself");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult fa::analyseKernel(Kernel &kernel) {
  SmallVector<cta::RoleOp> roles;
  kernel.func.walk([&](cta::RoleOp role) { roles.push_back(role); });
  if (roles.size() != 1)
    return kernel.func.emitOpError(
               "expects exactly one cta.role in the sm_80 form, but found ")
           << roles.size() << kHopperHint;
  kernel.teams = roles.front().getTeams();
  kernel.warps = roles.front().getWarps();

  WalkResult result = kernel.func.walk([&](Operation *op) {
    if (failed(checkSupported(op)) || failed(checkCommon(op, kernel.warps)))
      return WalkResult::interrupt();
    auto branch = dyn_cast<cta::IfAnyOp>(op);
    if (branch && failed(checkBranch(branch, kernel)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// The global that names dynamic shared memory; made where there is none.
static LLVM::GlobalOp getSharedGlobal(gpu::GPUFuncOp func) {
  auto module = func->getParentOfType<gpu::GPUModuleOp>();
  if (auto global = module.lookupSymbol<LLVM::GlobalOp>(kSharedSymbol))
    return global;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  return LLVM::GlobalOp::create(b, func.getLoc(), type, /*isConstant=*/false,
                                LLVM::Linkage::External, kSharedSymbol,
                                Attribute(), kTileAlignment, /*addrSpace=*/3);
}

/// `value`, which is the same in a whole warp, asked of its first lane: so
/// ptxas knows that it is, and keeps it and what is built from it in uniform
/// registers, beside those that the fragments fill.
static Value makeUniform(ImplicitLocOpBuilder &b, Value value) {
  I32Builder i{b};
  return NVVM::ShflOp::create(b, b.getI32Type(), i.constant(0xffffffff), value,
                              i.constant(0), i.constant(kWarpThreads - 1),
                              NVVM::ShflKind::idx,
                              /*return_value_and_is_valid=*/UnitAttr());
}

/// The bytes from a swizzled tile's first to what a lane's ldmatrix.x4 address
/// names in its first 16x16 block. Rows first: lanes 0-15 name the rows, lane /
/// 16 the chunk (A operands, and B stored [K, N]); otherwise lane bit 4 names
/// the upper 8 rows and bit 3 the chunk (B stored [N, K]).
static Value buildLaneOffset(I32Builder i, Value lane, bool rowFirst) {
  Value row, chunk;
  if (rowFirst) {
    row = i.bitAnd(lane, 15);
    chunk = i.shr(lane, 4);
  } else {
    row = i.add(i.bitAnd(lane, 7), i.mul(i.shr(lane, 4), 8));
    chunk = i.bitAnd(i.shr(lane, 3), 1);
  }
  Value swizzled = i.bitXor(chunk, i.bitAnd(lane, 7));
  return i.add(i.mul(row, kSegmentBytes), i.mul(swizzled, kChunkBytes));
}

/// At the top of the function.
void fa::buildThreadIds(Kernel &kernel) {
  LLVM::GlobalOp global = getSharedGlobal(kernel.func);
  auto b = ImplicitLocOpBuilder::atBlockBegin(kernel.func.getLoc(),
                                              &kernel.func.getBody().front());
  I32Builder i{b};
  kernel.thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  kernel.lane = i.bitAnd(kernel.thread, kWarpThreads - 1);
  Value warp =
      makeUniform(b, i.shr(kernel.thread, llvm::Log2_64(kWarpThreads)));
  if (kernel.warps == 1) {
    kernel.team = warp;
    kernel.warp = i.constant(0);
    kernel.teamThread = kernel.lane;
  } else {
    Value warps = i.constant(kernel.warps);
    kernel.team = arith::DivUIOp::create(b, warp, warps);
    kernel.warp = arith::RemUIOp::create(b, warp, warps);
    kernel.teamThread = i.add(i.mul(kernel.warp, kWarpThreads), kernel.lane);
  }
  Value pointer = LLVM::AddressOfOp::create(b, global);
  kernel.shared = LLVM::PtrToIntOp::create(b, b.getI32Type(), pointer);
  kernel.rowFirstOffset = buildLaneOffset(i, kernel.lane, /*rowFirst=*/true);
  kernel.columnFirstOffset =
      buildLaneOffset(i, kernel.lane, /*rowFirst=*/false);
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

void fa::inlineBody(Operation *op, ValueRange arguments) {
  Block &body = op->getRegion(0).front();
  body.getTerminator()->erase();
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         body.getOperations());
  op->erase();
}

void fa::setLaunchAttributes(Kernel &kernel) {
  gpu::GPUFuncOp func = kernel.func;
  OpBuilder b(func);
  SmallVector<int32_t> block = {static_cast<int32_t>(kernel.threads())};
  if (std::optional<ArrayRef<int32_t>> known = func.getKnownBlockSize())
    block.assign(known->begin(), known->end());
  func->setAttr(cta::kSharedBytesAttr, b.getI64IntegerAttr(kernel.sharedBytes));
  func->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                b.getDenseI32ArrayAttr(block));
  if (auto ctas = func->getAttrOfType<IntegerAttr>(cta::kMinCtasAttr))
    func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  b.getI32IntegerAttr(ctas.getInt()));
}

/// Upstream's lowering of `memref.dim` goes through memory where it does not
/// see a constant any more.
void fa::expandDims(gpu::GPUFuncOp func) {
  func.walk([](memref::DimOp dim) {
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!index)
      return;
    OpBuilder b(dim);
    auto data = memref::ExtractStridedMetadataOp::create(b, dim.getLoc(),
                                                         dim.getSource());
    dim.replaceAllUsesWith(data.getSizes()[*index]);
    dim.erase();
  });
}

void fa::buildKernelFrame(Kernel &kernel) {
  expandDims(kernel.func);
  buildThreadIds(kernel);
  SmallVector<Operation *> structure;
  kernel.func.walk([&](Operation *op) {
    if (isa<cta::WorkOp, cta::RoleOp>(op))
      structure.push_back(op);
  });
  for (Operation *op : structure) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    if (auto work = dyn_cast<cta::WorkOp>(op))
      inlineBody(op, buildItems(b, work, buildGroup(b, work)).coordinates);
    else
      inlineBody(
          op, {arith::IndexCastOp::create(b, b.getIndexType(), kernel.team)});
  }
  setLaunchAttributes(kernel);
}
