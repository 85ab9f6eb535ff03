//===- SplitCount.cpp - How many parts keys are split into -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitCount.h"

#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace fa::attn;

/// Occupancy is computed in integers, in these units.
static constexpr int64_t kOccupancyUnit = 100000;
/// The share of the best occupancy that is good enough, per cent.
static constexpr int64_t kGoodEnough = 95;

namespace {
/// Index arithmetic of the count.
struct CountBuilder {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value ceilDiv(Value lhs, Value rhs) {
    return arith::CeilDivSIOp::create(builder, loc, lhs, rhs);
  }
  Value mul(Value lhs, Value rhs) {
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  }
  /// The number of iterations of a parallel loop.
  Value countIterations(scf::ForallOp forall);
  /// The share of the places that `blocks` fill, in kOccupancyUnit.
  Value occupancy(Value blocks, Value places);
  /// Carries a value through n = 1 ... last.
  Value scan(Value last, Value init, function_ref<Value(Value, Value)> body);
};
} // namespace

Value CountBuilder::countIterations(scf::ForallOp forall) {
  Value count = constant(1);
  for (auto [lower, upper, step] :
       llvm::zip_equal(forall.getMixedLowerBound(), forall.getMixedUpperBound(),
                       forall.getMixedStep())) {
    auto value = [&](OpFoldResult ofr) {
      return getValueOrCreateConstantIndexOp(builder, loc, ofr);
    };
    Value length =
        arith::SubIOp::create(builder, loc, value(upper), value(lower));
    count = mul(count, ceilDiv(length, value(step)));
  }
  return count;
}

Value CountBuilder::occupancy(Value blocks, Value places) {
  // No block at all: any division will do.
  Value waves = arith::MaxSIOp::create(builder, loc, ceilDiv(blocks, places),
                                       constant(1));
  return arith::DivSIOp::create(
      builder, loc, mul(blocks, constant(kOccupancyUnit)), mul(waves, places));
}

Value CountBuilder::scan(Value last, Value init,
                         function_ref<Value(Value, Value)> body) {
  Value one = constant(1);
  Value end = arith::AddIOp::create(builder, loc, last, one);
  auto loop = scf::ForOp::create(builder, loc, one, end, one, init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(builder, loc, next);
  return loop.getResult(0);
}

Value fa::attn::buildSplitCount(OpBuilder &builder, scf::ForallOp forall,
                                UpdateOp update, scf::ForOp loop,
                                int64_t capacity) {
  CountBuilder b{builder, update.getLoc()};

  // 1. At most a part for each block of keys.
  Value last = b.constant(kMaxSplits);
  RankedTensorType kType = update.getK().getType();
  int64_t block = kType.getDimSize(0);
  if (std::optional<int64_t> step = getConstantIntValue(loop.getStep());
      step && ShapedType::isDynamic(block))
    block = *step;
  Value keys = update.getSeqKV();
  if (keys.getParentRegion()->isAncestor(forall->getParentRegion())) {
    Value blocks = b.ceilDiv(keys, b.constant(block));
    last = arith::MinSIOp::create(builder, b.loc, last, blocks);
    last = arith::MaxSIOp::create(builder, b.loc, last, b.constant(1));
  }

  // 2. The best occupancy, then the first that is good enough.
  Value tiles = b.countIterations(forall);
  Value places = b.constant(capacity);
  Value best = b.scan(last, b.constant(0), [&](Value n, Value most) -> Value {
    return arith::MaxSIOp::create(builder, b.loc, most,
                                  b.occupancy(b.mul(tiles, n), places));
  });
  Value zero = b.constant(0);
  Value wanted = b.mul(best, b.constant(kGoodEnough));
  Value found = b.scan(last, zero, [&](Value n, Value chosen) -> Value {
    Value percent =
        b.mul(b.occupancy(b.mul(tiles, n), places), b.constant(100));
    Value isGood = arith::CmpIOp::create(
        builder, b.loc, arith::CmpIPredicate::sge, percent, wanted);
    Value isFirst = arith::CmpIOp::create(
        builder, b.loc, arith::CmpIPredicate::eq, chosen, zero);
    Value takes = arith::AndIOp::create(builder, b.loc, isGood, isFirst);
    return arith::SelectOp::create(builder, b.loc, takes, n, chosen);
  });
  return found;
}
