//===- Binding.h - What the dimensions of arguments are -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_BINDING_H
#define FA_EXECUTE_BINDING_H

#include "fa/Execute/AttentionFunction.h"
#include "fa/Execute/InputOptions.h"
#include "fa/Execute/Sizes.h"

namespace fa::execute {

/// The most bytes that the tensors of a run, its arguments and o and lse, may
/// take together. With its references a run needs a few times that.
inline constexpr int64_t kMaxTensorBytes = int64_t(4) << 30;

/// How many sequences of different lengths there are unless the user says so.
inline constexpr int64_t kRaggedBatch = 4;

/// The most sequences of different lengths that there may be.
inline constexpr int64_t kMaxRaggedBatch = int64_t(1) << 20;

/// `sizes` with what the types of `problem` and the tensors and lengths in
/// `options` fix, and with the
/// lengths of its sequences. Lengths that nothing fixes are drawn: from 0 to Sq
/// or Skv, about one in eight 0, one at its most; or with the sum Tq or Tkv
/// where that is fixed. Fails with a diagnostic where the user asked for
/// something else, the heads do not divide, the size of an argument is unknown
/// or too small for a region, or the tensors take more than kMaxTensorBytes.
mlir::FailureOr<Sizes> bindSizes(const AttentionFunction &problem, Sizes sizes,
                                 const InputOptions &options);

/// The shape of a tensor argument. Fails with a diagnostic where nothing tells
/// it, or a region reads beyond it.
mlir::FailureOr<llvm::SmallVector<int64_t>>
getArgumentShape(const AttentionFunction &problem, mlir::BlockArgument argument,
                 const Sizes &sizes, const InputOptions &options);

/// The shape of lse; o has Dv behind it.
llvm::SmallVector<int64_t> getLseShape(const AttentionFunction &problem,
                                       const Sizes &sizes);

} // namespace fa::execute

#endif // FA_EXECUTE_BINDING_H
