//===- UnrollStages.cpp - Loops over rings, a round for all stages --------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's unrolling does the work; here is decided which loops, and by how
// much.
//
//===----------------------------------------------------------------------===//

#include "Simplify.h"

#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/GpuModules.h"
#include "fa/Support/Remarks.h"

#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/PatternMatch.h"

#include <numeric>

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_UNROLLSTAGES
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

namespace {
/// A loop that takes one stage a block of some rings.
struct RingLoop {
  scf::ForOp loop;
  SetVector<Value> rings;
  int64_t stages = 1; ///< after so many blocks all rings are where they were
  int64_t length = 0; ///< operations of the body
};
} // namespace

/// The loop's rings; none where it takes more stages than one of a ring, or
/// some in an inner region.
static RingLoop findRings(scf::ForOp loop) {
  RingLoop result{loop, {}, 1, 0};
  bool isPlain = true;
  loop.walk([&](Operation *op) {
    ++result.length;
    if (!isa<cta::AcquireOp, cta::ConsumeOp>(op))
      return;
    Value ring = op->getOperand(0);
    isPlain &= op->getBlock() == loop.getBody() && result.rings.insert(ring);
    result.stages = std::lcm(result.stages,
                             cast<cta::RingType>(ring.getType()).getStages());
  });
  if (!isPlain)
    result.rings.clear();
  return result;
}

/// Of the loops in `block` over the same rings, those with the shortest body.
static SmallVector<RingLoop> findLoops(Block &block) {
  SmallVector<RingLoop> loops;
  for (auto loop : block.getOps<scf::ForOp>()) {
    RingLoop found = findRings(loop);
    if (!found.rings.empty() && found.stages > 1)
      loops.push_back(found);
  }
  SmallVector<RingLoop> shortest;
  for (RingLoop &loop : loops)
    if (llvm::none_of(loops, [&](RingLoop &other) {
          return other.rings == loop.rings && other.length < loop.length;
        }))
      shortest.push_back(loop);
  return shortest;
}

LogicalResult fa::unrollStages(scf::ForOp loop, int64_t stages) {
  // Upstream counts blocks as if the range were not negative; an empty loop's
  // may be, where a block was taken out before it.
  if (!loop.getStaticTripCount()) {
    OpBuilder builder(loop);
    loop.setUpperBound(arith::MaxSIOp::create(
        builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound()));
  }
  return loopUnrollByFactor(loop, stages);
}

namespace {
struct UnrollStages : public fa::impl::UnrollStagesBase<UnrollStages> {
  using Base::Base;

  void runOnOperation() override {
    for (gpu::GPUFuncOp func : findKernels(getOperation(), "--unroll-stages"))
      unroll(func);
  }

private:
  void unroll(gpu::GPUFuncOp func) {
    SmallVector<RingLoop> loops;
    func.walk(
        [&](Block *block) { llvm::append_range(loops, findLoops(*block)); });
    if (loops.empty())
      emitWarning(func.getLoc())
          << "unroll-stages finds no loop that takes a stage of rings of two "
             "or more a block in '"
          << func.getName() << "'";
    for (RingLoop &loop : loops) {
      if (failed(unrollStages(loop.loop, loop.stages))) {
        emitWarning(loop.loop.getLoc())
            << "unroll-stages leaves this loop, which cannot be unrolled by "
            << loop.stages;
        continue;
      }
      ++numLoops;
      remarkDecision(func, "unroll-stages", "unroll")
          << remark::metric("factor", loop.stages);
    }
    IRRewriter rewriter(func.getContext());
    simplify(rewriter, func);
  }
};
} // namespace
