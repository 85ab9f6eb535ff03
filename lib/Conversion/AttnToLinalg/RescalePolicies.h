//===- RescalePolicies.h - When a state moves to a new maximum -*- C++ -*--===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_ATTNTOLINALG_RESCALEPOLICIES_H
#define FA_LIB_CONVERSION_ATTNTOLINALG_RESCALEPOLICIES_H

#include "RowArithmetic.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Schedule/Schedule.h"

namespace fa {

/// log2 of the largest p that `lazy` lets pass before it rescales. Scores are
/// f32 and p is at most 2^8, far from the largest f16 (2^16); what p loses by
/// rounding is relative.
inline constexpr double kLazyThreshold = 8.0;

/// The largest sum of a row for which `first-max` stands. No p is above the
/// sum, so none overflowed in `element`: for f16 half its largest number, which
/// leaves room for the rounding of the sum; for bf16 and f32, which reach
/// 2^128, 2^64, so that acc, at most sum * max|v|, holds every |v| up to 2^63.
double getFirstMaxBound(mlir::Type element);

/// How a state meets a block: p = exp2(c s - guard), and what was summed so far
/// comes to the same unit. Row tensors [Br].
struct RescaledState {
  mlir::Value max;       ///< what c s is measured from
  mlir::Value sum;       ///< of the old state, rescaled
  mlir::Value guard;     ///< c * max, or 0 where max is -inf
  mlir::Value accFactor; ///< what the old acc is times; null: nothing
  bool isRare = false;   ///< whether the factor is 1 for most tiles
};

/// Moves the rows of the state of `op` as `policy` says before a block with
/// `scores` [Br, Bc] is folded in. Policies but `always` need an accumulator
/// that is not normalised.
RescaledState rescaleForBlock(GenericBuilder &b, attn::UpdateOp op,
                              mlir::Value scores, const Exponent &exponent,
                              Rescale policy);

/// The accumulator `acc` [Br, Dv] in the unit of `state`.
mlir::Value rescaleAccumulator(GenericBuilder &b, mlir::Value acc,
                               const RescaledState &state);

} // namespace fa

#endif // FA_LIB_CONVERSION_ATTNTOLINALG_RESCALEPOLICIES_H
