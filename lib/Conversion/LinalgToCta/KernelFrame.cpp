//===- KernelFrame.cpp - A kernel's signature, grid and teams -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "fa/Dialect/Cta/IR/Cta.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fa;

/// A whole tensor as a kernel sees it: global memory, any strides but one for
/// the last dimension.
static MemRefType memrefOf(RankedTensorType type) {
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  if (!strides.empty())
    strides.back() = 1;
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), /*offset=*/0, strides),
      gpu::AddressSpaceAttr::get(type.getContext(), gpu::AddressSpace::Global));
}

/// The forall's result that a returned value is.
FailureOr<OpResult> KernelEmitter::loopResult(OpOperand &returned) {
  Value value = returned.get();
  if (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  if (value.getDefiningOp() != loop)
    return returned.getOwner()->emitError(
        "a kernel's function returns the results of its one scf.forall, found "
        "another value");
  return cast<OpResult>(value);
}

/// The argument of the function that the forall's result is written to; null
/// where the kernel has an argument more for it.
static BlockArgument destinationOf(scf::ForallOp loop, OpResult result) {
  return dyn_cast<BlockArgument>(loop.getTiedOpOperand(result)->get());
}

FailureOr<gpu::GPUFuncOp> KernelEmitter::emitSignature() {
  SmallVector<Type> types;
  auto add = [&](Type type) {
    auto tensorType = dyn_cast<RankedTensorType>(type);
    types.push_back(tensorType ? Type(memrefOf(tensorType)) : type);
  };
  for (Type type : function.getArgumentTypes())
    add(type);
  Operation *ret = function.getBody().front().getTerminator();
  for (OpOperand &returned : ret->getOpOperands()) {
    FailureOr<OpResult> result = loopResult(returned);
    if (failed(result))
      return failure();
    if (!destinationOf(loop, *result))
      add(returned.get().getType());
  }
  auto kernel =
      gpu::GPUFuncOp::create(builder, function.getLoc(), function.getName(),
                             builder.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  for (auto [arg, copy] :
       llvm::zip(function.getArguments(), kernel.getArguments()))
    mapping.map(arg, copy);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  return kernel;
}

/// Ties the forall's shared outputs to the kernel's arguments.
LogicalResult KernelEmitter::mapResults(gpu::GPUFuncOp kernel) {
  unsigned nextResult = function.getNumArguments();
  Operation *ret = function.getBody().front().getTerminator();
  for (OpOperand &returned : ret->getOpOperands()) {
    FailureOr<OpResult> result = loopResult(returned);
    if (failed(result))
      return failure();
    BlockArgument destination = destinationOf(loop, *result);
    Value memref = destination ? mapping.lookup(destination)
                               : kernel.getArgument(nextResult++);
    mapping.map(loop.getRegionIterArgs()[result->getResultNumber()], memref);
    outputs[memref] = loop.getTiedOpOperand(*result)->get();
  }
  for (BlockArgument output : loop.getRegionIterArgs())
    if (!mapping.contains(output))
      return loop.emitError("a result of the scf.forall is not returned");
  return success();
}

/// Sizes and constants that the forall uses from outside.
LogicalResult KernelEmitter::emitPreamble() {
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isa<tensor::EmptyOp, tensor::CastOp>(op) || &op == loop)
      continue;
    if (failed(emitScalarOp(op)))
      return failure();
  }
  return success();
}

/// Whether a loop's bounds use `value`, so that blocks differ in length.
static bool hasBoundsThatUse(Operation *root, Value value) {
  llvm::SmallDenseSet<Value> reached{value};
  bool found = false;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto inner = dyn_cast<scf::ForOp>(op))
      found |= reached.contains(inner.getLowerBound()) ||
               reached.contains(inner.getUpperBound());
    if (llvm::any_of(op->getOperands(),
                     [&](Value v) { return reached.contains(v); }))
      for (Value result : op->getResults())
        if (result.getType().isIntOrIndex())
          reached.insert(result);
  });
  return found;
}

/// The kernel's argument and dimension that `size` is the size of.
static std::optional<std::pair<int64_t, int64_t>>
findDimension(Value size, const IRMapping &mapping) {
  auto dim = size.getDefiningOp<tensor::DimOp>();
  if (!dim || !dim.getConstantIndex())
    return std::nullopt;
  auto argument =
      dyn_cast_if_present<BlockArgument>(mapping.lookupOrNull(dim.getSource()));
  if (!argument)
    return std::nullopt;
  return std::pair<int64_t, int64_t>(argument.getArgNumber(),
                                     *dim.getConstantIndex());
}

/// The extent of a loop that counts places for blocks, up to
/// ceil(size / constant) + size of another dimension; else null.
static cta::ExtentAttr findSlotExtent(OpFoldResult upper,
                                      const IRMapping &mapping) {
  auto value = dyn_cast<Value>(upper);
  auto sum = value ? value.getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  auto blocks = sum ? sum.getLhs().getDefiningOp<arith::CeilDivUIOp>()
                    : arith::CeilDivUIOp();
  if (!blocks)
    return {};
  std::optional<int64_t> tile =
      getConstantIntValue(getAsOpFoldResult(blocks.getRhs()));
  auto rows = findDimension(blocks.getLhs(), mapping);
  auto more = findDimension(sum.getRhs(), mapping);
  if (!tile || !rows || !more)
    return {};
  return cta::ExtentAttr::get(upper.getContext(), rows->first, rows->second,
                              *tile, more->first, more->second);
}

/// How the sizes of arguments make the number of the loop's blocks: those of
/// the result's dimension that the induction variable cuts, or of a loop over
/// places for blocks.
static FailureOr<cta::ExtentAttr> findExtent(scf::ForallOp loop,
                                             unsigned number, int64_t step,
                                             const IRMapping &mapping) {
  Value iv = loop.getInductionVar(number);
  for (Operation &op : loop.getTerminator().getYieldingOps()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(op);
    for (auto [dim, offset] : llvm::enumerate(insert.getMixedOffsets()))
      if (dyn_cast<Value>(offset) == iv)
        return cta::ExtentAttr::get(
            loop.getContext(),
            cast<BlockArgument>(mapping.lookup(insert.getDest()))
                .getArgNumber(),
            dim, step, cta::ExtentAttr::kNone, 0);
  }
  if (cta::ExtentAttr slots =
          findSlotExtent(loop.getMixedUpperBound()[number], mapping))
    return slots;
  return loop.emitError("a loop of the scf.forall neither chooses a slice of a "
                        "result nor counts places for blocks");
}

LogicalResult KernelEmitter::emitGrid(gpu::GPUFuncOp kernel) {
  Location loc = loop.getLoc();
  auto value = [&](OpFoldResult ofr) -> Value {
    if (auto v = dyn_cast<Value>(ofr))
      return mapping.lookupOrDefault(v);
    return arith::ConstantIndexOp::create(builder, loc,
                                          *getConstantIntValue(ofr));
  };

  // 1. How many blocks there are in each direction.
  SmallVector<Value> extents, steps;
  SmallVector<Attribute> extentAttrs;
  for (auto [number, lower, upper, step] :
       llvm::enumerate(loop.getMixedLowerBound(), loop.getMixedUpperBound(),
                       loop.getMixedStep())) {
    std::optional<int64_t> stepValue = getConstantIntValue(step);
    if (!isConstantIntValue(lower, 0) || !stepValue)
      return loop.emitError("a kernel's loops start at 0 with constant steps");
    FailureOr<cta::ExtentAttr> extent =
        findExtent(loop, number, *stepValue, mapping);
    if (failed(extent))
      return failure();
    extentAttrs.push_back(*extent);
    steps.push_back(value(step));
    extents.push_back(*stepValue == 1
                          ? value(upper)
                          : arith::CeilDivUIOp::create(
                                builder, loc, value(upper), steps.back()));
  }
  kernel->setAttr("cta.extents", builder.getArrayAttr(extentAttrs));

  // 2. The work items, the longest first where their lengths differ.
  bool differs = hasBoundsThatUse(loop, loop.getInductionVars().front());
  auto order = cta::OrderAttr::get(
      builder.getContext(),
      differs ? cta::WorkOrder::LPT : cta::WorkOrder::Natural,
      differs && extents.size() > 1 ? cta::kGroupBytes : 0);
  auto work = cta::WorkOp::create(builder, loc, extents, order);
  Block *workBody = builder.createBlock(
      &work.getBody(), {},
      SmallVector<Type>(extents.size(), builder.getIndexType()),
      SmallVector<Location>(extents.size(), loc));
  for (auto [iv, coordinate, step] : llvm::zip_equal(
           loop.getInductionVars(), workBody->getArguments(), steps)) {
    Value start = coordinate;
    if (!isConstantIntValue(step, 1))
      start = arith::MulIOp::create(builder, loc, coordinate, step);
    mapping.map(iv, start);
  }

  // 3. One role for all teams.
  auto role = cta::RoleOp::create(builder, loc, "all", shape.teams, shape.warps,
                                  nullptr);
  cta::YieldOp::create(builder, loc);
  Block *roleBody =
      builder.createBlock(&role.getBody(), {}, {builder.getIndexType()}, {loc});
  team = roleBody->getArgument(0);
  return success();
}

FailureOr<gpu::GPUFuncOp> KernelEmitter::emit() {
  FailureOr<gpu::GPUFuncOp> signature = emitSignature();
  if (failed(signature))
    return failure();
  gpu::GPUFuncOp kernel = *signature;
  if (failed(mapResults(kernel)) || failed(emitPreamble()) ||
      failed(findElementOutputs()) || failed(divideTiles()) ||
      failed(emitGrid(kernel)) || failed(emitBlock(*loop.getBody())) ||
      failed(emitStores())) {
    kernel.erase();
    return failure();
  }
  cta::YieldOp::create(builder, loop.getLoc());
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  gpu::ReturnOp::create(builder, function.getLoc());
  return kernel;
}
