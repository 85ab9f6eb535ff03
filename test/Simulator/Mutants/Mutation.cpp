//===- Mutation.cpp - Small mistakes in a kernel -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mutation.h"

#include "fa/Dialect/Cta/IR/Cta.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"

#include <limits>

using namespace mlir;
using namespace fa;
using namespace fa::mutants;

/// What mistakes are made with.
static bool isSynchronising(Operation *op) {
  return isa<cta::AcquireOp, cta::ArriveOp, cta::ConsumeOp, cta::CopyOp,
             cta::LoadOp, cta::ReleaseOp, cta::SyncOp, cta::WaitOp>(op);
}

/// What an op can be moved past with a meaning.
static bool isLandmark(Operation *op) {
  return isSynchronising(op) || isa<cta::MmaOp, cta::ReadOp>(op) ||
         op->getNumRegions() > 0;
}

static SmallVector<Operation *> getOps(gpu::GPUFuncOp kernel) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isSynchronising(op))
      ops.push_back(op);
  });
  return ops;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The landmark before or after `op` in its block, or null.
static Operation *findNeighbour(Operation *op, bool up) {
  auto step = [up](Operation *o) {
    return up ? o->getPrevNode() : o->getNextNode();
  };
  for (Operation *other = step(op); other; other = step(other))
    if (isLandmark(other))
      return other;
  return nullptr;
}

/// Whether `op` may stand before (`up`) or after `place` without a use before a
/// definition.
static bool canMove(Operation *op, Operation *place, bool up) {
  Block *block = op->getBlock();
  if (up)
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      return !def || def->getBlock() != block || def->isBeforeInBlock(place);
    });
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return place->isBeforeInBlock(block->findAncestorOpInBlock(*user));
  });
}

/// The furthest place that `op` may move to, or null where it has to stay.
static Operation *findEnd(Operation *op, bool up) {
  Operation *end = nullptr;
  for (Operation *place = findNeighbour(op, up);
       place && canMove(op, place, up); place = findNeighbour(place, up))
    end = place;
  return end;
}

static Operation *findPlace(Mutation::Kind kind, Operation *op) {
  bool up = kind == Mutation::Kind::MoveUp || kind == Mutation::Kind::MoveFirst;
  if (kind == Mutation::Kind::MoveFirst || kind == Mutation::Kind::MoveLast) {
    Operation *end = findEnd(op, up);
    // One step has a name of its own.
    return end == findNeighbour(op, up) ? nullptr : end;
  }
  Operation *place = findNeighbour(op, up);
  return place && canMove(op, place, up) ? place : nullptr;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// What an op is about: its ring, its barrier, the tiles that its product
/// reads.
static void addSubjects(Operation *op,
                        llvm::SmallPtrSetImpl<void *> &subjects) {
  auto addTile = [&](Value tile) {
    Operation *def = tile.getDefiningOp();
    if (def && isa<cta::AcquireOp, cta::ConsumeOp>(def))
      subjects.insert(def->getOperand(0).getAsOpaquePointer());
    else
      subjects.insert(tile.getAsOpaquePointer());
  };
  for (Value operand : op->getOperands()) {
    if (isa<cta::RingType, cta::BarrierType>(operand.getType()))
      subjects.insert(operand.getAsOpaquePointer());
    if (isa<cta::TileType>(operand.getType()))
      addTile(operand);
    if (isa<cta::FlightType>(operand.getType()))
      if (Operation *product = operand.getDefiningOp())
        addSubjects(product, subjects);
  }
  for (Value result : op->getResults())
    if (isa<cta::TileType>(result.getType()))
      addTile(result);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      if (isLandmark(inner) && inner->getNumRegions() == 0)
        addSubjects(inner, subjects);
    });
}

static bool areRelated(Operation *a, Operation *b) {
  llvm::SmallPtrSet<void *, 8> left, right;
  addSubjects(a, left);
  addSubjects(b, right);
  return llvm::any_of(left, [&](void *p) { return right.contains(p); });
}

static std::string getName(Mutation::Kind kind, Operation *op,
                           Operation *place) {
  using K = Mutation::Kind;
  std::string what = op->getName().getStringRef().str();
  switch (kind) {
  case K::Drop:
    return "drop " + what;
  case K::Duplicate:
    return "duplicate " + what;
  case K::MoveUp:
  case K::MoveDown:
    return (kind == K::MoveUp ? "move up " : "move down ") + what + " past " +
           place->getName().getStringRef().str() +
           (areRelated(op, place) ? " (related)" : " (unrelated)");
  case K::MoveFirst:
    return "move first " + what;
  case K::MoveLast:
    return "move last " + what;
  }
  llvm_unreachable("all kinds are handled");
}

std::vector<Mutation> fa::mutants::enumerate(gpu::GPUFuncOp kernel) {
  using K = Mutation::Kind;
  std::vector<Mutation> mutations;
  for (auto [number, op] : llvm::enumerate(getOps(kernel)))
    for (K kind : {K::Drop, K::Duplicate, K::MoveUp, K::MoveDown, K::MoveFirst,
                   K::MoveLast}) {
      bool isMove = kind != K::Drop && kind != K::Duplicate;
      Operation *place = isMove ? findPlace(kind, op) : nullptr;
      if (isMove && !place)
        continue;
      mutations.push_back({kind, unsigned(number), getName(kind, op, place)});
    }
  return mutations;
}

//===----------------------------------------------------------------------===//
// Doing it
//===----------------------------------------------------------------------===//

/// What the registers of a product hold before it is done: its accumulator, or
/// nothing of use.
static Value findStaleFragment(cta::WaitOp wait) {
  auto product = wait.getFlight().getDefiningOp<cta::MmaOp>();
  if (product && product.getAcc())
    return product.getAcc();
  OpBuilder builder(wait);
  auto type = cast<VectorType>(wait.getFragment().getType());
  APFloat nan = APFloat::getNaN(
      cast<FloatType>(type.getElementType()).getFloatSemantics());
  return arith::ConstantOp::create(builder, wait.getLoc(),
                                   DenseElementsAttr::get(type, nan));
}

/// The nearest result of another op like `op` that it can use instead.
static Value findSubstitute(Operation *op, gpu::GPUFuncOp kernel) {
  if (auto wait = dyn_cast<cta::WaitOp>(op))
    return findStaleFragment(wait);
  DominanceInfo dominance(kernel);
  Value found;
  kernel.walk([&](Operation *other) {
    if (other != op && other->getName() == op->getName() &&
        other->getResultTypes() == op->getResultTypes() &&
        dominance.dominates(other, op))
      found = other->getResult(0);
  });
  return found;
}

static bool drop(Operation *op, gpu::GPUFuncOp kernel) {
  if (op->getNumResults() && !op->use_empty()) {
    Value substitute = findSubstitute(op, kernel);
    if (!substitute)
      return false;
    op->getResult(0).replaceAllUsesWith(substitute);
  }
  op->erase();
  return true;
}

bool fa::mutants::apply(const Mutation &mutation, gpu::GPUFuncOp kernel) {
  using K = Mutation::Kind;
  Operation *op = getOps(kernel)[mutation.op];
  switch (mutation.kind) {
  case K::Drop:
    return drop(op, kernel);
  case K::Duplicate:
    op->getBlock()->getOperations().insertAfter(op->getIterator(), op->clone());
    return true;
  case K::MoveUp:
  case K::MoveFirst:
    op->moveBefore(findPlace(mutation.kind, op));
    return true;
  case K::MoveDown:
  case K::MoveLast:
    op->moveAfter(findPlace(mutation.kind, op));
    return true;
  }
  llvm_unreachable("all kinds are handled");
}
