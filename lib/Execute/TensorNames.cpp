//===- TensorNames.cpp - What the tensors of an attention are -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorNames.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fa;
using namespace fa::execute;

std::string fa::execute::str(NameSet names) {
  static constexpr StringLiteral texts[kNumNames] = {
      "q", "k", "v", "o", "lse", "acc", "max", "sum", "s", "p"};
  SmallVector<StringRef> parts;
  for (unsigned i = 0; i < kNumNames; ++i)
    if (names & (1u << i))
      parts.push_back(texts[i]);
  return parts.empty() ? "other" : llvm::join(parts, "=");
}

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

/// Notes that both are one tensor. An empty one is nothing yet: it may become
/// several.
void TensorNames::join(Value left, Value right) {
  if (isTensor(left) && isTensor(right) &&
      !left.getDefiningOp<tensor::EmptyOp>() &&
      !right.getDefiningOp<tensor::EmptyOp>())
    classes.unionSets(left.getAsOpaquePointer(), right.getAsOpaquePointer());
}

/// A loop's initial values, its region's arguments and its results.
void TensorNames::joinLoops(Operation *op) {
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    for (auto [init, argument] :
         llvm::zip(loop.getInits(), loop.getRegionIterArgs()))
      join(init, argument);
    for (auto [argument, result] :
         llvm::zip(loop.getRegionIterArgs(), op->getResults()))
      join(argument, result);
  }
  if (isa<scf::YieldOp>(op) && isa<scf::ForOp, scf::IfOp>(op->getParentOp()))
    for (auto [operand, result] :
         llvm::zip(op->getOperands(), op->getParentOp()->getResults()))
      join(operand, result);
}

void TensorNames::joinOp(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<tensor::ExtractSliceOp, tensor::CastOp, tensor::CollapseShapeOp,
            tensor::ExpandShapeOp, tensor::PadOp>(
          [&](auto view) { join(view->getOperand(0), view->getResult(0)); })
      .Case<tensor::InsertSliceOp>([&](auto insert) {
        join(insert.getSource(), insert.getDest());
        join(insert.getDest(), insert.getResult());
      })
      .Case<tensor::ParallelInsertSliceOp>(
          [&](auto insert) { join(insert.getSource(), insert.getDest()); })
      .Case<DestinationStyleOpInterface>([&](auto dps) {
        for (OpOperand &init : dps.getDpsInitsMutable())
          if (OpResult result = dps.getTiedOpResult(&init))
            join(init.get(), result);
      });
  joinLoops(op);
}

void TensorNames::add(Value value, TensorName name) {
  if (!isTensor(value) || value.getDefiningOp<tensor::EmptyOp>())
    return;
  void *key = classes.getOrInsertLeaderValue(value.getAsOpaquePointer());
  names[key] |= toSet(name);
}

/// Names the operands and results of an attention op.
void TensorNames::nameOp(Operation *op) {
  auto addAll = [&](ValueRange values, ArrayRef<TensorName> known) {
    for (auto [value, name] : llvm::zip(values, known))
      add(value, name);
  };
  using Name = TensorName;
  constexpr Name inputs[] = {Name::Q, Name::K, Name::V};
  constexpr Name state[] = {Name::Acc, Name::Max, Name::Sum};
  constexpr Name outputs[] = {Name::O, Name::Lse};
  llvm::TypeSwitch<Operation *>(op)
      .Case<attn::ForwardOp>([&](auto forward) {
        addAll(forward->getOperands().take_front(3), inputs);
        addAll(forward->getResults(), outputs);
      })
      .Case<attn::UpdateOp>([&](auto update) {
        addAll(update->getOperands().take_front(3), inputs);
        addAll(update->getResults(), state);
      })
      .Case<attn::InitOp>([&](auto init) { addAll(init->getResults(), state); })
      .Case<attn::MergeOp>([&](auto merge) {
        addAll(merge->getOperands().take_front(3), state);
        addAll(merge->getResults(), state);
      })
      .Case<attn::FinalizeOp>([&](auto finalize) {
        addAll(finalize->getOperands().take_front(3), state);
        addAll(finalize->getResults(), outputs);
      })
      .Case<func::ReturnOp>(
          [&](auto ret) { addAll(ret->getOperands(), outputs); });
}

/// Names the scores, a product of q and k, and the weights, whose product with
/// v is taken.
void TensorNames::nameScores(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || op->getNumResults() == 0)
    return;
  NameSet read = 0;
  for (Value input : linalgOp.getDpsInputs())
    read |= get(input);
  NameSet queries = toSet(TensorName::Q) | toSet(TensorName::K);
  Value result = op->getResult(0);
  bool isProduct = linalg::isaContractionOpInterface(linalgOp);
  if (isProduct && (read & queries) == queries && get(result) == 0)
    add(result, TensorName::S);
  if (isProduct && (read & toSet(TensorName::V)))
    for (Value input : linalgOp.getDpsInputs())
      if (get(input) == 0)
        add(input, TensorName::P);
}

TensorNames::TensorNames(func::FuncOp function, ArrayRef<unsigned> inputs) {
  function.walk([&](Operation *op) { joinOp(op); });
  constexpr TensorName inputNames[] = {TensorName::Q, TensorName::K,
                                       TensorName::V};
  for (auto [number, name] : llvm::zip(inputs, inputNames))
    if (number < function.getNumArguments())
      add(function.getArgument(number), name);
  function.walk([&](Operation *op) { nameOp(op); });
  function.walk([&](Operation *op) { nameScores(op); });
}

NameSet TensorNames::get(Value value) const {
  auto leader = classes.findLeader(value.getAsOpaquePointer());
  return leader == classes.member_end() ? 0 : names.lookup(*leader);
}

bool TensorNames::isWhole(Value value) const {
  constexpr NameSet rows =
      toSet(TensorName::Lse) | toSet(TensorName::Max) | toSet(TensorName::Sum);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() >= (get(value) & rows ? 2 : 3);
}
