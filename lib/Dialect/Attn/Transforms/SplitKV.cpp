//===- SplitKV.cpp - Independent parts of the keys, then a merge ----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A parallel loop over blocks of queries becomes two: one over parts of the
// keys as well, which leaves a state for each part in full-size tensors, and
// one that merges the states.
//
//===----------------------------------------------------------------------===//

#include "Simplify.h"
#include "SplitCount.h"

#include "fa/Dialect/Attn/Transforms/PassOrder.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "fa/Support/Remarks.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_SPLITKV
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

using OFR = OpFoldResult;

namespace {
/// A parallel loop around one fold: init, KV loops in a chain, finalize.
struct ParallelFold {
  scf::ForallOp forall;
  FinalizeOp finalize;
  InitOp init;
  SmallVector<scf::ForOp> loops; ///< in order; each begins where the last ended
  /// Where acc and the row statistics lie in whole tensors, as o and lse do.
  tensor::ParallelInsertSliceOp oInsert, lseInsert;
};

/// Splits one fold into `count` parts.
class FoldSplitter {
public:
  FoldSplitter(RewriterBase &rewriter, ParallelFold &fold, OFR count)
      : rewriter(rewriter), loc(fold.finalize.getLoc()), fold(fold),
        count(count) {}

  void run();

private:
  Value emptyPartial(tensor::ParallelInsertSliceOp like);
  scf::ForallOp createPartsLoop(ValueRange dests, IRMapping &mapping);
  void cloneFold(IRMapping &mapping);
  void limitLoops(Value part, const IRMapping &mapping);
  void insertPartial(scf::ForallOp parts, unsigned number, Value state,
                     tensor::ParallelInsertSliceOp like,
                     const IRMapping &mapping);
  Value extractPartials(Value partials, tensor::ParallelInsertSliceOp like,
                        Value state);
  void mergeParts(ValueRange partials);

  RewriterBase &rewriter;
  Location loc;
  ParallelFold &fold;
  OFR count;
};
} // namespace

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The KV loops between `fold`'s init and finalize; false where the state takes
/// another way.
static bool findLoops(ParallelFold &fold) {
  Value state = fold.finalize.getAcc();
  while (auto loop = state.getDefiningOp<scf::ForOp>()) {
    if (loop->getParentOp() != fold.forall)
      return false;
    fold.loops.insert(fold.loops.begin(), loop);
    state = loop.getInitArgs()[cast<OpResult>(state).getResultNumber()];
  }
  fold.init = state.getDefiningOp<InitOp>();
  return fold.init && !fold.loops.empty();
}

/// The insertion of `tile` into a result of the forall; null where its shape is
/// changed on the way.
static tensor::ParallelInsertSliceOp findInsert(Value tile) {
  if (!tile.hasOneUse())
    return {};
  return dyn_cast<tensor::ParallelInsertSliceOp>(*tile.user_begin());
}

static FailureOr<ParallelFold> matchFold(FinalizeOp finalize,
                                         Obstacle &obstacle) {
  ParallelFold fold;
  fold.finalize = finalize;
  fold.forall = dyn_cast<scf::ForallOp>(finalize->getParentOp());
  if (!fold.forall) {
    obstacle = {
        "the fold is not in a parallel loop over blocks of queries: run "
        "--interchange first",
        /*isOrder=*/true};
    return failure();
  }
  if (isa_and_present<MergeOp>(finalize.getAcc().getDefiningOp())) {
    obstacle.reason = "the keys are split already";
    return failure();
  }
  if (!findLoops(fold)) {
    obstacle.reason = "the state does not come from loops over keys alone";
    return failure();
  }
  for (unsigned i = 1; i < fold.loops.size(); ++i) {
    scf::ForOp loop = fold.loops[i - 1], next = fold.loops[i];
    if (loop.getUpperBound() != next.getLowerBound() ||
        !isEqualConstantIntOrValue(loop.getStep(), next.getStep())) {
      obstacle.reason = "the KV loops do not continue each other";
      return failure();
    }
  }
  fold.oInsert = findInsert(finalize.getO());
  fold.lseInsert = findInsert(finalize.getLse());
  if (!fold.oInsert || !fold.lseInsert) {
    obstacle = {"the tiles of o and lse are not stored as they are: run it "
                "before --pad-tiles",
                /*isOrder=*/true};
    return failure();
  }
  return fold;
}

//===----------------------------------------------------------------------===//
// The loop over parts
//===----------------------------------------------------------------------===//

/// A tensor for the partial states of all parts, like the whole tensor that
/// `like` writes to, in f32.
Value FoldSplitter::emptyPartial(tensor::ParallelInsertSliceOp like) {
  Value whole =
      fold.forall.getTiedOpOperand(cast<BlockArgument>(like.getDest()))->get();
  SmallVector<OFR> sizes{count};
  llvm::append_range(sizes, tensor::getMixedSizes(rewriter, loc, whole));
  return tensor::EmptyOp::create(rewriter, loc, sizes, rewriter.getF32Type());
}

/// An empty parallel loop over parts and what the fold's runs over.
scf::ForallOp FoldSplitter::createPartsLoop(ValueRange dests,
                                            IRMapping &mapping) {
  SmallVector<OFR> lower{rewriter.getIndexAttr(0)}, upper{count},
      step{rewriter.getIndexAttr(1)};
  llvm::append_range(lower, fold.forall.getMixedLowerBound());
  llvm::append_range(upper, fold.forall.getMixedUpperBound());
  llvm::append_range(step, fold.forall.getMixedStep());
  auto parts = scf::ForallOp::create(rewriter, loc, lower, upper, step, dests,
                                     std::nullopt);
  mapping.map(fold.forall.getInductionVars(),
              ValueRange(parts.getInductionVars()).drop_front());
  return parts;
}

/// Copies what the final state, and where it is stored, need.
void FoldSplitter::cloneFold(IRMapping &mapping) {
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation *op) {
    return fold.forall->isProperAncestor(op);
  };
  SetVector<Operation *> needed;
  auto need = [&](Value value) {
    (void)getBackwardSlice(value, &needed, options);
  };
  for (Value state :
       {fold.finalize.getAcc(), fold.finalize.getMax(), fold.finalize.getSum()})
    need(state);
  for (tensor::ParallelInsertSliceOp insert : {fold.oInsert, fold.lseInsert})
    for (OFR ofr :
         llvm::concat<OFR>(insert.getMixedOffsets(), insert.getMixedSizes()))
      if (auto value = dyn_cast<Value>(ofr))
        need(value);
  for (Operation &op : fold.forall.getBody()->without_terminator())
    if (needed.contains(&op))
      rewriter.clone(op, mapping);
}

/// Cuts the copied loops to part `part`: an equal share of the blocks from the
/// first loop's begin to the last one's end.
void FoldSplitter::limitLoops(Value part, const IRMapping &mapping) {
  auto first =
      cast<scf::ForOp>(mapping.lookup(fold.loops.front().getOperation()));
  auto last =
      cast<scf::ForOp>(mapping.lookup(fold.loops.back().getOperation()));
  OpBuilder::InsertionGuard guard(rewriter);
  // All bounds are known in front of the first loop: they are index arithmetic.
  rewriter.setInsertionPoint(first);
  Value begin = first.getLowerBound(), end = last.getUpperBound();
  Value step = first.getStep();
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value numParts = getValueOrCreateConstantIndexOp(rewriter, loc, count);
  Value numBlocks = arith::CeilDivSIOp::create(
      rewriter, loc, arith::SubIOp::create(rewriter, loc, end, begin), step);
  // The first key of part `number`: begin + step * floor(blocks * number / n).
  auto boundary = [&](Value number) -> Value {
    Value share = arith::DivSIOp::create(
        rewriter, loc, arith::MulIOp::create(rewriter, loc, numBlocks, number),
        numParts);
    return arith::AddIOp::create(
        rewriter, loc, begin,
        arith::MulIOp::create(rewriter, loc, share, step));
  };
  Value partBegin = boundary(part);
  Value partEnd = boundary(arith::AddIOp::create(rewriter, loc, part, one));
  for (scf::ForOp original : fold.loops) {
    auto loop = cast<scf::ForOp>(mapping.lookup(original.getOperation()));
    Value lower =
        arith::MaxSIOp::create(rewriter, loc, loop.getLowerBound(), partBegin);
    Value upper =
        arith::MinSIOp::create(rewriter, loc, loop.getUpperBound(), partEnd);
    rewriter.modifyOpInPlace(loop, [&] {
      loop.setLowerBound(lower);
      loop.setUpperBound(upper);
    });
  }
}

static SmallVector<OFR> mapped(ArrayRef<OFR> ofrs, const IRMapping &mapping) {
  return llvm::map_to_vector(ofrs, [&](OFR ofr) -> OFR {
    auto value = dyn_cast<Value>(ofr);
    return value ? OFR(mapping.lookupOrDefault(value)) : ofr;
  });
}

/// Stores `state` where part `parts`' first induction variable says and `like`
/// stores its tile.
void FoldSplitter::insertPartial(scf::ForallOp parts, unsigned number,
                                 Value state,
                                 tensor::ParallelInsertSliceOp like,
                                 const IRMapping &mapping) {
  SmallVector<OFR> offsets{OFR(parts.getInductionVar(0))};
  SmallVector<OFR> sizes{OFR(rewriter.getIndexAttr(1))};
  llvm::append_range(offsets, mapped(like.getMixedOffsets(), mapping));
  llvm::append_range(sizes, mapped(like.getMixedSizes(), mapping));
  SmallVector<OFR> strides(offsets.size(), rewriter.getIndexAttr(1));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(parts.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(rewriter, loc, state,
                                        parts.getRegionIterArgs()[number],
                                        offsets, sizes, strides);
}

//===----------------------------------------------------------------------===//
// The loop that merges
//===----------------------------------------------------------------------===//

/// All parts' states of this iteration's tile: [n, tile].
Value FoldSplitter::extractPartials(Value partials,
                                    tensor::ParallelInsertSliceOp like,
                                    Value state) {
  SmallVector<OFR> offsets{OFR(rewriter.getIndexAttr(0))}, sizes{count};
  llvm::append_range(offsets, like.getMixedOffsets());
  llvm::append_range(sizes, like.getMixedSizes());
  SmallVector<OFR> strides(offsets.size(), rewriter.getIndexAttr(1));
  auto tileType = cast<RankedTensorType>(state.getType());
  SmallVector<int64_t> shape{
      getConstantIntValue(count).value_or(ShapedType::kDynamic)};
  llvm::append_range(shape, tileType.getShape());
  auto type = RankedTensorType::get(shape, tileType.getElementType());
  return tensor::ExtractSliceOp::create(rewriter, loc, type, partials, offsets,
                                        sizes, strides);
}

/// Replaces the loops of the fold by a merge of `partials`.
void FoldSplitter::mergeParts(ValueRange partials) {
  FinalizeOp finalize = fold.finalize;
  InitOp init = fold.init;
  rewriter.setInsertionPoint(finalize);
  Value accs = extractPartials(partials[0], fold.oInsert, init.getAcc());
  Value maxs = extractPartials(partials[1], fold.lseInsert, init.getMax());
  Value sums = extractPartials(partials[2], fold.lseInsert, init.getSum());
  auto merge = MergeOp::create(rewriter, loc, accs, maxs, sums,
                               finalize.getUnit(), init.getAcc(), init.getMax(),
                               init.getSum(), finalize.getNormalizedAttr());
  rewriter.modifyOpInPlace(finalize, [&] {
    finalize.getAccMutable().assign(merge.getAcc());
    finalize.getMaxMutable().assign(merge.getMax());
    finalize.getSumMutable().assign(merge.getSum());
  });
  for (scf::ForOp loop : llvm::reverse(fold.loops))
    rewriter.eraseOp(loop);
}

void FoldSplitter::run() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(fold.forall);
  SmallVector<Value> dests{emptyPartial(fold.oInsert),
                           emptyPartial(fold.lseInsert),
                           emptyPartial(fold.lseInsert)};
  IRMapping mapping;
  scf::ForallOp parts = createPartsLoop(dests, mapping);
  rewriter.setInsertionPoint(parts.getTerminator());
  cloneFold(mapping);
  limitLoops(parts.getInductionVar(0), mapping);
  SmallVector<Value> state{fold.finalize.getAcc(), fold.finalize.getMax(),
                           fold.finalize.getSum()};
  for (auto [number, value] : llvm::enumerate(state))
    insertPartial(parts, number, mapping.lookup(value),
                  number == 0 ? fold.oInsert : fold.lseInsert, mapping);
  mergeParts(parts.getResults());
}

/// A new last argument of the function around `loop`, of type index.
static FailureOr<Value> addSplitsArgument(RewriterBase &rewriter,
                                          scf::ForallOp loop) {
  auto function = loop->getParentOfType<FunctionOpInterface>();
  unsigned number = function.getNumArguments();
  if (failed(function.insertArgument(number, rewriter.getIndexType(), {},
                                     loop.getLoc())))
    return failure();
  return Value(function.getArgument(number));
}

/// Splits the fold that ends in `finalize` into a number of parts that is a new
/// argument of its function.
static LogicalResult splitByArgument(RewriterBase &rewriter,
                                     FinalizeOp finalize, Obstacle &obstacle) {
  FailureOr<ParallelFold> fold = matchFold(finalize, obstacle);
  if (failed(fold))
    return failure();
  FailureOr<Value> count = addSplitsArgument(rewriter, fold->forall);
  if (failed(count)) {
    obstacle.reason = "its function takes no more arguments";
    return failure();
  }
  FoldSplitter(rewriter, *fold, *count).run();
  return success();
}

LogicalResult fa::attn::splitKV(RewriterBase &rewriter, FinalizeOp finalize,
                                const SplitOptions &options,
                                Obstacle &obstacle) {
  FailureOr<ParallelFold> fold = matchFold(finalize, obstacle);
  if (failed(fold))
    return failure();
  OFR count = rewriter.getIndexAttr(options.splits);
  if (options.splits == 0) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(fold->forall);
    UpdateOp update;
    fold->loops.front().walk([&](UpdateOp op) { update = op; });
    count = buildSplitCount(rewriter, fold->forall, update, fold->loops.front(),
                            options.capacity);
  }
  FoldSplitter(rewriter, *fold, count).run();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct SplitKVPass : public fa::attn::impl::SplitKVBase<SplitKVPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<FinalizeOp> finalizes;
    getOperation()->walk([&](FinalizeOp op) { finalizes.push_back(op); });
    if (finalizes.empty() &&
        failed(reportNothingFound(getOperation(), "split-kv", PassLevel::Blocks,
                                  "attn.finalize")))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (FinalizeOp finalize : finalizes) {
      Obstacle obstacle;
      if (splits == "argument") {
        if (succeeded(splitByArgument(rewriter, finalize, obstacle))) {
          ++numSplit;
          remarkDecision(finalize, "split-kv", "parts")
              << remark::reason("an argument of the launch");
        } else if (failed(reportObstacle(finalize, "split-kv", obstacle))) {
          return signalPassFailure();
        }
        continue;
      }
      FailureOr<SplitOptions> options = getOptions(finalize);
      if (failed(options))
        return signalPassFailure();
      if (succeeded(splitKV(rewriter, finalize, *options, obstacle))) {
        ++numSplit;
        explain(finalize, *options);
      } else if (failed(reportObstacle(finalize, "split-kv", obstacle))) {
        return signalPassFailure();
      }
    }
    removeRedundancy(rewriter, getOperation());
  }

private:
  /// A remark on how many parts there are, and why.
  static void explain(FinalizeOp finalize, const SplitOptions &options) {
    if (options.splits != 0)
      remarkDecision(finalize, "split-kv", "parts")
          << remark::metric("parts", options.splits)
          << remark::reason("the option");
    else
      remarkDecision(finalize, "split-kv", "parts")
          << remark::metric("places", options.capacity)
          << remark::reason("at run time: the fewest that fill the target's "
                            "places for blocks to 95% of the best");
  }

  /// The pass's options for one fold, or failure after a diagnostic.
  FailureOr<SplitOptions> getOptions(FinalizeOp finalize) {
    SplitOptions options;
    if (splits != "auto") {
      StringRef text = splits;
      if (text.getAsInteger(10, options.splits) || options.splits < 1 ||
          options.splits > kMaxSplits)
        return getOperation().emitError(
                   "--split-kv takes splits=auto, argument "
                   "or a number from 1 to ")
               << kMaxSplits << ", found '" << splits << "'";
      return options;
    }
    std::optional<Schedule> schedule = getSchedule(getOperation());
    const Target *gpu = schedule ? Target::lookup(schedule->target) : nullptr;
    if (!gpu)
      return getOperation().emitError(
          "--split-kv=splits=auto needs a schedule for a known target: run "
          "--choose-schedule or --tile first");
    auto accType = cast<RankedTensorType>(finalize.getAcc().getType());
    auto oType = cast<RankedTensorType>(finalize.getO().getType());
    ScheduleProblem problem{accType.getShape().back(),
                            accType.getShape().back(),
                            oType.getElementTypeBitWidth() / 8};
    // What does not fit the target has at least the CPU's cores to fill.
    int64_t resident =
        std::max<int64_t>(1, blocksPerSM(problem, *schedule, *gpu));
    options.capacity = resident * gpu->numSMs;
    return options;
  }
};
} // namespace
