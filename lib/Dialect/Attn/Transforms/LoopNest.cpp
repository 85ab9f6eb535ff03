//===- LoopNest.cpp - Nests over slices of full-size state ----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "Simplify.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

using OFR = OpFoldResult;

//===----------------------------------------------------------------------===//
// What the nest is
//===----------------------------------------------------------------------===//

/// The single loop in `loop`'s body, which passes its iter_args through; there
/// may be arithmetic before it. Null otherwise.
static scf::ForOp perfectlyNested(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  auto inner = dyn_cast_if_present<scf::ForOp>(yield->getPrevNode());
  if (!inner || !llvm::equal(inner.getInitArgs(), loop.getRegionIterArgs()) ||
      !llvm::equal(inner.getResults(), loop.getYieldedValues()))
    return {};
  for (Operation &op : loop.getBody()->without_terminator())
    if (&op != inner && (!isMemoryEffectFree(&op) || op.getNumRegions() != 0))
      return {};
  return inner;
}

static bool sameSlice(OffsetSizeAndStrideOpInterface lhs,
                      OffsetSizeAndStrideOpInterface rhs) {
  return isEqualConstantIntOrValueArray(lhs.getMixedOffsets(),
                                        rhs.getMixedOffsets()) &&
         isEqualConstantIntOrValueArray(lhs.getMixedSizes(),
                                        rhs.getMixedSizes()) &&
         isEqualConstantIntOrValueArray(lhs.getMixedStrides(),
                                        rhs.getMixedStrides());
}

/// Finds the slice of each iter_arg of the innermost loop.
static LogicalResult findStates(Nest &nest, std::string &reason) {
  for (auto [arg, yielded] : llvm::zip_equal(nest.inner().getRegionIterArgs(),
                                             nest.inner().getYieldedValues())) {
    State state;
    state.insert = yielded.getDefiningOp<tensor::InsertSliceOp>();
    for (Operation *user : arg.getUsers())
      if (auto extract = dyn_cast<tensor::ExtractSliceOp>(user))
        state.extract = extract;
    unsigned uses = std::distance(arg.use_begin(), arg.use_end());
    if (!state.insert || !state.extract || uses != 2 ||
        state.insert.getDest() != arg) {
      reason = "a state tensor is not read and written in one slice each";
      return failure();
    }
    if (!sameSlice(state.extract, state.insert)) {
      reason = "a state tensor is read at one slice and written at another";
      return failure();
    }
    nest.states.push_back(state);
  }
  return success();
}

/// Whether `size` is at most `step`, so that slices a step apart are disjoint.
static bool atMostStep(OFR size, OFR step) {
  std::optional<int64_t> stepValue = getConstantIntValue(step);
  if (!stepValue)
    return isEqualConstantIntOrValue(size, step);
  if (std::optional<int64_t> value = getConstantIntValue(size))
    return *value <= *stepValue;
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, cast<Value>(size),
      /*stopCondition=*/nullptr, /*closedUB=*/true);
  return succeeded(bound) && *bound <= *stepValue;
}

/// Classifies the loops: an induction variable that is the offset of one
/// dimension of every state makes a parallel loop, one that is in none a
/// sequential one. Anything else is not known to be legal.
static LogicalResult classifyLoops(Nest &nest, std::string &reason) {
  for (scf::ForOp loop : nest.loops) {
    unsigned chosen = 0;
    for (State &state : nest.states) {
      unsigned dims = 0;
      for (auto [offset, size] :
           llvm::zip_equal(state.extract.getMixedOffsets(),
                           state.extract.getMixedSizes())) {
        if (dyn_cast<Value>(offset) != loop.getInductionVar())
          continue;
        ++dims;
        if (!atMostStep(size, loop.getStep())) {
          reason = "slices of different iterations may overlap";
          return failure();
        }
      }
      chosen += dims > 0;
    }
    if (chosen != 0 && chosen != nest.states.size()) {
      reason = "a loop chooses the slice of some state tensors only";
      return failure();
    }
    nest.isParallel.push_back(chosen != 0);
  }
  // An offset that is not an induction variable must come from outside.
  for (State &state : nest.states)
    for (OFR offset : state.extract.getMixedOffsets())
      if (auto value = dyn_cast<Value>(offset))
        if (!value.getParentRegion()->isAncestor(
                nest.outer()->getParentRegion()) &&
            llvm::none_of(nest.loops, [&](scf::ForOp loop) {
              return loop.getInductionVar() == value;
            })) {
          reason = "the offset of a slice is computed inside the nest";
          return failure();
        }
  return success();
}

SmallVector<scf::ForOp> fa::attn::findOuterLoops(FunctionOpInterface function) {
  SmallVector<scf::ForOp> outers;
  function->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    outers.push_back(loop);
    return WalkResult::skip();
  });
  return outers;
}

FailureOr<Nest> fa::attn::matchNest(scf::ForOp outer, std::string &reason) {
  Nest nest;
  for (scf::ForOp loop = outer; loop; loop = perfectlyNested(loop))
    nest.loops.push_back(loop);
  if (nest.inner().getNumRegionIterArgs() == 0) {
    reason = "the nest carries no state";
    return failure();
  }
  if (failed(findStates(nest, reason)) || failed(classifyLoops(nest, reason)))
    return failure();
  if (llvm::none_of(nest.isParallel, [](bool p) { return p; }) ||
      llvm::all_of(nest.isParallel, [](bool p) { return p; })) {
    reason = "the nest needs loops that choose the slices of the state and "
             "loops that do not";
    return failure();
  }
  for (scf::ForOp loop : nest.loops)
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (!bound.getParentRegion()->isAncestor(
              nest.outer()->getParentRegion())) {
        reason = "a loop's bounds depend on another loop of the nest";
        return failure();
      }
  return nest;
}

//===----------------------------------------------------------------------===//
// What moves along
//===----------------------------------------------------------------------===//

std::optional<Consumer> fa::attn::findConsumer(scf::ForOp outer) {
  Operation *user = nullptr;
  for (Operation *candidate : outer->getUsers()) {
    if (user && user != candidate)
      return std::nullopt;
    user = candidate;
  }
  auto tiling = dyn_cast_if_present<TilingInterface>(user);
  auto dps = dyn_cast_if_present<DestinationStyleOpInterface>(user);
  if (!tiling || !dps || user->getBlock() != outer->getBlock() ||
      user->getNumResults() == 0)
    return std::nullopt;
  Consumer consumer{tiling, {}};
  for (OpOperand &operand : user->getOpOperands()) {
    if (operand.get().getDefiningOp() != outer)
      continue;
    if (dps.isDpsInit(&operand))
      return std::nullopt;
    consumer.operands.push_back(operand.getOperandNumber());
  }
  return consumer;
}

/// Clones the ops of the innermost body that `value` needs, in order.
static void cloneSlice(RewriterBase &rewriter, Nest &nest, OFR ofr,
                       IRMapping &mapping) {
  auto value = dyn_cast<Value>(ofr);
  if (!value || mapping.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != nest.inner().getBody())
    return;
  for (Value operand : op->getOperands())
    cloneSlice(rewriter, nest, operand, mapping);
  rewriter.clone(*op, mapping);
}

SmallVector<OFR> fa::attn::mapped(ArrayRef<OFR> ofrs,
                                  const IRMapping &mapping) {
  return llvm::map_to_vector(ofrs, [&](OFR ofr) -> OFR {
    auto value = dyn_cast<Value>(ofr);
    return value ? OFR(mapping.lookupOrDefault(value)) : ofr;
  });
}

SmallVector<Value> fa::attn::buildTiles(RewriterBase &rewriter, Nest &nest,
                                        ValueRange wholes, IRMapping &mapping) {
  SmallVector<Value> tiles;
  for (auto [state, whole] : llvm::zip_equal(nest.states, wholes)) {
    for (OFR size : state.extract.getMixedSizes())
      cloneSlice(rewriter, nest, size, mapping);
    tiles.push_back(tensor::ExtractSliceOp::create(
        rewriter, state.extract.getLoc(), state.extract.getType(), whole,
        mapped(state.extract.getMixedOffsets(), mapping),
        mapped(state.extract.getMixedSizes(), mapping),
        state.extract.getMixedStrides()));
  }
  return tiles;
}

Value fa::attn::fuseProducer(RewriterBase &rewriter,
                             tensor::ExtractSliceOp slice) {
  auto result = dyn_cast<OpResult>(slice.getSource());
  auto producer =
      result ? dyn_cast<TilingInterface>(result.getOwner()) : TilingInterface();
  if (!producer)
    return slice;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(slice);
  FailureOr<TilingResult> tiled = producer.generateResultTileValue(
      rewriter, result.getResultNumber(), slice.getMixedOffsets(),
      slice.getMixedSizes());
  if (failed(tiled) || tiled->tiledValues.front().getType() != slice.getType())
    return slice;
  Value tile = tiled->tiledValues.front();
  rewriter.replaceOp(slice, tile);
  return tile;
}

OFR fa::attn::getBound(Value bound) {
  if (getConstantIntValue(bound) == ShapedType::kDynamic)
    return bound;
  return getAsOpFoldResult(bound);
}

LogicalResult fa::attn::simplifySlices(RewriterBase &rewriter,
                                       FunctionOpInterface function) {
  RewritePatternSet patterns(function->getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns);
  linalg::populateSwapExtractSliceWithFillPatterns(patterns);
  if (failed(applyPatternsGreedily(function, std::move(patterns))))
    return failure();
  removeRedundancy(rewriter, function);
  return success();
}
