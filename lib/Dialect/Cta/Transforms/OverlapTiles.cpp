//===- OverlapTiles.cpp - The last product of an item under the next one --===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An item leaves its last block's second product, and what is made of it, to
// the next item: the work carries the accumulator, the operand and what the
// epilogue reads. The next item starts its first product beside the late one,
// and stores what was left to it while its own loops have not begun.
//
//===----------------------------------------------------------------------===//

#include "ItemStages.h"
#include "Kernels.h"
#include "Simplify.h"

#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/GpuModules.h"
#include "fa/Support/Remarks.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_OVERLAPTILES
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

namespace {
/// What an item leaves to the next one.
struct Left {
  Value accumulator, operand; ///< of the late product
  SmallVector<Value> reads;   ///< by the epilogue
  Value hasProduct;           ///< whether the late product is left
  Value hasItem;              ///< whether there was an item

  static Left get(ValueRange values) {
    return {values[0], values[1],
            SmallVector<Value>(values.drop_front(2).drop_back(2)),
            values[values.size() - 2], values.back()};
  }
  SmallVector<Value> getAll() const {
    SmallVector<Value> all{accumulator, operand};
    llvm::append_range(all, reads);
    all.append({hasProduct, hasItem});
    return all;
  }
};

/// Makes a work of which each item does the end of the one before.
class TileOverlap {
public:
  TileOverlap(RewriterBase &rewriter, ItemStages &stages)
      : rewriter(rewriter), stages(stages), loc(stages.work.getLoc()) {}
  int64_t apply();

private:
  Left buildNothing();
  void buildWork(const Left &nothing);

  /// The late product of what `left` is; returns the accumulator.
  Value buildLate(const Left &left);
  Value buildLateIf(Value condition, const Left &left);
  /// Stores the item that `left` is of, if there was one.
  void buildEpilogueIf(const Left &left, Value accumulator);
  void buildEpilogue(const Left &left, Value accumulator);

  /// The first block, on all ways through it beside what `left` says of the
  /// item before: its late product, and then its epilogue.
  SmallVector<Value> buildBeside(scf::IfOp branch, const Left &left,
                                 IRMapping &mapping);
  /// The way that begins with `from`.
  void buildBeside(Block &from, const Left &left, IRMapping mapping);
  void buildProducts(FirstProduct &first, Block &from, const Left &left,
                     IRMapping &mapping);
  /// The first block, and what of the item before was left.
  void buildFirst(const Left &before);
  /// What this item leaves, where its late product stood.
  Left leave();

  RewriterBase &rewriter;
  ItemStages &stages;
  Location loc;
};
} // namespace

Left TileOverlap::buildNothing() {
  rewriter.setInsertionPoint(stages.work);
  auto makeZero = [&](Type type) -> Value {
    return arith::ConstantOp::create(
        rewriter, loc, cast<TypedAttr>(rewriter.getZeroAttr(type)));
  };
  Left nothing;
  nothing.accumulator = makeZero(stages.late.getAccumulator().getType());
  nothing.operand = makeZero(stages.late.getOperand().getType());
  for (Value read : stages.reads)
    nothing.reads.push_back(makeZero(read.getType()));
  nothing.hasProduct = nothing.hasItem = makeZero(rewriter.getI1Type());
  return nothing;
}

/// Replaces the work by one that carries what items leave.
void TileOverlap::buildWork(const Left &nothing) {
  cta::WorkOp work = stages.work;
  SmallVector<Value> inits = nothing.getAll();
  auto built = cta::WorkOp::create(rewriter, loc, TypeRange(ValueRange(inits)),
                                   work.getExtents(), inits,
                                   work.getOrderAttr(), /*marked=*/false);
  built.getBody().takeBody(work.getBody());
  for (Value init : inits)
    built.getBody().addArgument(init.getType(), loc);
  rewriter.eraseOp(work);
  stages.work = built;
}

Value TileOverlap::buildLate(const Left &left) {
  LateProduct &late = stages.late;
  IRMapping mapping;
  mapping.map(late.getAccumulator(), left.accumulator);
  mapping.map(late.getOperand(), left.operand);
  for (Operation &op : late.branch.thenBlock()->without_terminator())
    rewriter.clone(op, mapping);
  return mapping.lookup(late.wait.getFragment());
}

Value TileOverlap::buildLateIf(Value condition, const Left &left) {
  auto branch = scf::IfOp::create(rewriter, loc, left.accumulator.getType(),
                                  condition, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(rewriter, loc, buildLate(left));
  rewriter.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc, left.accumulator);
  return branch.getResult(0);
}

void TileOverlap::buildEpilogue(const Left &left, Value accumulator) {
  IRMapping mapping;
  mapping.map(stages.late.branch.getResult(0), accumulator);
  mapping.map(stages.reads.getArrayRef(), left.reads);
  for (Operation &op : stages.work.getBody().front())
    if (stages.epilogue.contains(&op))
      rewriter.clone(op, mapping);
}

void TileOverlap::buildEpilogueIf(const Left &left, Value accumulator) {
  auto branch =
      scf::IfOp::create(rewriter, loc, left.hasItem, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  buildEpilogue(left, accumulator);
}

//===----------------------------------------------------------------------===//
// The first block
//===----------------------------------------------------------------------===//

SmallVector<Value> TileOverlap::buildBeside(scf::IfOp branch, const Left &left,
                                            IRMapping &mapping) {
  auto built = scf::IfOp::create(rewriter, loc, branch.getResultTypes(),
                                 mapping.lookupOrDefault(branch.getCondition()),
                                 /*addThenBlock=*/true,
                                 /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(built.thenBlock());
  buildBeside(*branch.thenBlock(), left, mapping);
  rewriter.setInsertionPointToStart(built.elseBlock());
  buildBeside(*branch.elseBlock(), left, mapping);
  return built.getResults();
}

void TileOverlap::buildBeside(Block &from, const Left &left,
                              IRMapping mapping) {
  auto product = stages.products.find(&from);
  if (product != stages.products.end()) {
    buildProducts(product->second, from, left, mapping);
  } else {
    bool hasBranch = false;
    for (Operation &op : from.without_terminator()) {
      if (isMemoryEffectFree(&op)) {
        rewriter.clone(op, mapping);
        continue;
      }
      mapping.map(op.getResults(),
                  buildBeside(cast<scf::IfOp>(op), left, mapping));
      hasBranch = true;
    }
    // The item has no block at all.
    if (!hasBranch)
      buildEpilogue(left, buildLate(left));
  }
  SmallVector<Value> yielded;
  for (Value value : from.getTerminator()->getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  scf::YieldOp::create(rewriter, loc, yielded);
}

void TileOverlap::buildProducts(FirstProduct &first, Block &from,
                                const Left &left, IRMapping &mapping) {
  LateProduct &late = stages.late;
  IRMapping before;
  before.map(late.getAccumulator(), left.accumulator);
  before.map(late.getOperand(), left.operand);
  for (Operation &op : from.without_terminator()) {
    if (first.isLast(&op))
      continue;
    Operation *cloned = rewriter.clone(op, mapping);
    // 1. Both products are under way.
    if (&op == first.product) {
      rewriter.clone(*late.consume, before);
      rewriter.clone(*late.product, before);
    }
    // 2. The arithmetic of this block.
    if (&op == first.wait)
      cast<cta::WaitOp>(cloned).setPending(1);
  }
  // 3. Then the accumulator of the item before is there, and its operand may be
  // overwritten.
  rewriter.clone(*late.wait, before);
  rewriter.clone(*late.release, before);
  if (first.narrowing)
    rewriter.clone(*first.narrowing, mapping);
  // 4. It is stored before this item's accumulator takes registers.
  buildEpilogue(left, before.lookup(late.wait.getFragment()));
  for (Operation &op : from.without_terminator())
    if (first.accumulating.contains(&op))
      rewriter.clone(op, mapping);
}

void TileOverlap::buildFirst(const Left &before) {
  scf::IfOp first = stages.first;
  rewriter.setInsertionPoint(first);
  auto branch = scf::IfOp::create(rewriter, loc, first.getResultTypes(),
                                  before.hasProduct, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  // 1. Beside the late product.
  rewriter.setInsertionPointToStart(branch.thenBlock());
  IRMapping mapping;
  scf::YieldOp::create(rewriter, loc, buildBeside(first, before, mapping));
  // 2. By itself: the item before, if there was one, had no product to leave.
  rewriter.setInsertionPointToStart(branch.elseBlock());
  buildEpilogueIf(before, before.accumulator);
  Operation *alone = rewriter.clone(*first);
  scf::YieldOp::create(rewriter, loc, alone->getResults());
  rewriter.replaceOp(first, branch.getResults());
}

Left TileOverlap::leave() {
  LateProduct &late = stages.late;
  rewriter.setInsertionPoint(late.branch);
  Left left{late.getAccumulator(), late.getOperand(),
            SmallVector<Value>(stages.reads.begin(), stages.reads.end()),
            late.branch.getCondition(), Value()};
  left.hasItem = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
  if (stages.drains.empty())
    return left;
  // Stages that are read behind the late product's do not wait for the next
  // item: then the late product is not left either.
  Value drains;
  for (scf::ForOp drain : stages.drains) {
    Value runs =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                              drain.getLowerBound(), drain.getUpperBound());
    drains = drains ? arith::OrIOp::create(rewriter, loc, drains, runs) : runs;
  }
  Value isNow = arith::AndIOp::create(rewriter, loc, left.hasProduct, drains);
  left.accumulator = buildLateIf(isNow, left);
  left.hasProduct =
      arith::XOrIOp::create(rewriter, loc, left.hasProduct, isNow);
  return left;
}

int64_t TileOverlap::apply() {
  // 1. A work that carries what is left.
  Left nothing = buildNothing();
  buildWork(nothing);
  Left after = Left::get(stages.work.getResults());

  // 2. What the last item leaves is done behind all.
  rewriter.setInsertionPointAfter(stages.work);
  buildEpilogueIf(after, buildLateIf(after.hasProduct, after));

  // 3. What this item leaves, and what was left to it.
  Block &body = stages.work.getBody().front();
  SmallVector<Value> next = leave().getAll();
  rewriter.modifyOpInPlace(body.getTerminator(),
                           [&] { body.getTerminator()->setOperands(next); });
  buildFirst(Left::get(ValueRange(stages.work.getCarried())));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (op.use_empty() && stages.epilogue.contains(&op))
      rewriter.eraseOp(&op);
  rewriter.eraseOp(stages.late.branch);
  return next.size();
}

FailureOr<int64_t> fa::overlapItems(RewriterBase &rewriter, cta::WorkOp work,
                                    std::string &reason) {
  if (work.getOrder().getPersistence() == cta::Persistence::None) {
    reason = "a block has one item (run --persistent first)";
    return failure();
  }
  FailureOr<ItemStages> stages = findItemStages(work, reason);
  if (failed(stages))
    return failure();
  return TileOverlap(rewriter, *stages).apply();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The works that may leave something to their next item: of teams that
/// multiply, with all items.
static SmallVector<cta::WorkOp> findWorks(gpu::GPUFuncOp func) {
  SmallVector<cta::WorkOp> works;
  func.walk([&](cta::WorkOp work) {
    bool multiplies =
        work.walk([](cta::MmaOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (multiplies && !work.getMarked() && work.getInits().empty() &&
        isa<cta::RoleOp>(work->getParentOp()))
      works.push_back(work);
  });
  return works;
}

namespace {
struct OverlapTiles : public fa::impl::OverlapTilesBase<OverlapTiles> {
  using Base::Base;

  void runOnOperation() override {
    for (gpu::GPUFuncOp func : findKernels(getOperation(), "--overlap-tiles"))
      if (!readsNoTile(func))
        overlap(func);
  }

private:
  void overlap(gpu::GPUFuncOp func) {
    SmallVector<cta::WorkOp> works = findWorks(func);
    if (works.empty())
      remarkMissed(func, "overlap-tiles", "items")
          << remark::reason("no role goes through items with products");
    IRRewriter rewriter(func.getContext());
    int64_t overlapped = 0;
    for (cta::WorkOp work : works) {
      std::string reason;
      FailureOr<int64_t> carried = overlapItems(rewriter, work, reason);
      if (failed(carried)) {
        remarkMissed(work, "overlap-tiles", "items")
            << remark::reason("{0}", reason);
        continue;
      }
      ++overlapped;
      remarkDecision(func, "overlap-tiles", "items")
          << remark::metric("carried", *carried);
    }
    numWorks += overlapped;
    if (overlapped > 0)
      simplify(rewriter, func);
  }
};
} // namespace
