//===- MBarrierRings.cpp - Rings to mbarriers -----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each stage has two barriers. The copy into it completes one, "full", by its
// bytes; each warp that has read it arrives at the other, "empty". Which stage
// and phase is next say cursors (RingCursors.h). A load is a ring of one stage
// that its own team fills.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "RingCursors.h"

using namespace mlir;
using namespace fa;

/// The bytes of an mbarrier object.
static constexpr int64_t kBarrierBytes = 8;
/// How long the hardware may suspend a waiting thread at a time, in ns.
static constexpr int64_t kWaitTicks = 10000000;

namespace {
/// A stage in use: i32 values.
struct Stage {
  Value tile, full, empty; ///< addresses
  Value parity;            ///< of the barrier to wait for
};

class BarrierRings {
public:
  explicit BarrierRings(HopperKernel &kernel)
      : kernel(kernel), rewriter(kernel.func.getContext()) {}

  void run();

private:
  void expandBlock(Block &block, Cursors &cursors);
  void expand(Operation *op, Cursors &cursors);
  void expandAcquire(cta::AcquireOp op, Cursors &cursors);
  void expandCopy(cta::CopyOp op);
  void expandConsume(cta::ConsumeOp op, Cursors &cursors);
  void expandRelease(cta::ReleaseOp op);
  void expandLoad(cta::LoadOp op, Cursors &cursors);
  void expandRole(cta::RoleOp op, Cursors cursors);

  Stage getStage(ImplicitLocOpBuilder &b, const Staging &staging, Value copy,
                 Cursor cursor);
  void fill(ImplicitLocOpBuilder &b, const MappedTile &mapped,
            ValueRange indices, const Stage &stage);
  void replaceTile(ImplicitLocOpBuilder &b, Operation *op, const Stage &stage,
                   cta::TileType type);

  HopperKernel &kernel;
  IRRewriter rewriter;
  /// The role being expanded.
  const HopperRole *role = nullptr;
  /// The stages of acquires and consumes.
  llvm::DenseMap<Operation *, Stage> stages;
};
} // namespace

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// The stage at `cursor` of the ring of team `copy` (i32; null: there is one).
Stage BarrierRings::getStage(ImplicitLocOpBuilder &b, const Staging &staging,
                             Value copy, Cursor cursor) {
  I32Builder i{b};
  auto at = [&](int64_t first, int64_t bytes) {
    Value offset = i.add(i.mul(cursor.stage, bytes), first);
    if (copy && staging.copies > 1)
      offset = i.add(offset, i.mul(copy, bytes * staging.stages));
    return i.add(kernel.shared, offset);
  };
  return {at(staging.offset, staging.stageBytes()),
          at(staging.full, kBarrierBytes),
          staging.arrivals ? at(staging.empty, kBarrierBytes) : Value(),
          cursor.parity};
}

void fa::waitForPhase(ImplicitLocOpBuilder &b, Value address, Value parity) {
  NVVM::MBarrierTryWaitParityOp::create(b, sharedPointer(b, address, 0), parity,
                                        I32Builder{b}.constant(kWaitTicks));
}

void fa::arrive(ImplicitLocOpBuilder &b, Value address) {
  NVVM::MBarrierArriveOp::create(
      b, b.getI64Type(), sharedPointer(b, address, 0), /*count=*/Value(),
      NVVM::MemScopeKind::CTA, /*relaxed=*/false);
}

void fa::arriveForWarp(ImplicitLocOpBuilder &b, const Kernel &kernel,
                       Value address) {
  buildGuarded(b, isEqual(b, kernel.lane, 0),
               [&](ImplicitLocOpBuilder &inner) { arrive(inner, address); });
}

/// Starts one tile's copy into `stage`, whose barrier waits for its bytes.
void BarrierRings::fill(ImplicitLocOpBuilder &b, const MappedTile &mapped,
                        ValueRange indices, const Stage &stage) {
  NVVM::MBarrierArriveExpectTxOp::create(
      b, /*res=*/Type(), sharedPointer(b, stage.full, 0),
      I32Builder{b}.constant(mapped.tile.getByteSize()),
      NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
  issueTensorLoad(b, mapped, indices, stage.tile, stage.full);
}

void BarrierRings::replaceTile(ImplicitLocOpBuilder &b, Operation *op,
                               const Stage &stage, cta::TileType type) {
  auto cast = UnrealizedConversionCastOp::create(b, type, stage.tile);
  rewriter.replaceOp(op, cast.getResult(0));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void BarrierRings::expandAcquire(cta::AcquireOp op, Cursors &cursors) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Side side = *getSide(op);
  Cursor &cursor = cursors[side];
  const Staging &staging =
      kernel.stagings.find(op.getRing().getDefiningOp())->second;
  Value copy =
      op.getTeam() ? I32Builder{b}.constant(std::get<1>(side)) : Value();
  stages[op] = getStage(b, staging, copy, cursor);
  cursor = advance(b, cursor, staging.stages);
}

/// One thread waits until the stage is free and starts its copy.
void BarrierRings::expandCopy(cta::CopyOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto acquire = op.getTile().getDefiningOp<cta::AcquireOp>();
  Stage stage = stages.lookup(acquire);
  auto issue = [&](ImplicitLocOpBuilder &inner) {
    waitForPhase(inner, stage.empty, stage.parity);
    fill(inner, getTensorMap(kernel, op), op.getIndices(), stage);
  };
  int64_t thread = role->firstTeam * kernel.warps * kWarpThreads;
  if (role->isLoader)
    issue(b);
  else
    buildGuarded(b, isEqual(b, kernel.thread, thread), issue);
  rewriter.eraseOp(op);
  rewriter.eraseOp(acquire);
}

void BarrierRings::expandConsume(cta::ConsumeOp op, Cursors &cursors) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Cursor &cursor = cursors[*getSide(op)];
  const Staging &staging =
      kernel.stagings.find(op.getRing().getDefiningOp())->second;
  Value team = I32Builder{b}.add(kernel.team, -role->firstTeam);
  Stage stage = getStage(b, staging, team, cursor);
  waitForPhase(b, stage.full, stage.parity);
  cursor = advance(b, cursor, staging.stages);
  for (Operation *user : op.getTile().getUsers())
    if (isa<cta::ReleaseOp>(user))
      stages[user] = stage;
  replaceTile(b, op, stage, staging.tile);
}

/// Whether threads read `tile` themselves, not products alone.
static bool isReadByThreads(Value tile) {
  return llvm::any_of(tile.getUsers(), llvm::IsaPred<cta::ReadOp>);
}

/// Each warp says that it has read the stage. What its lanes read themselves
/// they have not all read where one of them has; products all wait for. Nor
/// does the barrier order their reads before the next copy's writes, which are
/// of another proxy: without the fence copies overtook reads (H200, D 256 with
/// a bias of f32 in one stage).
void BarrierRings::expandRelease(cta::ReleaseOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  if (isReadByThreads(op.getTile())) {
    fenceAsyncProxy(b);
    NVVM::SyncWarpOp::create(b, I32Builder{b}.constant(0xffffffff));
  }
  arriveForWarp(b, kernel, stages.lookup(op).empty);
  rewriter.eraseOp(op);
}

/// One thread of the team, or of the role, starts the copy; all wait for it.
void BarrierRings::expandLoad(cta::LoadOp op, Cursors &cursors) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  I32Builder i{b};
  Cursor &cursor = cursors[*getSide(op)];
  const Staging &staging = kernel.stagings.find(op)->second;
  bool isEach = op.getKind() == cta::LoadKind::Each;
  Value team = i.add(kernel.team, -role->firstTeam);
  Stage stage = getStage(b, staging, team, cursor);
  // In a loop, the tile may still be read from the time before.
  if (op->getParentOfType<LoopLikeOpInterface>()) {
    if (isReadByThreads(op.getTile()))
      fenceAsyncProxy(b);
    if (isEach || role->teams == 1)
      synchronizeTeam(b, kernel);
    else
      NVVM::BarrierOp::create(b);
  }
  int64_t first = role->firstTeam * kernel.warps * kWarpThreads;
  Value isFirst = isEach ? isEqual(b, kernel.teamThread, 0)
                         : isEqual(b, kernel.thread, first);
  buildGuarded(b, isFirst, [&](ImplicitLocOpBuilder &inner) {
    fill(inner, getTensorMap(kernel, op), op.getIndices(), stage);
  });
  waitForPhase(b, stage.full, stage.parity);
  cursor = advance(b, cursor, staging.stages);
  replaceTile(b, op, stage, staging.tile);
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// A role begins with its own cursors.
void BarrierRings::expandRole(cta::RoleOp op, Cursors cursors) {
  const HopperRole *outer = role;
  role = &kernel.getRole(&op.getBody().front().front());
  expandBlock(op.getBody().front(), cursors);
  role = outer;
}

void BarrierRings::expand(Operation *op, Cursors &cursors) {
  auto expandInside = [&](Block &block, Cursors &inside) {
    expandBlock(block, inside);
  };
  if (auto acquire = dyn_cast<cta::AcquireOp>(op))
    expandAcquire(acquire, cursors);
  else if (auto copy = dyn_cast<cta::CopyOp>(op))
    expandCopy(copy);
  else if (auto consume = dyn_cast<cta::ConsumeOp>(op))
    expandConsume(consume, cursors);
  else if (auto release = dyn_cast<cta::ReleaseOp>(op))
    expandRelease(release);
  else if (auto load = dyn_cast<cta::LoadOp>(op))
    expandLoad(load, cursors);
  else if (auto loop = dyn_cast<scf::ForOp>(op))
    carryThroughLoop(rewriter, loop, kernel, cursors, expandInside);
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    carryThroughWhile(rewriter, loop, kernel, cursors, expandInside);
  else if (isa<scf::IfOp, cta::IfAnyOp>(op))
    carryThroughBranch(rewriter, op, cursors, expandInside);
  else if (auto inner = dyn_cast<cta::RoleOp>(op))
    expandRole(inner, cursors);
}

void BarrierRings::expandBlock(Block &block, Cursors &cursors) {
  // What an operation is replaced by stands before it, or is done already.
  SmallVector<Operation *> ops =
      llvm::map_to_vector(block, [](Operation &op) { return &op; });
  for (Operation *op : ops)
    expand(op, cursors);
}

void BarrierRings::run() {
  // Nothing is full at first, and all is free: the phase before the first one
  // counts as done.
  auto b = ImplicitLocOpBuilder::atBlockBegin(kernel.func.getLoc(),
                                              &kernel.func.getBody().front());
  I32Builder i{b};
  Cursors cursors;
  for (const Side &side : findMoved(kernel.func))
    cursors[side] = {i.constant(0), i.constant(std::get<2>(side) ? 1 : 0)};
  role = &kernel.roles.front();
  expandBlock(kernel.func.getBody().front(), cursors);
  SmallVector<Operation *> rings;
  kernel.func.walk([&](cta::RingOp ring) { rings.push_back(ring); });
  for (Operation *ring : rings)
    rewriter.eraseOp(ring);
}

void fa::expandBarrierRings(HopperKernel &kernel) {
  BarrierRings(kernel).run();
}
