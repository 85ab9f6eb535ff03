//===- ItemStages.cpp - A work item, divided ------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ItemStages.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace fa;

namespace {
/// Finds the parts of one work's body.
class ItemFinder {
public:
  ItemFinder(cta::WorkOp work, std::string &reason)
      : body(&work.getBody().front()), reason(reason) {
    stages.work = work;
  }
  FailureOr<ItemStages> find();

private:
  LogicalResult findLate();
  LogicalResult findFirst();
  LogicalResult findProducts(scf::IfOp branch);
  LogicalResult findProduct(Block &block);
  LogicalResult findEpilogue();
  LogicalResult findReads();
  LogicalResult findDrains();
  LogicalResult checkStages();
  LogicalResult fail(const char *why) {
    reason = why;
    return failure();
  }
  /// Whether `value` is of the item, but neither the late product nor made in
  /// the epilogue.
  bool isRead(Value value);

  Block *body;
  std::string &reason;
  ItemStages stages;
};
} // namespace

//===----------------------------------------------------------------------===//
// The late product
//===----------------------------------------------------------------------===//

/// `branch` as a late product: a tile is waited for, multiplied, and given
/// back; without a block the accumulator stays.
static std::optional<LateProduct> matchLate(scf::IfOp branch) {
  if (branch.getNumResults() != 1 || branch.getElseRegion().empty())
    return std::nullopt;
  SmallVector<Operation *> ops =
      llvm::map_to_vector(branch.thenBlock()->without_terminator(),
                          [](Operation &op) { return &op; });
  if (ops.size() != 4)
    return std::nullopt;
  LateProduct late{branch, dyn_cast<cta::ConsumeOp>(ops[0]),
                   dyn_cast<cta::MmaOp>(ops[1]), dyn_cast<cta::WaitOp>(ops[2]),
                   dyn_cast<cta::ReleaseOp>(ops[3])};
  if (!late.consume || !late.product || !late.wait || !late.release)
    return std::nullopt;
  bool isAlone = late.product.getB() == late.consume.getTile() &&
                 late.wait.getFlight() == late.product.getFlight() &&
                 late.release.getTile() == late.consume.getTile() &&
                 branch.thenYield().getOperand(0) == late.wait.getFragment() &&
                 isa<VectorType>(late.getOperand().getType()) &&
                 late.getAccumulator() &&
                 branch.elseYield().getOperand(0) == late.getAccumulator() &&
                 llvm::hasSingleElement(*branch.elseBlock());
  return isAlone ? std::optional(late) : std::nullopt;
}

LogicalResult ItemFinder::findLate() {
  for (auto branch : body->getOps<scf::IfOp>())
    if (std::optional<LateProduct> late = matchLate(branch)) {
      if (stages.late.branch)
        return fail("several second products of an item are late");
      stages.late = *late;
    }
  if (!stages.late.branch)
    return fail("no second product of an item is late (run --overlap-softmax "
                "first)");
  return success();
}

/// Whether `op` reads stages of `ring`.
static bool consumesFrom(Operation *op, Value ring) {
  return op
      ->walk([&](cta::ConsumeOp consume) {
        return consume.getRing() == ring ? WalkResult::interrupt()
                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// The first block
//===----------------------------------------------------------------------===//

/// What `value`, which loops that follow one another carry on, begins with.
static OpResult findBegin(Value value) {
  while (auto loop = value.getDefiningOp<scf::ForOp>())
    value = loop.getInits()[cast<OpResult>(value).getResultNumber()];
  return dyn_cast<OpResult>(value);
}

LogicalResult ItemFinder::findFirst() {
  OpResult accumulator = findBegin(stages.late.getAccumulator());
  OpResult operand = findBegin(stages.late.getOperand());
  stages.first = operand ? dyn_cast<scf::IfOp>(operand.getOwner()) : nullptr;
  if (!stages.first || stages.first->getBlock() != body || !accumulator ||
      accumulator.getOwner() != stages.first)
    return fail("the late product's operands do not begin with an item's first "
                "block");
  stages.accumulator = accumulator.getResultNumber();
  stages.operand = operand.getResultNumber();
  return findProducts(stages.first);
}

LogicalResult ItemFinder::findProducts(scf::IfOp branch) {
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    if (!block->getOps<cta::MmaOp>().empty()) {
      if (failed(findProduct(*block)))
        return failure();
      continue;
    }
    // Ways without a product go on to one other branch, or do nothing.
    scf::IfOp inner;
    for (Operation &op : *block) {
      if (isMemoryEffectFree(&op))
        continue;
      if (inner || !isa<scf::IfOp>(op) || op.getRegion(1).empty())
        return fail("an item's first block does more than one product and "
                    "arithmetic");
      inner = cast<scf::IfOp>(op);
    }
    if (inner && failed(findProducts(inner)))
      return failure();
  }
  return success();
}

/// Whether all that reads the results of `op` is in `after`, or `yield` in its
/// operand `number`.
static bool isReadBy(Operation *op, const SetVector<Operation *> &after,
                     Operation *yield, unsigned number) {
  return llvm::all_of(op->getUses(), [&](OpOperand &use) {
    if (use.getOwner() == yield)
      return use.getOperandNumber() == number;
    return after.contains(
        op->getBlock()->findAncestorOpInBlock(*use.getOwner()));
  });
}

LogicalResult ItemFinder::findProduct(Block &block) {
  FirstProduct found;
  Value ring = stages.late.consume.getRing();
  if (llvm::any_of(block,
                   [&](Operation &op) { return consumesFrom(&op, ring); }))
    return fail("both products read tiles of one ring");
  SmallVector<cta::MmaOp> products;
  block.walk([&](cta::MmaOp product) { products.push_back(product); });
  if (products.size() > 1)
    return fail("an item's first block has several products");
  found.product = products.front();
  if (found.product.getFlight().hasOneUse())
    found.wait = dyn_cast<cta::WaitOp>(*found.product.getFlight().user_begin());
  if (!found.wait || found.wait->getBlock() != &block)
    return fail("an item's first product is not waited for in its block");
  Operation *yield = block.getTerminator();
  Operation *narrowing = yield->getOperand(stages.operand).getDefiningOp();
  if (narrowing && narrowing->getBlock() == &block &&
      isMemoryEffectFree(narrowing) &&
      isReadBy(narrowing, {}, yield, stages.operand))
    found.narrowing = narrowing;
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (isMemoryEffectFree(&op) && !op.use_empty() &&
        isReadBy(&op, found.accumulating, yield, stages.accumulator))
      found.accumulating.insert(&op);
  stages.products[&block] = found;
  return success();
}

//===----------------------------------------------------------------------===//
// What comes after the late product
//===----------------------------------------------------------------------===//

/// Whether the kernel only stores to `memref`.
static bool isOnlyStored(Value memref) {
  return isa<BlockArgument>(memref) &&
         llvm::all_of(memref.getUsers(), [&](Operation *user) {
           return isa<cta::StoreOp, memref::DimOp>(user);
         });
}

LogicalResult ItemFinder::findEpilogue() {
  DenseSet<Value> made{stages.late.branch.getResult(0)};
  auto reads = [&](Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [&](Value v) { return made.contains(v); });
  };
  for (Operation *op = stages.late.branch->getNextNode(); op;
       op = op->getNextNode()) {
    bool isOfLate = op->walk([&](Operation *inner) {
                        return reads(inner) ? WalkResult::interrupt()
                                            : WalkResult::advance();
                      }).wasInterrupted();
    if (!isOfLate)
      continue;
    auto store = dyn_cast<cta::StoreOp>(op);
    if (!store && !isMemoryEffectFree(op))
      return fail("an item's result is more than stored");
    if (store && !isOnlyStored(store.getDestination()))
      return fail("an item's result is read again");
    stages.epilogue.insert(op);
    made.insert(op->result_begin(), op->result_end());
  }
  return findReads();
}

bool ItemFinder::isRead(Value value) {
  if (!stages.work.getBody().isAncestor(value.getParentRegion()) ||
      value == stages.late.branch.getResult(0))
    return false;
  Operation *maker = value.getDefiningOp();
  if (!maker && value.getParentBlock() != body)
    maker = value.getParentBlock()->getParentOp();
  return !maker ||
         !stages.epilogue.contains(body->findAncestorOpInBlock(*maker));
}

LogicalResult ItemFinder::findReads() {
  // What spreads row vectors over a fragment is done again.
  SmallVector<Operation *> worklist(stages.epilogue.getArrayRef());
  while (!worklist.empty())
    worklist.pop_back_val()->walk([&](Operation *op) {
      for (Value value : op->getOperands()) {
        if (!isRead(value))
          continue;
        Operation *maker = value.getDefiningOp();
        if (maker && maker->getBlock() == body &&
            (isa<vector::BroadcastOp, vector::ShapeCastOp>(maker) ||
             maker->hasTrait<OpTrait::ConstantLike>())) {
          stages.epilogue.insert(maker);
          worklist.push_back(maker);
        } else {
          stages.reads.insert(value);
        }
      }
    });
  for (Value value : stages.reads) {
    auto vector = dyn_cast<VectorType>(value.getType());
    if (vector ? vector.getRank() > 1 : !value.getType().isIntOrIndexOrFloat())
      return fail("an item's result is made of more than one fragment and "
                  "numbers of rows");
  }
  return success();
}

LogicalResult ItemFinder::findDrains() {
  DominanceInfo dominance;
  Value ring = stages.late.consume.getRing();
  for (Operation *op = &body->front(); op != stages.first;
       op = op->getNextNode())
    if (consumesFrom(op, ring))
      return fail("stages of the late product's ring are read before an item's "
                  "first block");
  for (Operation *op = stages.late.branch->getNextNode(); op;
       op = op->getNextNode()) {
    if (!consumesFrom(op, ring))
      continue;
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop ||
        !dominance.properlyDominates(loop.getLowerBound(),
                                     stages.late.branch) ||
        !dominance.properlyDominates(loop.getUpperBound(), stages.late.branch))
      return fail("stages of the late product's ring are read behind it");
    stages.drains.push_back(loop);
  }
  return success();
}

/// The stages of the ring that `tile` is of; none where it is of no ring.
static int64_t countStages(Value tile) {
  auto consume = tile.getDefiningOp<cta::ConsumeOp>();
  return consume ? consume.getRing().getType().getStages() : 0;
}

LogicalResult ItemFinder::checkStages() {
  if (stages.products.empty())
    return fail("an item's first block has no product");
  for (auto &[block, first] : stages.products)
    if (countStages(first.product.getA()) < 2)
      return fail("the next item's queries are there only when this one's last "
                  "block is done: their ring has one stage");
  if (countStages(stages.late.product.getB()) < 2)
    return fail("the late product's ring has one stage");
  return success();
}

FailureOr<ItemStages> ItemFinder::find() {
  if (failed(findLate()) || failed(findFirst()) || failed(findEpilogue()) ||
      failed(findDrains()) || failed(checkStages()))
    return failure();
  return stages;
}

FailureOr<ItemStages> fa::findItemStages(cta::WorkOp work,
                                         std::string &reason) {
  return ItemFinder(work, reason).find();
}
