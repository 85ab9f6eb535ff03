//===- OverlapSoftmax.cpp - The next product under this block's softmax ---===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop's body has two products, the second of which reads what is made from
// the first. It is divided in two stages, the second of which is the second
// product alone, one block behind. Upstream's scf::pipelineForLoop could do
// this for one loop; here the pipeline goes on from loop to loop, through loops
// that may be empty, and what works on the accumulator has to follow the late
// product within a block.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "ProductStages.h"
#include "Simplify.h"

#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/GpuModules.h"
#include "fa/Support/Remarks.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_OVERLAPSOFTMAX
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

namespace {
/// A chain of loops with one pipeline.
class Pipeline {
public:
  Pipeline(RewriterBase &rewriter, MutableArrayRef<ProductStages> loops)
      : rewriter(rewriter), loops(loops) {}
  void apply();

private:
  /// Carried values with the second product's accumulator instead of its
  /// result, and with its fragment operand.
  using State = SmallVector<Value>;

  void buildRanges();
  State buildFirst(size_t number);
  State buildFirstBlock(ProductStages &stages);
  State buildLoop(size_t number, State state);
  Value buildLast(State state);

  void clone(ArrayRef<Operation *> ops, IRMapping &mapping) {
    for (Operation *op : ops)
      rewriter.clone(*op, mapping);
  }
  State getState(ProductStages &stages, IRMapping &mapping);
  /// Starts the second product of the block before.
  void startSecond(ProductStages &stages, ValueRange state, IRMapping &mapping);
  void finishSecond(ProductStages &stages, IRMapping &mapping);

  RewriterBase &rewriter;
  MutableArrayRef<ProductStages> loops;
  SmallVector<Value> hasBlocks; ///< of each loop
  SmallVector<Value>
      begins; ///< where each goes on after the first block of all
  Value hasAny;
};
} // namespace

void Pipeline::buildRanges() {
  for (ProductStages &stages : loops) {
    scf::ForOp loop = stages.loop;
    Location loc = loop.getLoc();
    Value second = arith::AddIOp::create(rewriter, loc, loop.getLowerBound(),
                                         loop.getStep());
    begins.push_back(hasAny
                         ? arith::SelectOp::create(rewriter, loc, hasAny,
                                                   loop.getLowerBound(), second)
                               .getResult()
                         : second);
    hasBlocks.push_back(
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                              loop.getLowerBound(), loop.getUpperBound()));
    hasAny = hasAny
                 ? arith::OrIOp::create(rewriter, loc, hasAny, hasBlocks.back())
                       .getResult()
                 : hasBlocks.back();
  }
}

Pipeline::State Pipeline::getState(ProductStages &stages, IRMapping &mapping) {
  State state;
  for (Value value : stages.loop.getYieldedValues())
    state.push_back(mapping.lookupOrDefault(value));
  state[stages.accumulator] = mapping.lookupOrDefault(stages.second.getAcc());
  state.push_back(mapping.lookup(stages.second.getA()));
  return state;
}

Pipeline::State Pipeline::buildFirstBlock(ProductStages &stages) {
  IRMapping mapping;
  mapping.map(stages.loop.getInductionVar(), stages.loop.getLowerBound());
  mapping.map(stages.loop.getRegionIterArgs(), loops.front().loop.getInits());
  clone(stages.start, mapping);
  clone(stages.reads, mapping);
  clone(stages.middle, mapping);
  clone(stages.end, mapping);
  return getState(stages, mapping);
}

/// The first block of all: of loop `number` if it has one, else of the loops
/// after it.
Pipeline::State Pipeline::buildFirst(size_t number) {
  if (number == loops.size()) {
    State state(loops.front().loop.getInits());
    auto type = cast<VectorType>(loops.front().second.getA().getType());
    state.push_back(arith::ConstantOp::create(
        rewriter, loops.front().loop.getLoc(), rewriter.getZeroAttr(type)));
    return state;
  }
  ProductStages &stages = loops[number];
  Location loc = stages.loop.getLoc();
  SmallVector<Type> types(stages.loop.getResultTypes());
  types.push_back(stages.second.getA().getType());
  auto branch = scf::IfOp::create(rewriter, loc, types, hasBlocks[number],
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(rewriter, loc, buildFirstBlock(stages));
  rewriter.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc, buildFirst(number + 1));
  return State(branch.getResults());
}

void Pipeline::startSecond(ProductStages &stages, ValueRange state,
                           IRMapping &mapping) {
  rewriter.clone(*stages.consume, mapping);
  mapping.map(stages.second.getA(), state.back());
  mapping.map(stages.second.getAcc(), state[stages.accumulator]);
  rewriter.clone(*stages.second, mapping);
}

void Pipeline::finishSecond(ProductStages &stages, IRMapping &mapping) {
  rewriter.clone(*stages.secondWait, mapping);
  rewriter.clone(*stages.release, mapping);
}

Pipeline::State Pipeline::buildLoop(size_t number, State state) {
  ProductStages &stages = loops[number];
  scf::ForOp loop = stages.loop;
  auto built = scf::ForOp::create(rewriter, loop.getLoc(), begins[number],
                                  loop.getUpperBound(), loop.getStep(), state);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(built.getBody());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), built.getInductionVar());
  mapping.map(loop.getRegionIterArgs(), built.getRegionIterArgs().drop_back());

  // 1. Both products are under way.
  clone(stages.start, mapping);
  startSecond(stages, built.getRegionIterArgs(), mapping);
  clone(stages.reads, mapping);
  // 2. The arithmetic of this block.
  clone(stages.middle, mapping);
  mapping.lookup(stages.firstWait.getFragment())
      .getDefiningOp<cta::WaitOp>()
      .setPending(1);
  // 3. Then the accumulator is there, and the operand may be overwritten.
  finishSecond(stages, mapping);
  mapping.map(stages.getCarried(),
              mapping.lookup(stages.secondWait.getFragment()));
  clone(stages.end, mapping);
  scf::YieldOp::create(rewriter, loop.getLoc(), getState(stages, mapping));
  return State(built.getResults());
}

/// The last block's second product.
Value Pipeline::buildLast(State state) {
  ProductStages &stages = loops.back();
  Location loc = stages.loop.getLoc();
  Value accumulator = state[stages.accumulator];
  auto branch = scf::IfOp::create(rewriter, loc, accumulator.getType(), hasAny,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc, accumulator);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  IRMapping mapping;
  startSecond(stages, state, mapping);
  finishSecond(stages, mapping);
  scf::YieldOp::create(rewriter, loc,
                       mapping.lookup(stages.secondWait.getFragment()));
  return branch.getResult(0);
}

void Pipeline::apply() {
  rewriter.setInsertionPoint(loops.front().loop);
  buildRanges();
  State state = buildFirst(0);
  for (size_t number = 0; number < loops.size(); ++number)
    state = buildLoop(number, state);
  // What only the first products read is released before the last second one.
  scf::ForOp last = loops.back().loop;
  Operation *after = last->getNextNode();
  while (isa<cta::ReleaseOp>(after))
    after = after->getNextNode();
  rewriter.setInsertionPoint(after);
  Value product = buildLast(state);
  state.pop_back();
  state[loops.back().accumulator] = product;
  rewriter.replaceOp(last, state);
  for (ProductStages &stages : llvm::reverse(loops.drop_back()))
    rewriter.eraseOp(stages.loop);
}

FailureOr<int64_t> fa::overlapProducts(RewriterBase &rewriter,
                                       ArrayRef<scf::ForOp> chain,
                                       std::string &reason) {
  SmallVector<ProductStages, 2> loops;
  DominanceInfo dominance;
  for (scf::ForOp loop : chain) {
    FailureOr<ProductStages> stages = findProductStages(loop, reason);
    if (failed(stages))
      return failure();
    loops.push_back(*stages);
    if (!agree(loops.front(), loops.back())) {
      reason = "the second products of loops that follow one another differ";
      return failure();
    }
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (!dominance.properlyDominates(bound, chain.front())) {
        reason = "a loop's range is not known before the first loop";
        return failure();
      }
  }
  Pipeline(rewriter, loops).apply();
  return loops.size();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether `loop` has two products in its own body.
static bool hasTwoProducts(scf::ForOp loop) {
  return llvm::range_size(loop.getBody()->getOps<cta::MmaOp>()) > 1;
}

/// Whether `next` goes on with what `loop` carries, and nothing happens between
/// them.
static bool follows(scf::ForOp loop, scf::ForOp next) {
  if (loop->getBlock() != next->getBlock() ||
      ValueRange(next.getInits()) != ValueRange(loop.getResults()) ||
      !llvm::all_of(loop.getResults(), [](Value v) { return v.hasOneUse(); }))
    return false;
  for (Operation *op = loop->getNextNode(); op != next; op = op->getNextNode())
    if (!isMemoryEffectFree(op))
      return false;
  return true;
}

/// The chains of loops of two products in `block`.
static SmallVector<SmallVector<scf::ForOp>> findChains(Block &block) {
  SmallVector<SmallVector<scf::ForOp>> chains;
  for (auto loop : block.getOps<scf::ForOp>()) {
    if (!hasTwoProducts(loop))
      continue;
    if (!chains.empty() && follows(chains.back().back(), loop))
      chains.back().push_back(loop);
    else
      chains.push_back({loop});
  }
  return chains;
}

namespace {
struct OverlapSoftmax : public fa::impl::OverlapSoftmaxBase<OverlapSoftmax> {
  using Base::Base;

  void runOnOperation() override {
    for (gpu::GPUFuncOp func : findKernels(getOperation(), "--overlap-softmax"))
      if (!readsNoTile(func))
        overlap(func);
  }

private:
  void overlap(gpu::GPUFuncOp func) {
    SmallVector<SmallVector<scf::ForOp>> chains;
    func.walk(
        [&](Block *block) { llvm::append_range(chains, findChains(*block)); });
    if (chains.empty())
      emitWarning(func.getLoc())
          << "overlap-softmax finds no loop of two products in '"
          << func.getName() << "'";
    IRRewriter rewriter(func.getContext());
    for (ArrayRef<scf::ForOp> chain : chains) {
      std::string reason;
      Location loc = scf::ForOp(chain.front()).getLoc();
      FailureOr<int64_t> loops = overlapProducts(rewriter, chain, reason);
      if (failed(loops)) {
        emitWarning(loc) << "overlap-softmax leaves this loop: " << reason;
        continue;
      }
      ++numChains;
      remarkDecision(func, "overlap-softmax", "pipeline")
          << remark::metric("loops", *loops);
    }
    simplify(rewriter, func);
  }
};
} // namespace
