//===- DelayNormalization.cpp - One division at the end -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/Transforms/PassOrder.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "fa/Support/Remarks.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_DELAYNORMALIZATION
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

namespace {
struct DelayNormalizationPass
    : public fa::attn::impl::DelayNormalizationBase<DelayNormalizationPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<FinalizeOp> finalizes;
    getOperation()->walk([&](FinalizeOp op) {
      if (op.getNormalized())
        finalizes.push_back(op);
    });
    if (finalizes.empty() &&
        failed(reportNothingFound(getOperation(), "delay-normalization",
                                  PassLevel::Blocks,
                                  "normalized attn.finalize")))
      return signalPassFailure();
    for (FinalizeOp finalize : finalizes) {
      if (isa_and_present<MergeOp>(finalize.getAcc().getDefiningOp())) {
        (void)reportObstacle(finalize, "delay-normalization",
                             {"the state comes from parts of the keys: run it "
                              "before --split-kv",
                              /*isOrder=*/true});
        return signalPassFailure();
      }
      FailureOr<Fold> fold = traceFold(finalize);
      if (failed(fold) || !llvm::all_of(fold->updates, [](UpdateOp update) {
            return update.getNormalized();
          })) {
        (void)reportObstacle(finalize, "delay-normalization",
                             {"the updates of this state are not all "
                              "normalized ones reached through loops and "
                              "slices",
                              /*isOrder=*/false});
        continue;
      }
      finalize.setNormalized(false);
      for (UpdateOp update : fold->updates)
        update.setNormalized(false);
      ++numDelayed;
      remarkDecision(finalize, "delay-normalization", "divisions")
          << remark::metric("updates", fold->updates.size())
          << remark::reason(
                 "acc stays a plain sum; one division a row is left");
    }
  }
};
} // namespace
