//===- Plan.h - Kernels of several launches ---------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Workspaces, the number of parts that keys are split into, and the launches of
// a plan: docs/kernel-library.md, "Launch plans".
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_PLAN_H
#define FLASHLOOM_RUNTIME_PLAN_H

#include "CurrentDevice.h"
#include "Library.h"
#include "Problem.h"
#include "ReadyLaunch.h"

namespace fa::rt {

/// A problem and its arguments.
struct PackedHeads {
  Problem problem;
  fa_forward_params params;
};

/// The same problem with the heads of q that share one of k and v as rows of
/// one head, so that each block of k and v is read once for all of them: where
/// the kernel allows it, and rows follow one another by one stride in q, o and
/// lse. Else the problem as it is.
PackedHeads packHeads(const Kernel &kernel, const Problem &problem,
                      const fa_forward_params &params);

/// Parts that the keys are split into: the caller's number, or the smallest
/// that fills the device's places for blocks to 95% of the best. 1 for a kernel
/// that does not split. Loads the kernel. Throws Failure.
int64_t chooseSplits(Library &library, size_t index, const Problem &problem,
                     const fa_forward_params &params);

/// Bytes of all workspaces and counters that the kernel needs; 0 for an empty
/// problem. Loads
/// the kernel where the number of parts is the runtime's choice. Throws
/// Failure.
int64_t workspaceBytes(Library &library, size_t index, const Problem &problem,
                       const fa_forward_params &params);

/// Refuses a number of parts for a kernel that cannot split. Throws
/// Failure(FA_INVALID_ARGUMENT).
void requireNoSplits(const Kernel &kernel, const fa_forward_params &params);

/// Refuses a workspace of fewer than `needed` bytes. Throws
/// Failure(FA_INVALID_ARGUMENT).
void requireWorkspace(const Kernel &kernel, int64_t needed,
                      const fa_forward_params &params);

/// The bytes of the counters of so many launches, which lie behind the
/// workspaces.
int64_t counterBytes(size_t launches);
/// Adds the counter of launch number `launch` of those that have one, of which
/// the first lies at byte `offset` of the workspace.
void packCounter(int64_t offset, size_t launch, const fa_forward_params &params,
                 ParamList &list);
/// Has the first of `launches` clear so many counters.
void clearCounters(int64_t offset, size_t counters,
                   const fa_forward_params &params,
                   std::vector<ReadyLaunch> &launches);

/// Checks the workspace; all launches of the kernel's plan, in their order, but
/// those that a workspace with lists makes needless. Throws Failure.
std::vector<ReadyLaunch> makePlannedLaunches(const CurrentDevice &device,
                                             Library &library, size_t index,
                                             const Problem &problem,
                                             const fa_forward_params &params);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_PLAN_H
