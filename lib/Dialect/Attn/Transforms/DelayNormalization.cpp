//===- DelayNormalization.cpp - One division at the end -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

using namespace mlir;
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
    if (finalizes.empty())
      getOperation()->emitWarning(
          "--delay-normalization found no normalized attn.finalize");
    for (FinalizeOp finalize : finalizes) {
      FailureOr<Fold> fold = traceFold(finalize);
      if (failed(fold) || !llvm::all_of(fold->updates, [](UpdateOp update) {
            return update.getNormalized();
          })) {
        finalize.emitWarning("--delay-normalization does not apply: the "
                             "updates of this state are not all normalized "
                             "ones reached through loops and slices");
        continue;
      }
      finalize.setNormalized(false);
      for (UpdateOp update : fold->updates)
        update.setNormalized(false);
      ++numDelayed;
    }
  }
};
} // namespace
