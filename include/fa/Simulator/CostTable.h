//===- CostTable.h - How long things take in the simulator -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place of the simulator's durations, in clock cycles of one
// multiprocessor. They order events and draw time lines; they are no
// measurement and predict none.
//
//===----------------------------------------------------------------------===//

#ifndef FA_SIMULATOR_COSTTABLE_H
#define FA_SIMULATOR_COSTTABLE_H

#include "fa/Target/Target.h"

#include "mlir/IR/Operation.h"

namespace fa::sim {

struct CostTable {
  /// Multiply-adds of the four tensor cores together in 16-bit types. NVIDIA's
  /// datasheets: 312 TFLOP/s at 1.41 GHz on 108 multiprocessors (A100), 989 at
  /// 1.83 GHz on 132 (H100): 1024 and 2048.
  double productsPerCycle = 1024;
  /// From a product's start to its first result; a few tens on each GPU.
  double productLatency = 32;
  /// Lanes of one warp's scheduler, a result a cycle each; four schedulers.
  double lanesPerScheduler = 32;
  int64_t schedulers = 4;
  /// exp2, log2, tanh, rsqrt: the special-function unit has a quarter of the
  /// f32 lanes on sm_80 and an eighth of those of sm_90; about that.
  double specialFunctionFactor = 4;
  /// Memory to shared memory: a latency, and the share of one multiprocessor in
  /// the bandwidth of the L2 cache.
  double copyLatency = 600;
  double copyBytesPerCycle = 48;
  /// Address arithmetic, and what meets another team.
  double scalar = 1;
  double synchronisation = 20;

  /// The table for a target.
  static CostTable get(const Target &target);

  /// The cycles of an op on scalars and fragments for a team of `warps` warps.
  double getArithmetic(mlir::Operation *op, int64_t warps) const;
  /// The cycles that a store of `bytes` takes its team.
  double getStore(int64_t bytes) const { return bytes / copyBytesPerCycle; }
};

} // namespace fa::sim

#endif // FA_SIMULATOR_COSTTABLE_H
