//===- RecentCalls.h - Calls that are like one before -----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program calls again and again with the same sizes. Each thread keeps the
// launches of its last few problems, so that a call like one of them writes its
// addresses into them and starts them.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_RECENTCALLS_H
#define FLASHLOOM_RUNTIME_RECENTCALLS_H

#include "Launch.h"

#include <optional>

namespace fa::rt {

/// The kernel that a caller asks for: one by its index, or the one that is
/// picked.
using RequestedKernel = std::optional<size_t>;
inline constexpr RequestedKernel kPickedKernel = std::nullopt;

/// Launches what is like a recent call of this thread, with the same library,
/// kernel and context. False where there is none, or where something about the
/// call is wrong: nothing was done then. Throws Failure where a launch fails.
bool launchAgain(const Library &library, RequestedKernel requested,
                 const fa_forward_params *params, CuStream stream);

/// Launches the kernel at `index`, which fits the problem, as launch does, and
/// keeps the call as one of `requested`. Throws Failure.
void launchAndKeep(const CurrentDevice &device, Library &library,
                   RequestedKernel requested, size_t index,
                   const Problem &problem, const fa_forward_params &params,
                   CuStream stream);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_RECENTCALLS_H
