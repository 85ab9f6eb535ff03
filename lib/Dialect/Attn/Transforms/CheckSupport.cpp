//===- CheckSupport.cpp - What a pipeline makes no kernels of -------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/Transforms/Passes.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_CHECKSUPPORT
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

namespace {
struct CheckSupportPass
    : public fa::attn::impl::CheckSupportBase<CheckSupportPass> {
  using Base::Base;

  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](ForwardOp op) {
      std::string what = findUnsupported(op);
      if (what.empty())
        return WalkResult::advance();
      op.emitOpError() << "--" << pipeline << " makes no kernels of " << what
                       << ": use " << instead;
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  /// What no kernels are made of; "" where they are of all.
  std::string findUnsupported(ForwardOp op) const {
    if (caches && op.getKvLens())
      return "caches with lengths of their own (kv_lens)";
    if (packed && op.isPacked())
      return "packed sequences (cu_seqlens)";
    return joinOptions();
  }

  /// "rescale=first-max with split-kv=4", of the options that are refused.
  std::string joinOptions() const {
    std::string text;
    for (const auto *option : {&rescale, &splitKV, &warps, &partition})
      if (!option->empty())
        text += (text.empty() ? "" : " with ") + option->ArgStr.str() + "=" +
                option->getValue();
    return text;
  }
};
} // namespace
