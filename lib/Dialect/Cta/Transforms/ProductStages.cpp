//===- ProductStages.cpp - A loop body of two products, divided -----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductStages.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fa;

namespace {
/// Finds the parts of one loop's body.
class StageFinder {
public:
  StageFinder(scf::ForOp loop, std::string &reason)
      : body(loop.getBody()), reason(reason) {
    stages.loop = loop;
  }
  FailureOr<ProductStages> find();

private:
  LogicalResult findProducts();
  LogicalResult findSecondTile();
  LogicalResult findLate();
  void divide();
  /// Moves lookups, and what they need, from `middle` to `reads` where nothing
  /// of it depends on the first product: they are under way with it.
  void divideReads();
  LogicalResult fail(const char *why) {
    reason = why;
    return failure();
  }
  /// The wait for `product`, if it is the only user of its flight.
  cta::WaitOp findWait(cta::MmaOp product);

  Block *body;
  std::string &reason;
  ProductStages stages;
  /// What depends on the accumulator that the loop carries.
  SetVector<Operation *> late;
};
} // namespace

cta::WaitOp StageFinder::findWait(cta::MmaOp product) {
  if (!product.getFlight().hasOneUse())
    return {};
  auto wait = dyn_cast<cta::WaitOp>(*product.getFlight().user_begin());
  return wait && wait->getBlock() == body ? wait : cta::WaitOp();
}

LogicalResult StageFinder::findProducts() {
  auto products = llvm::to_vector(body->getOps<cta::MmaOp>());
  if (products.size() != 2)
    return fail("its body has more than two products");
  stages.first = products[0];
  stages.second = products[1];
  stages.firstWait = findWait(stages.first);
  stages.secondWait = findWait(stages.second);
  if (!stages.firstWait || !stages.secondWait ||
      !stages.firstWait->isBeforeInBlock(stages.second))
    return fail("its products are not each waited for before the next");
  Value product = stages.secondWait.getFragment();
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  if (!product.hasOneUse() || *product.user_begin() != yield)
    return fail("its second product is read before the block's end");
  stages.accumulator = product.use_begin()->getOperandNumber();
  return LogicalResult::success();
}

LogicalResult StageFinder::findSecondTile() {
  stages.consume = stages.second.getB().getDefiningOp<cta::ConsumeOp>();
  Operation *operand = stages.second.getA().getDefiningOp();
  if (!isa<VectorType>(stages.second.getA().getType()) || !operand ||
      operand->getBlock() != body || !operand->hasOneUse())
    return fail("its second product does not read a fragment that is made in "
                "the block for it alone");
  if (!stages.consume || stages.consume->getBlock() != body)
    return fail("its second product does not read a tile of a ring");
  for (Operation *user : stages.consume.getTile().getUsers())
    if (auto release = dyn_cast<cta::ReleaseOp>(user))
      stages.release = release;
    else if (user != stages.second)
      return fail("its second product shares a tile with something else");
  if (!stages.release || stages.release->getBlock() != body)
    return fail("its second product's tile is not released in the block");
  for (auto other : body->getOps<cta::ConsumeOp>())
    if (other != stages.consume && other.getRing() == stages.consume.getRing())
      return fail("both products read tiles of one ring, whose order would "
                  "change");
  return LogicalResult::success();
}

/// Whether `op` or what is inside of it reads one of `values`.
static bool reads(Operation *op, const DenseSet<Value> &values) {
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(),
                            [&](Value v) { return values.contains(v); })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult StageFinder::findLate() {
  DenseSet<Value> values{stages.getCarried()};
  for (Operation &op : body->without_terminator()) {
    if (&op == stages.second || !reads(&op, values))
      continue;
    if (!isMemoryEffectFree(&op))
      return fail("something else than the second product depends on its "
                  "accumulator");
    late.insert(&op);
    values.insert(op.result_begin(), op.result_end());
  }
  // The accumulator's way ends in the second product.
  if (!stages.second.getAcc() || !values.contains(stages.second.getAcc()))
    return fail("its second product does not add to what the loop carries");
  if (values.contains(stages.second.getA()) ||
      reads(body->getTerminator(), values))
    return fail("something else than the second product depends on its "
                "accumulator");
  return LogicalResult::success();
}

void StageFinder::divide() {
  Operation *operand = stages.second.getA().getDefiningOp();
  for (Operation &op : body->without_terminator()) {
    if (&op == stages.second || &op == stages.secondWait ||
        &op == stages.consume || &op == stages.release)
      continue;
    if (late.contains(&op) || &op == operand)
      stages.end.push_back(&op);
    else if (&op == stages.first || op.isBeforeInBlock(stages.first))
      stages.start.push_back(&op);
    else
      stages.middle.push_back(&op);
  }
}

void StageFinder::divideReads() {
  SetVector<Operation *> early;
  for (Operation *op : stages.middle) {
    if (!isa<cta::LookupOp>(op))
      continue;
    SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.inclusive = true;
    options.omitBlockArguments = true;
    options.filter = [&](Operation *other) {
      return other->getBlock() == body && stages.first->isBeforeInBlock(other);
    };
    if (succeeded(getBackwardSlice(op, &slice, options)) &&
        !slice.contains(stages.firstWait))
      early.insert(slice.begin(), slice.end());
  }
  llvm::erase_if(stages.middle, [&](Operation *op) {
    if (early.contains(op))
      stages.reads.push_back(op);
    return early.contains(op);
  });
}

FailureOr<ProductStages> StageFinder::find() {
  if (!body->getOps<cta::CopyOp>().empty())
    return fail("it copies into rings itself (run --specialize-warps first)");
  if (failed(findProducts()) || failed(findSecondTile()) || failed(findLate()))
    return failure();
  divide();
  divideReads();
  return stages;
}

FailureOr<ProductStages> fa::findProductStages(scf::ForOp loop,
                                               std::string &reason) {
  return StageFinder(loop, reason).find();
}

bool fa::agree(ProductStages &a, ProductStages &b) {
  return a.consume.getRing() == b.consume.getRing() &&
         a.accumulator == b.accumulator &&
         a.second.getTranspose() == b.second.getTranspose() &&
         a.second.getA().getType() == b.second.getA().getType();
}
