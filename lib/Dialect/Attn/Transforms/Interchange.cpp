//===- Interchange.cpp - Q blocks outside, KV blocks inside -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns a nest of scf.for over slices of full-size state tensors inside out.
// The code speaks of states, slices and loops, not of attention: it works on
// whatever the innermost body does with a slice.
//
//===----------------------------------------------------------------------===//

#include "Simplify.h"

#include "fa/Dialect/Attn/Transforms/PassOrder.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_INTERCHANGE
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

using OFR = OpFoldResult;

namespace {
/// A state tensor of the nest: read and written at one slice.
struct State {
  tensor::ExtractSliceOp extract;
  tensor::InsertSliceOp insert;
};

/// A perfect nest of loops around `body`, outermost first.
struct Nest {
  SmallVector<scf::ForOp> loops;
  SmallVector<State> states;    ///< one per iter_arg
  SmallVector<bool> isParallel; ///< per loop: its iv chooses the slices

  scf::ForOp outer() { return loops.front(); }
  scf::ForOp inner() { return loops.back(); }
};
} // namespace

//===----------------------------------------------------------------------===//
// Step 1: what the nest is
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

static FailureOr<Nest> matchNest(scf::ForOp outer, std::string &reason) {
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
// Step 2: the consumers that can move into the parallel loop
//===----------------------------------------------------------------------===//

namespace {
/// An op outside the nest that reads its final state and is tiled by the same
/// slices.
struct Consumer {
  TilingInterface op;
  SmallVector<unsigned> operands; ///< that are results of the nest
};
} // namespace

/// The one op that reads all results of the nest, where it can be tiled along
/// with it; null otherwise.
static std::optional<Consumer> findConsumer(scf::ForOp outer) {
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

//===----------------------------------------------------------------------===//
// Step 3: the new nest
//===----------------------------------------------------------------------===//

/// Clones the arithmetic in front of the inner loops: what the parallel loops'
/// induction variables are enough for goes first (`inLoops` is false), the rest
/// into the sequential loops.
static void clonePrelude(RewriterBase &rewriter, Nest &nest, bool inLoops,
                         IRMapping &mapping) {
  for (scf::ForOp loop : ArrayRef(nest.loops).drop_back())
    for (Operation &op : loop.getBody()->without_terminator()) {
      bool isReady = llvm::all_of(op.getOperands(), [&](Value operand) {
        return mapping.contains(operand) ||
               operand.getParentRegion()->isAncestor(
                   nest.outer()->getParentRegion());
      });
      bool isDone =
          op.getNumResults() != 0 && mapping.contains(op.getResult(0));
      if (!isa<scf::ForOp>(op) && isReady && !isDone)
        rewriter.clone(op, mapping);
      assert((isReady || !inLoops || isa<scf::ForOp>(op)) &&
             "an operand of the nest's arithmetic has no copy");
    }
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

static SmallVector<OFR> mapped(ArrayRef<OFR> ofrs, const IRMapping &mapping) {
  return llvm::map_to_vector(ofrs, [&](OFR ofr) -> OFR {
    auto value = dyn_cast<Value>(ofr);
    return value ? OFR(mapping.lookupOrDefault(value)) : ofr;
  });
}

/// The slice of each initial state that one iteration of the parallel loops
/// works on, taken from the whole one.
static SmallVector<Value> initialTiles(RewriterBase &rewriter, Nest &nest,
                                       ValueRange inits, IRMapping &mapping) {
  SmallVector<Value> tiles;
  for (auto [state, init] : llvm::zip_equal(nest.states, inits)) {
    for (OFR size : state.extract.getMixedSizes())
      cloneSlice(rewriter, nest, size, mapping);
    tiles.push_back(tensor::ExtractSliceOp::create(
        rewriter, state.extract.getLoc(), state.extract.getType(), init,
        mapped(state.extract.getMixedOffsets(), mapping),
        mapped(state.extract.getMixedSizes(), mapping),
        state.extract.getMixedStrides()));
  }
  return tiles;
}

/// Builds the sequential loops with the tiles as iter_args and the body of the
/// nest inside; returns the final tiles.
static SmallVector<Value> buildSequentialLoops(RewriterBase &rewriter,
                                               Nest &nest, ValueRange tiles,
                                               IRMapping &mapping) {
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<scf::ForOp> loops;
  SmallVector<Value> carried(tiles);
  for (auto [loop, isParallel] : llvm::zip_equal(nest.loops, nest.isParallel)) {
    if (isParallel)
      continue;
    auto copy =
        scf::ForOp::create(rewriter, loop.getLoc(), loop.getLowerBound(),
                           loop.getUpperBound(), loop.getStep(), carried);
    mapping.map(loop.getInductionVar(), copy.getInductionVar());
    if (!loops.empty())
      scf::YieldOp::create(rewriter, loop.getLoc(), copy.getResults());
    loops.push_back(copy);
    carried.assign(copy.getRegionIterArgs().begin(),
                   copy.getRegionIterArgs().end());
    rewriter.setInsertionPointToStart(copy.getBody());
  }
  clonePrelude(rewriter, nest, /*inLoops=*/true, mapping);
  for (auto [state, tile] : llvm::zip_equal(nest.states, carried))
    mapping.map(state.extract.getResult(), tile);
  for (Operation &op : nest.inner().getBody()->without_terminator()) {
    bool isSlice = llvm::any_of(nest.states, [&](State &state) {
      return &op == state.extract || &op == state.insert;
    });
    if (!isSlice)
      rewriter.clone(op, mapping);
  }
  SmallVector<Value> yielded;
  for (State &state : nest.states)
    yielded.push_back(mapping.lookupOrDefault(state.insert.getSource()));
  scf::YieldOp::create(rewriter, nest.inner().getLoc(), yielded);
  for (scf::ForOp loop : llvm::reverse(loops))
    moveLoopInvariantCode(loop);
  return SmallVector<Value>(loops.front().getResults());
}

/// Tiles the consumer by the slices of the states and feeds it the tiles.
/// `dests` are the block arguments that stand for its whole results.
static FailureOr<TilingResult> tileConsumer(RewriterBase &rewriter, Nest &nest,
                                            Consumer &consumer,
                                            ValueRange dests, ValueRange tiles,
                                            const IRMapping &mapping) {
  // 1. A copy that writes to this loop's results.
  auto copy = cast<TilingInterface>(rewriter.clone(*consumer.op));
  cast<DestinationStyleOpInterface>(copy.getOperation())
      .getDpsInitsMutable()
      .assign(dests);

  // 2. Its tile for the slices of the states.
  SmallVector<SmallVector<OFR>> offsets, sizes;
  for (unsigned operand : consumer.operands) {
    auto result = cast<OpResult>(consumer.op->getOperand(operand));
    State &state = nest.states[result.getResultNumber()];
    offsets.push_back(mapped(state.extract.getMixedOffsets(), mapping));
    sizes.push_back(mapped(state.extract.getMixedSizes(), mapping));
  }
  FailureOr<TilingResult> tiled = copy.getTiledImplementationFromOperandTiles(
      rewriter, consumer.operands, offsets, sizes);
  if (failed(tiled)) {
    rewriter.eraseOp(copy);
    return failure();
  }

  // 3. The slices of the nest's results are the tiles at hand.
  for (Operation *op : tiled->generatedSlices) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    if (!slice || slice.getSource().getDefiningOp() != nest.outer())
      continue;
    unsigned number = cast<OpResult>(slice.getSource()).getResultNumber();
    if (slice.getType() != tiles[number].getType())
      return failure();
    rewriter.replaceOp(slice, tiles[number]);
  }

  // 4. Where the results go.
  SmallVector<OFR> domainOffsets, domainSizes;
  if (failed(copy.getIterationDomainTileFromOperandTiles(
          rewriter, consumer.operands, offsets, sizes, domainOffsets,
          domainSizes)))
    return failure();
  OpBuilder::InsertionGuard guard(rewriter);
  auto forall = cast<scf::ForallOp>(
      cast<BlockArgument>(dests.front()).getOwner()->getParentOp());
  for (auto [number, tile] : llvm::enumerate(tiled->tiledValues)) {
    SmallVector<OFR> resultOffsets, resultSizes;
    if (failed(copy.getResultTilePosition(rewriter, number, domainOffsets,
                                          domainSizes, resultOffsets,
                                          resultSizes)))
      return failure();
    SmallVector<OFR> strides(resultOffsets.size(), rewriter.getIndexAttr(1));
    OpBuilder::InsertionGuard inner(rewriter);
    rewriter.setInsertionPointToEnd(forall.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(rewriter, copy.getLoc(), tile,
                                          dests[number], resultOffsets,
                                          resultSizes, strides);
  }
  rewriter.eraseOp(copy);
  return tiled;
}

/// Writes the final tiles into the forall's results.
static void insertTiles(RewriterBase &rewriter, Nest &nest,
                        scf::ForallOp forall, ValueRange tiles,
                        const IRMapping &mapping) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(forall.getTerminator().getBody());
  for (auto [state, tile, dest] :
       llvm::zip_equal(nest.states, tiles, forall.getRegionIterArgs()))
    tensor::ParallelInsertSliceOp::create(
        rewriter, state.insert.getLoc(), tile, dest,
        mapped(state.insert.getMixedOffsets(), mapping),
        mapped(state.insert.getMixedSizes(), mapping),
        state.insert.getMixedStrides());
}

/// A bound of a loop as a constant where it is one. The lists of constants of a
/// forall keep one number for what is none.
static OFR boundOf(Value bound) {
  if (getConstantIntValue(bound) == ShapedType::kDynamic)
    return bound;
  return getAsOpFoldResult(bound);
}

/// An empty forall over the parallel loops, the innermost first, and its
/// induction variables in `mapping`.
static scf::ForallOp createForall(RewriterBase &rewriter, Nest &nest,
                                  ValueRange dests, IRMapping &mapping) {
  SmallVector<OFR> lower, upper, steps;
  SmallVector<Value> ivs;
  for (auto [loop, isParallel] :
       llvm::reverse(llvm::zip_equal(nest.loops, nest.isParallel))) {
    if (!isParallel)
      continue;
    lower.push_back(boundOf(loop.getLowerBound()));
    upper.push_back(boundOf(loop.getUpperBound()));
    steps.push_back(boundOf(loop.getStep()));
    ivs.push_back(loop.getInductionVar());
  }
  auto forall = scf::ForallOp::create(rewriter, nest.outer().getLoc(), lower,
                                      upper, steps, dests, std::nullopt);
  mapping.map(ivs, forall.getInductionVars());
  return forall;
}

/// Replaces a slice of a whole initial state by the producer's tile, where the
/// producer is tiled to just that type.
static void fuseProducer(RewriterBase &rewriter, tensor::ExtractSliceOp slice) {
  auto result = dyn_cast<OpResult>(slice.getSource());
  auto producer =
      result ? dyn_cast<TilingInterface>(result.getOwner()) : TilingInterface();
  if (!producer)
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(slice);
  FailureOr<TilingResult> tiled = producer.generateResultTileValue(
      rewriter, result.getResultNumber(), slice.getMixedOffsets(),
      slice.getMixedSizes());
  if (succeeded(tiled) &&
      tiled->tiledValues.front().getType() == slice.getType())
    rewriter.replaceOp(slice, tiled->tiledValues.front());
}

FailureOr<scf::ForallOp> fa::attn::interchangeNest(RewriterBase &rewriter,
                                                   scf::ForOp outer,
                                                   std::string &reason) {
  FailureOr<Nest> nest = matchNest(outer, reason);
  if (failed(nest))
    return failure();
  OpBuilder::InsertionGuard guard(rewriter);
  std::optional<Consumer> consumer = findConsumer(outer);
  Operation *last = consumer ? consumer->op.getOperation() : outer;
  rewriter.setInsertionPoint(last);

  // 1. The parallel loop; its results are the consumer's where there is one.
  SmallVector<Value> dests(outer.getInitArgs());
  if (consumer)
    dests =
        llvm::to_vector(cast<DestinationStyleOpInterface>(last).getDpsInits());
  IRMapping mapping;
  scf::ForallOp forall = createForall(rewriter, *nest, dests, mapping);
  rewriter.setInsertionPoint(forall.getTerminator());
  clonePrelude(rewriter, *nest, /*inLoops=*/false, mapping);

  // 2. Its slice of the state: from the whole initial one, or from this
  //    loop's results where those are the state.
  ValueRange inits = consumer ? ValueRange(outer.getInitArgs())
                              : ValueRange(forall.getRegionIterArgs());
  SmallVector<Value> tiles = initialTiles(rewriter, *nest, inits, mapping);

  // 3. The sequential loops and the body.
  SmallVector<Value> finals =
      buildSequentialLoops(rewriter, *nest, tiles, mapping);

  // 4. The results.
  if (!consumer) {
    insertTiles(rewriter, *nest, forall, finals, mapping);
    rewriter.replaceOp(outer, forall.getResults());
    return forall;
  }
  if (failed(tileConsumer(rewriter, *nest, *consumer,
                          forall.getRegionIterArgs(), finals, mapping))) {
    rewriter.eraseOp(forall);
    reason = "the consumer of the final state cannot be tiled along with it";
    return failure();
  }
  rewriter.replaceOp(last, forall.getResults());
  rewriter.eraseOp(outer);

  // 5. The initial state's producer follows its slices in.
  for (Value tile : tiles)
    fuseProducer(rewriter, tile.getDefiningOp<tensor::ExtractSliceOp>());
  return forall;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct InterchangePass
    : public fa::attn::impl::InterchangeBase<InterchangePass> {
  using Base::Base;

  void runOnOperation() override {
    FunctionOpInterface function = getOperation();
    SmallVector<scf::ForOp> outers;
    function->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      outers.push_back(loop);
      return WalkResult::skip();
    });
    bool hasWhole =
        function->walk([](ForwardOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (outers.empty() || hasWhole) {
      // Without attention any nest will do: the level is that of loops.
      if (failed(reportNothingFound(function, "interchange", PassLevel::Blocks,
                                    "loop nest")))
        return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    for (scf::ForOp outer : outers) {
      std::string reason;
      FailureOr<scf::ForallOp> forall =
          interchangeNest(rewriter, outer, reason);
      if (succeeded(forall)) {
        ++numInterchanged;
        remarkDecision(*forall, "interchange", "nest")
            << remark::metric("parallelLoops", forall->getRank())
            << remark::reason("their iterations touch disjoint slices of the "
                              "state, which each see the other loops in order");
      } else
        (void)reportObstacle(outer, "interchange", {reason, false});
    }
    if (failed(simplify(rewriter)))
      signalPassFailure();
  }

private:
  /// Slices of an empty tensor or of a fill become empty tiles and fills, and
  /// what was computed once per slice is computed once.
  LogicalResult simplify(RewriterBase &rewriter) {
    RewritePatternSet patterns(&getContext());
    tensor::populateFoldTensorEmptyPatterns(patterns);
    linalg::populateSwapExtractSliceWithFillPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return failure();
    removeRedundancy(rewriter, getOperation());
    return success();
  }
};
} // namespace
