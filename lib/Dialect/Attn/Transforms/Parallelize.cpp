//===- Parallelize.cpp - The outermost loops of a nest in parallel --------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keeps the order of a nest's loops and its full-size state, and makes a
// scf.forall of the loops that stand outside of the first sequential one. The
// first and the last value of the state are made inside, slice by slice.
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "fa/Dialect/Attn/Transforms/PassOrder.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_PARALLELIZE
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

using OFR = OpFoldResult;

namespace {
class Parallelizer {
public:
  Parallelizer(RewriterBase &rewriter, Nest nest, Consumer consumer,
               DestinationStyleOpInterface producer)
      : rewriter(rewriter), nest(std::move(nest)), consumer(consumer),
        producer(producer) {}

  FailureOr<scf::ForallOp> run(std::string &reason);

private:
  using Body = function_ref<FailureOr<SmallVector<Value>>(IRMapping &mapping,
                                                          ValueRange carried)>;

  void createForall();
  FailureOr<SmallVector<Value>> loopOverSlices(ValueRange inits, Body body);
  FailureOr<SmallVector<Value>> buildInitialState();
  SmallVector<Value> cloneSequentialLoop(ValueRange states);
  FailureOr<SmallVector<Value>> buildResults(ValueRange states);
  FailureOr<SmallVector<Value>> consumeTile(IRMapping &inner, ValueRange states,
                                            ValueRange dests);
  void insertHead(Value whole, Value dest, ArrayRef<OFR> offsets);

  RewriterBase &rewriter;
  Nest nest;
  Consumer consumer;
  DestinationStyleOpInterface producer;
  IRMapping mapping; ///< of the loops that become the forall
  scf::ForallOp forall;
  unsigned numParallel = 0; ///< loops that become the forall
};
} // namespace

/// A forall over the leading loops, the innermost first, whose results are
/// those of the consumer and then the state.
void Parallelizer::createForall() {
  while (nest.isParallel[numParallel])
    ++numParallel;
  SmallVector<OFR> lower, upper, steps;
  SmallVector<Value> ivs;
  for (scf::ForOp loop :
       llvm::reverse(ArrayRef(nest.loops).take_front(numParallel))) {
    lower.push_back(getBound(loop.getLowerBound()));
    upper.push_back(getBound(loop.getUpperBound()));
    steps.push_back(getBound(loop.getStep()));
    ivs.push_back(loop.getInductionVar());
  }
  auto user = cast<DestinationStyleOpInterface>(consumer.op.getOperation());
  SmallVector<Value> dests = llvm::to_vector(user.getDpsInits());
  for (Value init : nest.outer().getInitArgs())
    dests.push_back(producer.getTiedOpOperand(cast<OpResult>(init))->get());
  forall = scf::ForallOp::create(rewriter, nest.outer().getLoc(), lower, upper,
                                 steps, dests, std::nullopt);
  mapping.map(ivs, forall.getInductionVars());
  rewriter.setInsertionPoint(forall.getTerminator());
  for (scf::ForOp loop : ArrayRef(nest.loops).take_front(numParallel))
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isa<scf::ForOp>(op))
        rewriter.clone(op, mapping);
}

/// The parallel loops that stay, around `body`, which gets their induction
/// variables and what they carry and gives what is carried on.
FailureOr<SmallVector<Value>> Parallelizer::loopOverSlices(ValueRange inits,
                                                           Body body) {
  OpBuilder::InsertionGuard guard(rewriter);
  IRMapping inner = mapping;
  SmallVector<Value> carried(inits);
  SmallVector<scf::ForOp> loops;
  for (unsigned n = numParallel; n < nest.loops.size(); ++n) {
    if (!nest.isParallel[n])
      continue;
    scf::ForOp loop = nest.loops[n];
    auto copy =
        scf::ForOp::create(rewriter, loop.getLoc(), loop.getLowerBound(),
                           loop.getUpperBound(), loop.getStep(), carried);
    inner.map(loop.getInductionVar(), copy.getInductionVar());
    if (!loops.empty())
      scf::YieldOp::create(rewriter, loop.getLoc(), copy.getResults());
    loops.push_back(copy);
    carried = llvm::to_vector_of<Value>(copy.getRegionIterArgs());
    rewriter.setInsertionPointToStart(copy.getBody());
  }
  FailureOr<SmallVector<Value>> yielded = body(inner, carried);
  if (failed(yielded) || loops.empty())
    return yielded;
  scf::YieldOp::create(rewriter, loops.back().getLoc(), *yielded);
  return SmallVector<Value>(loops.front().getResults());
}

/// The initial state, written slice by slice.
FailureOr<SmallVector<Value>> Parallelizer::buildInitialState() {
  ValueRange states =
      ValueRange(forall.getRegionIterArgs()).take_back(nest.states.size());
  return loopOverSlices(
      states,
      [&](IRMapping &inner,
          ValueRange carried) -> FailureOr<SmallVector<Value>> {
        SmallVector<Value> tiles =
            buildTiles(rewriter, nest, nest.outer().getInitArgs(), inner);
        SmallVector<Value> yielded;
        for (auto [state, tile, whole] :
             llvm::zip_equal(nest.states, tiles, carried)) {
          Value initial = fuseProducer(
              rewriter, tile.getDefiningOp<tensor::ExtractSliceOp>());
          yielded.push_back(tensor::InsertSliceOp::create(
              rewriter, state.insert.getLoc(), initial, whole,
              mapped(state.insert.getMixedOffsets(), inner),
              mapped(state.insert.getMixedSizes(), inner),
              state.insert.getMixedStrides()));
        }
        return yielded;
      });
}

/// The first sequential loop with all that is in it, from `states` on.
SmallVector<Value> Parallelizer::cloneSequentialLoop(ValueRange states) {
  scf::ForOp loop = nest.loops[numParallel];
  IRMapping inner = mapping;
  inner.map(loop.getInitArgs(), states);
  auto copy = cast<scf::ForOp>(rewriter.clone(*loop, inner));
  // What does not depend on an inner loop is loaded outside of it.
  copy->walk([](scf::ForOp nested) { moveLoopInvariantCode(nested); });
  return SmallVector<Value>(copy.getResults());
}

/// The consumer's tile of the slices that `inner` chooses, written to `dests`.
FailureOr<SmallVector<Value>> Parallelizer::consumeTile(IRMapping &inner,
                                                        ValueRange states,
                                                        ValueRange dests) {
  // 1. A copy that reads and writes what this thread block has.
  auto copy = cast<TilingInterface>(rewriter.clone(*consumer.op));
  cast<DestinationStyleOpInterface>(copy.getOperation())
      .getDpsInitsMutable()
      .assign(dests);
  (void)buildTiles(rewriter, nest, states, inner);
  SmallVector<SmallVector<OFR>> offsets, sizes;
  for (unsigned operand : consumer.operands) {
    unsigned number =
        cast<OpResult>(consumer.op->getOperand(operand)).getResultNumber();
    copy->setOperand(operand, states[number]);
    State &state = nest.states[number];
    offsets.push_back(mapped(state.extract.getMixedOffsets(), inner));
    sizes.push_back(mapped(state.extract.getMixedSizes(), inner));
  }

  // 2. Its tile, and where that goes.
  SmallVector<OFR> domainOffsets, domainSizes;
  FailureOr<TilingResult> tiled = copy.getTiledImplementationFromOperandTiles(
      rewriter, consumer.operands, offsets, sizes);
  if (failed(tiled) || failed(copy.getIterationDomainTileFromOperandTiles(
                           rewriter, consumer.operands, offsets, sizes,
                           domainOffsets, domainSizes)))
    return failure();
  SmallVector<Value> results;
  for (auto [number, tile] : llvm::enumerate(tiled->tiledValues)) {
    SmallVector<OFR> resultOffsets, resultSizes;
    if (failed(copy.getResultTilePosition(rewriter, number, domainOffsets,
                                          domainSizes, resultOffsets,
                                          resultSizes)))
      return failure();
    SmallVector<OFR> strides(resultOffsets.size(), rewriter.getIndexAttr(1));
    results.push_back(tensor::InsertSliceOp::create(
        rewriter, copy.getLoc(), tile, dests[number], resultOffsets,
        resultSizes, strides));
  }
  rewriter.eraseOp(copy);
  return results;
}

FailureOr<SmallVector<Value>> Parallelizer::buildResults(ValueRange states) {
  ValueRange dests =
      ValueRange(forall.getRegionIterArgs()).drop_back(nest.states.size());
  return loopOverSlices(dests, [&](IRMapping &inner, ValueRange carried) {
    return consumeTile(inner, states, carried);
  });
}

/// Gives `dest` the part of `whole` that this iteration of the forall has
/// written: `offsets` are induction variables where it is one position, null
/// where it is all of a dimension.
void Parallelizer::insertHead(Value whole, Value dest, ArrayRef<OFR> offsets) {
  Location loc = forall.getLoc();
  SmallVector<OFR> first, sizes;
  SmallVector<OFR> whole0 = tensor::getMixedSizes(rewriter, loc, dest);
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    first.push_back(offset ? offset : OFR(rewriter.getIndexAttr(0)));
    sizes.push_back(offset ? OFR(rewriter.getIndexAttr(1)) : whole0[dim]);
  }
  SmallVector<OFR> strides(first.size(), rewriter.getIndexAttr(1));
  Value part = tensor::ExtractSliceOp::create(rewriter, loc, whole, first,
                                              sizes, strides);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(rewriter, loc, part, dest, first, sizes,
                                        strides);
}

FailureOr<scf::ForallOp> Parallelizer::run(std::string &reason) {
  // 1. The parallel loops.
  createForall();

  // 2. The state from its beginning to its end, and the results.
  FailureOr<SmallVector<Value>> initial = buildInitialState();
  SmallVector<Value> finals = cloneSequentialLoop(*initial);
  FailureOr<SmallVector<Value>> results = buildResults(finals);
  if (failed(results)) {
    rewriter.eraseOp(forall);
    reason = "the consumer of the final state cannot be tiled along with it";
    return failure();
  }

  // 3. What this iteration has written of each tensor. All have the leading
  //    dimensions of the state.
  SmallVector<OFR> leading;
  for (OFR offset : nest.states.front().extract.getMixedOffsets()) {
    auto value = dyn_cast<Value>(offset);
    Value iv = value ? mapping.lookupOrNull(value) : Value();
    leading.push_back(iv ? OFR(iv) : OFR());
  }
  SmallVector<Value> wholes = *results;
  llvm::append_range(wholes, finals);
  for (auto [whole, dest] :
       llvm::zip_equal(wholes, forall.getRegionIterArgs())) {
    SmallVector<OFR> offsets = leading;
    offsets.resize(cast<RankedTensorType>(whole.getType()).getRank());
    insertHead(whole, dest, offsets);
  }
  rewriter.replaceOp(consumer.op,
                     forall.getResults().take_front(results->size()));
  rewriter.eraseOp(nest.outer());
  return forall;
}

/// The one destination-style op that makes the whole initial state; null where
/// there is none.
static DestinationStyleOpInterface findProducer(scf::ForOp outer) {
  Operation *producer = outer.getInitArgs().front().getDefiningOp();
  for (Value init : outer.getInitArgs())
    if (init.getDefiningOp() != producer)
      return {};
  if (!isa_and_nonnull<TilingInterface>(producer))
    return {};
  return dyn_cast<DestinationStyleOpInterface>(producer);
}

FailureOr<scf::ForallOp> fa::attn::parallelizeNest(RewriterBase &rewriter,
                                                   scf::ForOp outer,
                                                   std::string &reason) {
  FailureOr<Nest> nest = matchNest(outer, reason);
  if (failed(nest))
    return failure();
  if (!nest->isParallel.front()) {
    reason = "its outermost loop carries the state from one iteration to the "
             "next";
    return failure();
  }
  std::optional<Consumer> consumer = findConsumer(outer);
  DestinationStyleOpInterface producer = findProducer(outer);
  if (!consumer || !producer) {
    reason = "the state does not come from one op and go to one that can be "
             "tiled along with it";
    return failure();
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(consumer->op);
  return Parallelizer(rewriter, *nest, *consumer, producer).run(reason);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ParallelizePass
    : public fa::attn::impl::ParallelizeBase<ParallelizePass> {
  using Base::Base;

  void runOnOperation() override {
    FunctionOpInterface function = getOperation();
    SmallVector<scf::ForOp> outers = findOuterLoops(function);
    if (outers.empty() &&
        failed(reportNothingFound(function, "parallelize", PassLevel::Blocks,
                                  "loop nest")))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (scf::ForOp outer : outers) {
      std::string reason;
      FailureOr<scf::ForallOp> forall =
          parallelizeNest(rewriter, outer, reason);
      if (failed(forall)) {
        (void)reportObstacle(outer, "parallelize", {reason, false});
        continue;
      }
      ++numParallelized;
      remarkDecision(*forall, "parallelize", "nest")
          << remark::metric("parallelLoops", forall->getRank())
          << remark::reason("their iterations touch disjoint slices of the "
                            "state, which stays in full-size tensors");
    }
    if (failed(simplifySlices(rewriter, function)))
      signalPassFailure();
  }
};
} // namespace
