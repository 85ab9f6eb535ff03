//===- CountTraffic.cpp - Makes code count the bytes it moves -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorNames.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Execute/Traffic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fa;
using namespace fa::execute;

//===----------------------------------------------------------------------===//
// Which ops read
//===----------------------------------------------------------------------===//

/// Whether `op` is one that works on what its tensors hold.
static bool isComputation(Operation *op) {
  return isa<linalg::LinalgOp, attn::ForwardOp, attn::InitOp, attn::UpdateOp,
             attn::MergeOp, attn::FinalizeOp>(op);
}

/// Whether a computation reads an operand, rather than only writes over it.
static bool readsOperand(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.payloadUsesValueFromOperand(&operand);
  if (auto forward = dyn_cast<attn::ForwardOp>(op))
    return operand.getOperandNumber() < 3;
  auto dps = cast<DestinationStyleOpInterface>(op);
  return isa<attn::UpdateOp, attn::MergeOp>(op) || !dps.isDpsInit(&operand);
}

/// The value that stands for `operand` inside or behind a loop or branch.
static SmallVector<Value> getForwarded(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return {loop.getTiedLoopRegionIterArg(&operand)};
  if (isa<scf::YieldOp>(op) && isa<scf::IfOp>(op->getParentOp()))
    return {op->getParentOp()->getResult(operand.getOperandNumber())};
  if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return {op->getResult(0)};
  return {};
}

/// Whether something reads `tile` as it is; smaller slices of it do not.
static bool isRead(Value tile) {
  SmallVector<Value> pending = {tile};
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!value || !seen.insert(value).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      bool isCopied =
          isa<tensor::PadOp>(user) ||
          (isa<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>(user) &&
           use.getOperandNumber() == 0);
      if (isCopied || (isComputation(user) && readsOperand(use)))
        return true;
      llvm::append_range(pending, getForwarded(use));
    }
  }
  return false;
}

/// What `slice` was cut out of first.
static Value getRoot(Value slice) {
  while (Operation *op = slice.getDefiningOp())
    if (isa<tensor::ExtractSliceOp, tensor::CastOp>(op))
      slice = op->getOperand(0);
    else
      break;
  return slice;
}

//===----------------------------------------------------------------------===//
// Instrumentation
//===----------------------------------------------------------------------===//

namespace {
/// Adds calls to one function.
class Instrumenter {
public:
  Instrumenter(func::FuncOp function, LLVM::LLVMFuncOp counter,
               ArrayRef<unsigned> inputs)
      : function(function), counter(counter), names(function, inputs),
        builder(function.getContext()) {}

  void run();

private:
  void visit(Operation *op);
  void visitComputation(Operation *op);
  void emit(Value tensor, ArrayRef<OpFoldResult> sizes, bool isStore);
  void emitWhole(Value tensor, bool isStore);

  func::FuncOp function;
  LLVM::LLVMFuncOp counter;
  TensorNames names;
  OpBuilder builder;
};
} // namespace

/// Counts the bytes of `sizes` elements of `tensor`.
void Instrumenter::emit(Value tensor, ArrayRef<OpFoldResult> sizes,
                        bool isStore) {
  Location loc = tensor.getLoc();
  Type word = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, word, value);
  };
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  Value bytes = constant(element.getIntOrFloatBitWidth() / 8);
  for (OpFoldResult size : sizes) {
    Value index = getValueOrCreateConstantIndexOp(builder, loc, size);
    Value factor = arith::IndexCastOp::create(builder, loc, word, index);
    bytes = arith::MulIOp::create(builder, loc, bytes, factor);
  }
  LLVM::CallOp::create(
      builder, loc, counter,
      ValueRange{constant(names.get(tensor)), constant(isStore), bytes});
}

/// Counts all of a tensor.
void Instrumenter::emitWhole(Value tensor, bool isStore) {
  emit(tensor, tensor::getMixedSizes(builder, tensor.getLoc(), tensor),
       isStore);
}

/// Counts the whole tensors that a computation reads and writes.
void Instrumenter::visitComputation(Operation *op) {
  builder.setInsertionPoint(op);
  for (OpOperand &operand : op->getOpOperands())
    if (names.isWhole(operand.get()) && readsOperand(operand))
      emitWhole(operand.get(), /*isStore=*/false);
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults())
    if (names.isWhole(result))
      emitWhole(result, /*isStore=*/true);
}

void Instrumenter::visit(Operation *op) {
  if (isComputation(op))
    return visitComputation(op);
  builder.setInsertionPoint(op);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (!names.isWhole(slice.getResult()) &&
        names.isWhole(getRoot(slice.getSource())) && isRead(slice.getResult()))
      emit(slice.getSource(), slice.getMixedSizes(), /*isStore=*/false);
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (!names.isWhole(insert.getSource()) && names.isWhole(insert.getDest()))
      emit(insert.getDest(), insert.getMixedSizes(), /*isStore=*/true);
  } else if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op)) {
    builder.setInsertionPoint(op->getParentOp());
    if (!names.isWhole(insert.getSource()) && names.isWhole(insert.getDest()))
      emit(insert.getDest(), insert.getMixedSizes(), /*isStore=*/true);
  }
}

void Instrumenter::run() {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    visit(op);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct CountTraffic
    : public PassWrapper<CountTraffic, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountTraffic)

  CountTraffic() = default;
  CountTraffic(const CountTraffic &other) : PassWrapper(other) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect>();
  }

  StringRef getArgument() const override { return "count-traffic"; }
  StringRef getDescription() const override {
    return "make code count the bytes between tensors and tiles";
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    OpBuilder builder(module.getBodyRegion());
    Type word = builder.getI64Type();
    // No func.func: passes over those would find nothing in it and say so.
    auto counter = LLVM::LLVMFuncOp::create(
        builder, module.getLoc(), kCountFunction,
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()),
                                    {word, word, word}));
    unsigned inputs[] = {q, k, v};
    for (func::FuncOp function : functions)
      if (!function.isExternal())
        Instrumenter(function, counter, inputs).run();
  }

  Option<unsigned> q{*this, "q", llvm::cl::desc("the number of argument q")};
  Option<unsigned> k{*this, "k", llvm::cl::desc("the number of argument k")};
  Option<unsigned> v{*this, "v", llvm::cl::desc("the number of argument v")};
};
} // namespace

void fa::execute::registerCountTraffic() { PassRegistration<CountTraffic>(); }
