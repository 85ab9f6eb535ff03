//===- Simulator.h - Runs level D on the CPU -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interprets a kernel of the cta dialect: a resumable frame for each team,
// dense arrays, asynchronous copies and products that finish at a time of
// their own. Whatever breaks a rule of the dialect on the way is an error.
//
//===----------------------------------------------------------------------===//

#ifndef FA_SIMULATOR_SIMULATOR_H
#define FA_SIMULATOR_SIMULATOR_H

#include "fa/Simulator/Trace.h"
#include "fa/Target/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <variant>

namespace fa::sim {

/// A tensor in global memory: where its first element is, and its sizes and
/// strides in elements.
struct MemRefArgument {
  char *data;
  llvm::SmallVector<int64_t> sizes, strides;
};

/// An argument of a kernel: a tensor, an integer or index, or a float.
using Argument = std::variant<MemRefArgument, int64_t, float>;

struct Options {
  /// 0: everything takes what the cost table says. Any other number draws how
  /// long each op, copy and product takes, and so the order of all that is not
  /// ordered by the program.
  uint64_t seed = 0;
  /// Thread blocks that share the work items; 0: one for each item, or for a
  /// persistent kernel one for each multiprocessor.
  int64_t blocks = 0;
  /// Whose limits and speeds are taken; null: sm_90a.
  const Target *target = nullptr;
  /// Where the time line goes, or null.
  Trace *trace = nullptr;
};

/// What a run took, in cycles of the cost table.
struct Statistics {
  int64_t blocks = 0;
  double longestBlock = 0;
};

/// Runs all thread blocks of `kernel`, one after another. Fails with a
/// diagnostic where the program breaks a rule, uses an op that is not on the
/// simulator's list, or takes more than its target has.
mlir::FailureOr<Statistics> simulate(mlir::gpu::GPUFuncOp kernel,
                                     llvm::ArrayRef<Argument> arguments,
                                     const Options &options);

} // namespace fa::sim

#endif // FA_SIMULATOR_SIMULATOR_H
