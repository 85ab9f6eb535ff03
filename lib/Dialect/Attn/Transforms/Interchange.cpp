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

#include "LoopNest.h"

#include "fa/Dialect/Attn/Transforms/PassOrder.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_INTERCHANGE
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

using OFR = OpFoldResult;

//===----------------------------------------------------------------------===//
// The new nest
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
    lower.push_back(getBound(loop.getLowerBound()));
    upper.push_back(getBound(loop.getUpperBound()));
    steps.push_back(getBound(loop.getStep()));
    ivs.push_back(loop.getInductionVar());
  }
  auto forall = scf::ForallOp::create(rewriter, nest.outer().getLoc(), lower,
                                      upper, steps, dests, std::nullopt);
  mapping.map(ivs, forall.getInductionVars());
  return forall;
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
  SmallVector<Value> tiles = buildTiles(rewriter, *nest, inits, mapping);

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
    (void)fuseProducer(rewriter, tile.getDefiningOp<tensor::ExtractSliceOp>());
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
    SmallVector<scf::ForOp> outers = findOuterLoops(function);
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
    if (failed(simplifySlices(rewriter, function)))
      signalPassFailure();
  }
};
} // namespace
