//===- ModuleMutator.cpp - One module into another -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleMutator.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace fa::fuzz;
using namespace mlir;

static constexpr int64_t kNumbers[] = {
    0,  1,  2,   3,   4,   5,    7,     8,         15,        16,
    17, 32, 48,  63,  64,  65,   96,    100,       128,       192,
    -1, -2, -64, 256, 512, 1000, 65535, INT32_MAX, INT64_MAX, INT64_MIN};

/// All operations inside `module`.
static SmallVector<Operation *> collectOps(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (op != module)
      ops.push_back(op);
  });
  return ops;
}

/// All values inside `module` of the type of `value`, but `value`.
static SmallVector<Value> collectAlike(ModuleOp module, Value value) {
  SmallVector<Value> values;
  auto add = [&](ValueRange range) {
    for (Value other : range)
      if (other != value && other.getType() == value.getType())
        values.push_back(other);
  };
  module.walk([&](Operation *op) {
    add(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        add(block.getArguments());
  });
  return values;
}

static void changeOperand(ModuleOp module, Operation *op, Random &random) {
  if (op->getNumOperands() == 0)
    return;
  unsigned index = random.below(op->getNumOperands());
  SmallVector<Value> values = collectAlike(module, op->getOperand(index));
  if (!values.empty())
    op->setOperand(index, random.pick(values));
}

/// A copy behind `op`, which some of its users use.
static void repeat(Operation *op, Random &random) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return;
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  Operation *copy = builder.clone(*op);
  op->replaceUsesWithIf(copy->getResults(), [&](OpOperand &use) {
    return use.getOwner() != copy && random.oneIn(2);
  });
}

static void erase(ModuleOp module, Operation *op, Random &random) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return;
  for (Value result : op->getResults()) {
    if (result.use_empty())
      continue;
    SmallVector<Value> values = collectAlike(module, result);
    llvm::erase_if(values, [&](Value value) {
      return op->isAncestor(value.getParentBlock()->getParentOp()) ||
             value.getDefiningOp() == op;
    });
    if (values.empty())
      return;
    result.replaceAllUsesWith(random.pick(values));
  }
  op->erase();
}

static void move(Operation *op, Random &random) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return;
  SmallVector<Operation *> others;
  for (Operation &other : *op->getBlock())
    if (&other != op)
      others.push_back(&other);
  if (!others.empty())
    op->moveBefore(random.pick(others));
}

/// `attr` with another number in it, or null where it holds none.
static Attribute withNumber(Attribute attr, Random &random) {
  int64_t number = random.pick(kNumbers);
  Builder builder(attr.getContext());
  if (auto integer = dyn_cast<IntegerAttr>(attr)) {
    unsigned width = integer.getValue().getBitWidth();
    return IntegerAttr::get(integer.getType(),
                            APInt(width, number, /*isSigned=*/true,
                                  /*implicitTrunc=*/true));
  }
  if (auto list = dyn_cast<DenseI64ArrayAttr>(attr); list && !list.empty()) {
    SmallVector<int64_t> values(list.asArrayRef());
    random.pick(values) = number;
    return builder.getDenseI64ArrayAttr(values);
  }
  return {};
}

/// Another number in an attribute, or one attribute less that the operation can
/// do without.
static void changeAttribute(Operation *op, Random &random) {
  SmallVector<NamedAttribute> attrs(op->getAttrDictionary().getValue());
  if (attrs.empty())
    return;
  NamedAttribute attr = random.pick(attrs);
  // gpu.func counts its own arguments by this; MLIR's verifier trusts it.
  if (attr.getName() == "workgroup_attributions")
    return;
  if (Attribute changed = withNumber(attr.getValue(), random)) {
    op->setAttr(attr.getName(), changed);
    // A property that the number is no value of is gone now.
    if (op->getAttr(attr.getName()) != changed)
      op->setAttr(attr.getName(), attr.getValue());
    return;
  }
  if (isa<UnitAttr>(attr.getValue()) || op->getDiscardableAttr(attr.getName()))
    op->removeAttr(attr.getName());
}

/// A schedule of numbers that are possible, if not sensible.
static void setSchedule(ModuleOp module, Random &random) {
  SmallVector<Operation *> functions;
  module.walk([&](FunctionOpInterface op) { functions.push_back(op); });
  if (functions.empty())
    return;
  static constexpr int64_t kSizes[] = {1,  7,   16,  32,   48,
                                       64, 100, 128, 1000, 65536};
  static constexpr int64_t kCounts[] = {1, 1, 2, 3, 4, 8, 33};
  module.getContext()->loadDialect<fa::attn::AttnDialect>();
  auto schedule = fa::attn::ScheduleAttr::get(
      module.getContext(), random.oneIn(8) ? "sm_1" : "sm_90a",
      random.pick(kSizes), random.pick(kSizes), random.pick(kCounts),
      random.pick(kCounts), random.pick(kCounts),
      random.oneIn(4) ? fa::attn::Partition::SplitK
                      : fa::attn::Partition::SplitQ,
      random.oneIn(2) ? fa::attn::Rescale::Always
                      : (random.oneIn(2) ? fa::attn::Rescale::Lazy
                                         : fa::attn::Rescale::FirstMax));
  random.pick(functions)->setAttr("attn.schedule", schedule);
}

void fa::fuzz::changeModule(ModuleOp module, Random &random) {
  SmallVector<Operation *> ops = collectOps(module);
  if (ops.empty())
    return;
  Operation *op = random.pick(ops);
  switch (random.below(10)) {
  case 0:
  case 1:
  case 2:
    return changeOperand(module, op, random);
  case 3:
    return repeat(op, random);
  case 4:
  case 5:
    return erase(module, op, random);
  case 6:
    return move(op, random);
  case 7:
  case 8:
    return changeAttribute(op, random);
  default:
    return setSchedule(module, random);
  }
}
