//===- Kernel.h - A kernel, prepared for the simulator -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_SIMULATOR_KERNEL_H
#define FA_LIB_SIMULATOR_KERNEL_H

#include "Value.h"

#include "fa/Target/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace fa::sim {

/// A team of a role, numbered through all roles.
struct TeamInfo {
  cta::RoleOp role;
  int64_t number = 0; ///< in its role

  std::string getName() const;
};

/// Which teams fill and read a ring, by their numbers.
struct RingTeams {
  llvm::SmallVector<unsigned> producers, consumers;
};

/// What is known of a kernel before it runs.
struct Kernel {
  mlir::gpu::GPUFuncOp func;
  /// A place for each SSA value in a team's environment.
  llvm::DenseMap<mlir::Value, unsigned> slots;
  llvm::DenseMap<mlir::Operation *, const Evaluator *> evaluators;
  std::vector<TeamInfo> teams;
  llvm::DenseMap<mlir::Operation *, unsigned> firstTeam; ///< of a role
  llvm::DenseMap<mlir::Operation *, RingTeams> rings;
  llvm::SmallVector<unsigned> markers; ///< the teams that mark items

  /// Prepares `func`. Fails with a diagnostic where an op is not on the list,
  /// stands where it cannot, or has a type that the simulator does not know.
  static mlir::FailureOr<Kernel> build(mlir::gpu::GPUFuncOp func);
};

/// Fails with a diagnostic where the kernel takes more shared memory or
/// registers than `target` has.
mlir::LogicalResult checkLimits(const Kernel &kernel, const Target &target);

} // namespace fa::sim

#endif // FA_LIB_SIMULATOR_KERNEL_H
