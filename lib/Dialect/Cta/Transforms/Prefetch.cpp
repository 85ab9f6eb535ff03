//===- Prefetch.cpp - Copies a block before they are needed ---------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blocks that a chain of loops runs over are numbered through: each loop
// begins where the one before ends. A copy goes out where its stage has just
// become free. Where another tile is consumed later in the same block, that is
// in the block itself: with n stages, block k + n is copied in block k. Else it
// is at the next block's first consume, which copies block k + n - 1.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "fa/Dialect/Cta/IR/Multiples.h"
#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/GpuModules.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_PREFETCH
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

/// The size of a register and of a warp.
static constexpr int64_t kRegisterBits = 32;
static constexpr int64_t kWarpThreads = 32;
/// A copy costs a dozen registers where it stands. Measured on an H200 with
/// ptxas 13.0: beside 160 registers of fragments it is free, beside 192 it
/// makes the kernel spill (docs/perf-log.md).
static constexpr int64_t kRoomyRegisters = 160;

namespace {
/// How one loop fills and reads one ring.
struct Staging {
  cta::AcquireOp acquire;
  cta::CopyOp copy;
  cta::ConsumeOp consume;
  cta::ReleaseOp release;
  /// The copy goes out after this one, for the block this many blocks ahead.
  Operation *place = nullptr;
  int64_t ahead = 0;

  Value ring() { return acquire.getRing(); }
  int64_t stages() { return cast<cta::RingType>(ring().getType()).getStages(); }
};

using LoopStaging = SmallVector<Staging>;

/// Where a copy begins, and where its rows end; null: with the tensor.
struct CopyCoordinates {
  SmallVector<Value> indices;
  Value rowEnd;
};

/// One chain of loops, skewed.
class ChainSkew {
public:
  ChainSkew(RewriterBase &rewriter, ArrayRef<scf::ForOp> chain)
      : rewriter(rewriter), chain(chain.begin(), chain.end()) {}

  /// Finds what each loop does; says in `reason` why that cannot be skewed.
  LogicalResult analyse(std::string &reason);
  /// Returns the number of copies moved.
  int64_t apply();

private:
  void buildEnd();
  void buildPrologue();
  void sinkLoads();
  void skewLoop(size_t loop);
  void buildDrain();
  /// The start of the block after the one at `block`, from inside loop `loop`.
  Value buildNext(Location loc, size_t loop, Value block);
  /// Where `staging` copies the block at `block` from, and until which row.
  CopyCoordinates buildCoordinates(Staging &staging, scf::ForOp loop,
                                   Value block);
  /// Acquires, and copies what lies at `from`.
  void buildCopy(Staging &staging, const CopyCoordinates &from);

  RewriterBase &rewriter;
  SmallVector<scf::ForOp> chain;
  SmallVector<LoopStaging> stagings;
  Value end;  ///< No block starts here or later.
  Value last; ///< Up to here, tables have an entry for a block; null: no table
};
} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// Finds how `loop` fills and reads the ring of `copy`.
static FailureOr<Staging> findRingUse(cta::CopyOp copy, scf::ForOp loop,
                                      std::string &reason) {
  Staging staging;
  staging.copy = copy;
  staging.acquire = copy.getTile().getDefiningOp<cta::AcquireOp>();
  if (!staging.acquire.getTile().hasOneUse()) {
    reason = "a stage is filled more than once";
    return failure();
  }
  for (Operation *user : staging.ring().getUsers()) {
    if (user->getBlock() != loop.getBody())
      continue;
    if (auto consume = dyn_cast<cta::ConsumeOp>(user)) {
      if (staging.consume || consume->isBeforeInBlock(copy)) {
        reason = "a ring is not copied into and then consumed once a block";
        return failure();
      }
      staging.consume = consume;
    } else if (user != staging.acquire) {
      reason = "a ring is filled more than once a block";
      return failure();
    }
  }
  if (staging.consume)
    for (Operation *user : staging.consume.getTile().getUsers())
      if (auto release = dyn_cast<cta::ReleaseOp>(user))
        staging.release = release;
  if (!staging.release || staging.acquire->getBlock() != loop.getBody() ||
      staging.release->getBlock() != loop.getBody()) {
    reason = "a ring is not copied into, consumed and released in the loop's "
             "own body";
    return failure();
  }
  return staging;
}

/// The registers of a thread that hold fragments (not row vectors) which live
/// across `point`, an operation of a loop's body.
static int64_t countLiveRegisters(Operation *point) {
  Block *block = point->getBlock();
  int64_t bits = 0;
  auto count = [&](Value value) {
    auto type = dyn_cast<VectorType>(value.getType());
    bool isLive = type && type.getRank() == 2 &&
                  llvm::any_of(value.getUsers(), [&](Operation *user) {
                    Operation *inBlock = block->findAncestorOpInBlock(*user);
                    return inBlock && point->isBeforeInBlock(inBlock);
                  });
    if (isLive)
      bits += type.getNumElements() * type.getElementTypeBitWidth();
  };
  llvm::for_each(block->getArguments(), count);
  for (Operation &op : llvm::make_range(block->begin(), point->getIterator()))
    llvm::for_each(op.getResults(), count);
  auto role = point->getParentOfType<cta::RoleOp>();
  int64_t warps = role ? role.getWarps() : 1;
  return bits / (kRegisterBits * kWarpThreads * warps);
}

/// Chooses where the copy of `staging`, one of a loop's `all`, goes out, and
/// for which block.
static void choosePlace(Staging &staging, LoopStaging &all) {
  cta::ConsumeOp first, next;
  for (Staging &other : all) {
    cta::ConsumeOp consume = other.consume;
    if (!first || consume->isBeforeInBlock(first))
      first = consume;
    if (staging.release->isBeforeInBlock(consume) &&
        (!next || consume->isBeforeInBlock(next)))
      next = consume;
  }
  if (!next) {
    staging.place = first;
    staging.ahead = staging.stages() - 1;
    return;
  }
  // The next consume is a meeting of all threads that is there anyway. A copy
  // into the only stage does not wait for it, if its addresses find room.
  bool isUrgent = staging.stages() == 1 &&
                  countLiveRegisters(staging.release) <= kRoomyRegisters;
  staging.place = isUrgent ? staging.release.getOperation() : next;
  staging.ahead = staging.stages();
}

/// Finds each ring that `loop` fills and reads in its own body, in the order of
/// the copies.
static FailureOr<LoopStaging> findStaging(scf::ForOp loop,
                                          std::string &reason) {
  LoopStaging result;
  for (auto copy : loop.getBody()->getOps<cta::CopyOp>()) {
    FailureOr<Staging> staging = findRingUse(copy, loop, reason);
    if (failed(staging))
      return failure();
    result.push_back(*staging);
  }
  for (Staging &staging : result) {
    choosePlace(staging, result);
    if (!staging.ahead && staging.place == staging.consume) {
      reason = "a ring of one stage that is alone in its loop has no room for "
               "a block ahead";
      return failure();
    }
  }
  return result;
}

/// Whether `op` reads memory that its kernel does not write, which as far as
/// the kernel goes is arithmetic.
static bool isConstantLoad(Operation *op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  return load && llvm::all_of(load.getMemRef().getUsers(), [](Operation *user) {
           return isa<memref::LoadOp, memref::DimOp, cta::LookupOp>(user);
         });
}

/// Whether `value` is made in `loop` from its induction variable and values
/// from outside alone, by operations without effects.
static bool isFunctionOfBlock(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar() ||
      !loop.getRegion().isAncestor(value.getParentRegion()))
    return true;
  Operation *op = value.getDefiningOp();
  return op && (isPure(op) || isConstantLoad(op)) && !op->getNumRegions() &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isFunctionOfBlock(operand, loop);
         });
}

/// Whether `a` in `loopA` and `b` in `loopB` are the same function of the
/// induction variable.
static bool isSameFunction(Value a, scf::ForOp loopA, Value b,
                           scf::ForOp loopB) {
  if (a == b || (a == loopA.getInductionVar() && b == loopB.getInductionVar()))
    return true;
  Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
  if (!opA || !opB || opA->getName() != opB->getName() ||
      opA->getAttrDictionary() != opB->getAttrDictionary() ||
      opA->getNumOperands() != opB->getNumOperands() ||
      (!isPure(opA) && !isConstantLoad(opA)) ||
      opA->getResultTypes() != opB->getResultTypes() || opA->getNumRegions())
    return false;
  return llvm::all_of(llvm::zip(opA->getOperands(), opB->getOperands()),
                      [&](auto pair) {
                        return isSameFunction(std::get<0>(pair), loopA,
                                              std::get<1>(pair), loopB);
                      });
}

/// Whether two loops copy the same tensors to the same rings, by the same
/// function of the block.
static bool copySame(LoopStaging &a, scf::ForOp loopA, LoopStaging &b,
                     scf::ForOp loopB) {
  if (a.size() != b.size())
    return false;
  for (auto [one, other] : llvm::zip(a, b)) {
    if (one.ring() != other.ring() || one.ahead != other.ahead ||
        one.copy.getSource() != other.copy.getSource())
      return false;
    for (auto [x, y] :
         llvm::zip(one.copy.getIndices(), other.copy.getIndices()))
      if (!isSameFunction(x, loopA, y, loopB))
        return false;
  }
  return true;
}

/// The row coordinate of a copy.
static unsigned rowIndex(cta::CopyOp copy) {
  return copy.getIndices().size() - 2;
}

LogicalResult ChainSkew::analyse(std::string &reason) {
  DominanceInfo dominance;
  for (scf::ForOp loop : chain) {
    FailureOr<LoopStaging> staging = findStaging(loop, reason);
    if (failed(staging))
      return failure();
    for (Staging &one : *staging)
      for (Value index : one.copy.getIndices())
        if (!isFunctionOfBlock(index, loop)) {
          reason = "a copy's coordinates are not a function of the block alone";
          return failure();
        }
    stagings.push_back(*staging);
    if (!copySame(stagings.front(), chain.front(), stagings.back(), loop)) {
      reason = "loops that follow one another copy different tiles";
      return failure();
    }
    if (!dominance.properlyDominates(loop.getUpperBound(), chain.front())) {
      reason = "a loop's end is not known before the first loop";
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

void ChainSkew::buildEnd() {
  rewriter.setInsertionPoint(chain.front());
  end = chain.front().getUpperBound();
  for (scf::ForOp loop : llvm::drop_begin(chain))
    end = arith::MaxSIOp::create(rewriter, loop.getLoc(), end,
                                 loop.getUpperBound());
  bool readsTable = llvm::any_of(chain, [](scf::ForOp loop) {
    return llvm::any_of(*loop.getBody(), llvm::IsaPred<memref::LoadOp>);
  });
  if (!readsTable)
    return;
  // A chain without blocks reads the entry of the first one.
  Location loc = chain.front().getLoc();
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  last = arith::MaxSIOp::create(rewriter, loc,
                                arith::SubIOp::create(rewriter, loc, end, one),
                                chain.front().getLowerBound());
}

/// Whether the last block of `loop` is seen to be a whole step long.
static bool hasWholeSteps(scf::ForOp loop) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  return step && *step > 0 &&
         (*step == 1 || (cta::isMultipleOf(loop.getLowerBound(), *step) &&
                         cta::isMultipleOf(loop.getUpperBound(), *step)));
}

Value ChainSkew::buildNext(Location loc, size_t loop, Value block) {
  Value next =
      arith::AddIOp::create(rewriter, loc, block, chain[loop].getStep());
  // The next loop's first block may not be a whole step away.
  for (scf::ForOp inner : llvm::drop_begin(chain, loop)) {
    if (inner == chain.back())
      break;
    if (hasWholeSteps(inner))
      continue;
    Value bound = inner.getUpperBound();
    Value capped = arith::MinSIOp::create(rewriter, loc, next, bound);
    Value before = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::slt, block, bound);
    next = arith::SelectOp::create(rewriter, loc, before, capped, next);
  }
  return next;
}

/// Clones what makes `value` in `loop`, with `mapping` for its induction
/// variable.
static Value cloneFunction(RewriterBase &rewriter, Value value, scf::ForOp loop,
                           IRMapping &mapping) {
  if (mapping.contains(value) ||
      !loop.getRegion().isAncestor(value.getParentRegion()))
    return mapping.lookupOrDefault(value);
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneFunction(rewriter, operand, loop, mapping);
  rewriter.clone(*op, mapping);
  return mapping.lookup(value);
}

CopyCoordinates ChainSkew::buildCoordinates(Staging &staging, scf::ForOp loop,
                                            Value block) {
  cta::CopyOp copy = staging.copy;
  Location loc = copy.getLoc();
  IRMapping mapping;
  Value entry = block;
  if (last)
    entry = arith::MinSIOp::create(rewriter, loc, block, last);
  mapping.map(loop.getInductionVar(), entry);
  SmallVector<Value> indices;
  for (Value index : copy.getIndices())
    indices.push_back(cloneFunction(rewriter, index, loop, mapping));
  // Blocks past the end are rows past the end: they read as 0.
  unsigned row = rowIndex(copy);
  Value rowEnd, rows;
  if (copy.getRowEnd()) {
    rowEnd = cloneFunction(rewriter, copy.getRowEnd(), loop, mapping);
    rows = rowEnd;
  } else {
    Value rowDim = arith::ConstantIndexOp::create(rewriter, loc, row);
    rows = memref::DimOp::create(rewriter, loc, copy.getSource(), rowDim);
  }
  Value inside = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                       block, end);
  indices[row] =
      arith::SelectOp::create(rewriter, loc, inside, indices[row], rows);
  return {indices, rowEnd};
}

void ChainSkew::buildCopy(Staging &staging, const CopyCoordinates &from) {
  Location loc = staging.copy.getLoc();
  Value empty = cta::AcquireOp::create(
      rewriter, loc, staging.acquire.getTile().getType(), staging.ring());
  cta::CopyOp::create(rewriter, loc, staging.copy.getSource(), from.indices,
                      from.rowEnd, empty);
}

/// The most blocks that any ring is ahead.
static int64_t maxAhead(LoopStaging &stagings) {
  int64_t most = 0;
  for (Staging &staging : stagings)
    most = std::max(most, staging.ahead);
  return most;
}

void ChainSkew::buildPrologue() {
  rewriter.setInsertionPoint(chain.front());
  Value block = chain.front().getLowerBound();
  int64_t most = maxAhead(stagings.front());
  for (int64_t n = 0; n < most; ++n) {
    if (n)
      block = buildNext(chain.front().getLoc(), 0, block);
    for (Staging &staging : stagings.front())
      if (n < staging.ahead)
        buildCopy(staging, buildCoordinates(staging, chain.front(), block));
  }
}

/// Moves loads that only the chain needs below the first copies, so that both
/// are under way at a time. A load for all teams waits for everything that is
/// under way, the copies too: it stays in front of them.
void ChainSkew::sinkLoads() {
  Block *block = chain.front()->getBlock();
  // A load that moves must not be met again.
  for (auto load : llvm::to_vector(block->getOps<cta::LoadOp>())) {
    bool isForChain =
        load.getKind() == cta::LoadKind::Each &&
        load->isBeforeInBlock(chain.front()) &&
        llvm::all_of(load->getUsers(), [&](Operation *user) {
          Operation *inBlock = block->findAncestorOpInBlock(*user);
          return inBlock && !inBlock->isBeforeInBlock(chain.front());
        });
    if (isForChain)
      rewriter.moveOpBefore(load, chain.front());
  }
}

void ChainSkew::skewLoop(size_t loop) {
  // Backwards, since those that go out at one place are built right after it.
  for (Staging &staging : llvm::reverse(stagings[loop])) {
    if (!staging.ahead) {
      rewriter.moveOpAfter(staging.acquire, staging.place);
      rewriter.moveOpAfter(staging.copy, staging.acquire);
      continue;
    }
    // What is read from a table takes a while: it begins with the block.
    if (last)
      rewriter.setInsertionPointToStart(chain[loop].getBody());
    else
      rewriter.setInsertionPointAfter(staging.place);
    Value block = chain[loop].getInductionVar();
    for (int64_t n = 0; n < staging.ahead; ++n)
      block = buildNext(staging.copy.getLoc(), loop, block);
    CopyCoordinates from = buildCoordinates(staging, chain[loop], block);
    if (last)
      rewriter.setInsertionPointAfter(staging.place);
    buildCopy(staging, from);
    rewriter.eraseOp(staging.copy);
    rewriter.eraseOp(staging.acquire);
  }
}

void ChainSkew::buildDrain() {
  rewriter.setInsertionPointAfter(chain.back());
  int64_t most = maxAhead(stagings.front());
  for (int64_t n = 0; n < most; ++n)
    for (Staging &staging : stagings.front()) {
      if (n >= staging.ahead)
        continue;
      Location loc = chain.back().getLoc();
      Value full = cta::ConsumeOp::create(
          rewriter, loc,
          cast<cta::RingType>(staging.ring().getType()).getTile(),
          staging.ring());
      cta::ReleaseOp::create(rewriter, loc, full);
    }
}

int64_t ChainSkew::apply() {
  // 1. The first blocks, before the loops.
  buildEnd();
  buildPrologue();
  sinkLoads();
  // 2. After the last loop, what was copied past the end. The rings are read
  // off the first loop's operations, so the drain is built before they go.
  buildDrain();
  // 3. In each loop, the copies of later blocks instead of the block's own.
  for (size_t loop = 0; loop < chain.size(); ++loop)
    skewLoop(loop);
  return chain.size() * stagings.front().size();
}

FailureOr<int64_t> fa::prefetchChain(RewriterBase &rewriter,
                                     ArrayRef<scf::ForOp> chain,
                                     std::string &reason) {
  ChainSkew skew(rewriter, chain);
  if (failed(skew.analyse(reason)))
    return failure();
  return skew.apply();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether `op` copies into rings itself.
static bool hasCopies(scf::ForOp loop) {
  return llvm::any_of(*loop.getBody(), llvm::IsaPred<cta::CopyOp>);
}

/// Whether `next` goes on where `loop` ends.
static bool continues(scf::ForOp loop, scf::ForOp next) {
  return next.getLowerBound() == loop.getUpperBound() &&
         getAsOpFoldResult(next.getStep()) == getAsOpFoldResult(loop.getStep());
}

/// The chains of loops that copy into rings in `block`.
static SmallVector<SmallVector<scf::ForOp>> findChains(Block &block) {
  SmallVector<SmallVector<scf::ForOp>> chains;
  for (auto loop : block.getOps<scf::ForOp>()) {
    if (!hasCopies(loop))
      continue;
    if (!chains.empty() && continues(chains.back().back(), loop))
      chains.back().push_back(loop);
    else
      chains.push_back({loop});
  }
  return chains;
}

namespace {
struct Prefetch : public fa::impl::PrefetchBase<Prefetch> {
  using Base::Base;

  void runOnOperation() override {
    for (gpu::GPUFuncOp func : findKernels(getOperation(), "--prefetch"))
      prefetch(func);
  }

private:
  void prefetch(gpu::GPUFuncOp func) {
    SmallVector<SmallVector<scf::ForOp>> chains;
    func.walk(
        [&](Block *block) { llvm::append_range(chains, findChains(*block)); });
    if (chains.empty() && !readsNoTile(func))
      emitWarning(func.getLoc())
          << "prefetch finds no loop that copies into rings in '"
          << func.getName() << "'";
    IRRewriter rewriter(func.getContext());
    for (MutableArrayRef<scf::ForOp> chain : chains) {
      std::string reason;
      FailureOr<int64_t> moved = prefetchChain(rewriter, chain, reason);
      if (failed(moved)) {
        emitWarning(chain.front().getLoc())
            << "prefetch leaves this loop: " << reason;
        continue;
      }
      ++numChains;
      numCopies += *moved;
    }
  }
};
} // namespace
