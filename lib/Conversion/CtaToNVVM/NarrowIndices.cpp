//===- NarrowIndices.cpp - Coordinates in 32 bits -------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows, columns, blocks and the sizes that they are compared with are fewer
// than 2^31, so that loops and coordinates take one register each instead of
// two, and divisions are short. Offsets in memory stay in 64 bits.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fa;

namespace {
/// Makes i32 twins of index values.
class IndexNarrowing {
public:
  explicit IndexNarrowing(gpu::GPUFuncOp func) : func(func) {}

  void run();

private:
  /// The i32 twin of an index value, made once beside it.
  Value narrow(Value index);
  Value build(ImplicitLocOpBuilder &b, Value index);
  /// The twin of `condition`, if it compares indices.
  Value narrowCondition(ImplicitLocOpBuilder &b, Value condition);
  /// Makes an index loop count in i32.
  void narrowLoop(scf::ForOp loop);
  /// Replaces the indices among `op`'s operands by widened twins.
  void narrowOperands(Operation *op);

  gpu::GPUFuncOp func;
  llvm::DenseMap<Value, Value> twins;
};
} // namespace

/// Operations that mean the same in 32 bits, on values that fit them.
static bool isNarrowable(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp,
             arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp, arith::DivUIOp,
             arith::DivSIOp, arith::RemUIOp, arith::RemSIOp, arith::CeilDivUIOp,
             arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
}

Value IndexNarrowing::narrow(Value index) {
  if (Value twin = twins.lookup(index))
    return twin;
  ImplicitLocOpBuilder b(index.getLoc(), index.getContext());
  b.setInsertionPointAfterValue(index);
  Value twin = build(b, index);
  twins[index] = twin;
  return twin;
}

Value IndexNarrowing::build(ImplicitLocOpBuilder &b, Value index) {
  I32Builder i{b};
  Operation *op = index.getDefiningOp();
  if (auto constant = index.getDefiningOp<arith::ConstantIndexOp>())
    return i.constant(constant.value());
  if (auto select = index.getDefiningOp<arith::SelectOp>()) {
    Value onTrue = narrow(select.getTrueValue());
    Value onFalse = narrow(select.getFalseValue());
    Value condition = narrowCondition(b, select.getCondition());
    return arith::SelectOp::create(b, condition, onTrue, onFalse);
  }
  if (!op || !isNarrowable(op))
    return i.fromIndex(index);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(narrow(operand));
  OperationState state(op->getLoc(), op->getName(), operands, {b.getI32Type()});
  return b.create(state)->getResult(0);
}

Value IndexNarrowing::narrowCondition(ImplicitLocOpBuilder &b,
                                      Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || !compare.getLhs().getType().isIndex())
    return condition;
  return arith::CmpIOp::create(b, compare.getPredicate(),
                               narrow(compare.getLhs()),
                               narrow(compare.getRhs()));
}

void IndexNarrowing::narrowLoop(scf::ForOp loop) {
  if (!loop.getInductionVar().getType().isIndex())
    return;
  for (unsigned n = 0; n < 3; ++n)
    loop->setOperand(n, narrow(loop->getOperand(n)));
  BlockArgument counter = loop.getBody()->getArgument(0);
  counter.setType(IntegerType::get(loop.getContext(), 32));
  auto b = ImplicitLocOpBuilder::atBlockBegin(loop.getLoc(), loop.getBody());
  auto wide = arith::IndexCastOp::create(b, b.getIndexType(), counter);
  counter.replaceAllUsesExcept(wide, wide);
  twins[wide] = counter;
}

void IndexNarrowing::narrowOperands(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get().getType().isIndex() &&
        !operand.get().getDefiningOp<arith::IndexCastUIOp>())
      operand.set(arith::IndexCastOp::create(b, b.getIndexType(),
                                             narrow(operand.get())));
}

void IndexNarrowing::run() {
  SmallVector<Operation *> users;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto cast = dyn_cast<arith::IndexCastOp>(op);
    if (isa<scf::ForOp, cta::LoadOp, cta::CopyOp, cta::StoreOp, cta::FetchOp,
            cta::LookupOp, cta::SyncOp, cta::ArriveOp>(op) ||
        (cast && cast.getType().isInteger(32)))
      users.push_back(op);
  });
  for (Operation *op : users) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      narrowLoop(loop);
    } else if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
      Value twin = narrow(cast.getIn());
      cast.replaceAllUsesWith(twin);
      twins[cast.getIn()] = twin;
      cast.erase();
    } else {
      narrowOperands(op);
    }
  }
}

void fa::narrowIndices(gpu::GPUFuncOp func) { IndexNarrowing(func).run(); }
