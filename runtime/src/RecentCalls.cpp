//===- RecentCalls.cpp - Calls that are like one before -------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecentCalls.h"

#include "CallShape.h"

#include <array>

using namespace fa::rt;

namespace {

/// A call that was launched, and all that it depended on.
struct RecentCall {
  uint64_t library = 0; ///< the library's number; 0: there is no call
  RequestedKernel requested;
  unsigned generation = 0;
  unsigned long long contextId = 0;
  CuDevice device = 0;
  CallShape shape;
  /// Of the library, which is open while its number is asked for.
  const Kernel *kernel = nullptr;
  std::vector<ReadyLaunch> launches;
};

/// The last few of a thread.
class RecentCalls {
public:
  /// Null where none is like `params`.
  RecentCall *find(uint64_t library, RequestedKernel requested,
                   const fa_forward_params &params);
  void keep(RecentCall call);

private:
  /// Layers of a few kinds that take turns.
  static constexpr size_t kCalls = 8;

  std::array<RecentCall, kCalls> calls;
  size_t last = 0;   ///< that was found or kept
  size_t oldest = 0; ///< that the next one replaces
};

} // namespace

static RecentCalls &recentCalls() {
  static thread_local RecentCalls calls;
  return calls;
}

RecentCall *RecentCalls::find(uint64_t library, RequestedKernel requested,
                              const fa_forward_params &params) {
  std::optional<unsigned long long> contextId; // asked where it counts
  for (size_t i = 0; i != kCalls; ++i) {
    const size_t number = (last + i) % kCalls;
    RecentCall &call = calls[number];
    if (call.library != library || call.requested != requested ||
        call.generation != driverGeneration() || !call.shape.matches(params))
      continue;
    if (!contextId)
      contextId = currentContextId();
    if (!contextId)
      return nullptr;
    if (*contextId != call.contextId)
      continue;
    last = number;
    return &call;
  }
  return nullptr;
}

void RecentCalls::keep(RecentCall call) {
  calls[oldest] = std::move(call);
  last = oldest;
  oldest = (oldest + 1) % kCalls;
}

bool fa::rt::launchAgain(const Library &library, RequestedKernel requested,
                         const fa_forward_params *params, CuStream stream) {
  if (!params)
    return false;
  RecentCall *call = recentCalls().find(library.number(), requested, *params);
  if (!call)
    return false;
  const CallAddresses addresses(*params);
  for (ReadyLaunch &launch : call->launches)
    moveTo(addresses, *call->kernel, call->device, launch);
  for (ReadyLaunch &launch : call->launches)
    start(launch, *call->kernel, stream);
  return true;
}

void fa::rt::launchAndKeep(const CurrentDevice &device, Library &library,
                           RequestedKernel requested, size_t index,
                           const Problem &problem,
                           const fa_forward_params &params, CuStream stream) {
  std::vector<ReadyLaunch> launches =
      makeLaunches(device, library, index, problem, params);
  for (ReadyLaunch &launch : launches)
    start(launch, library.kernel(index), stream);
  // Without ids a context cannot be told from an earlier one at its address.
  if (!driver().ctxGetId || !CallShape::canKeep(params))
    return;
  recentCalls().keep({library.number(), requested, driverGeneration(),
                      device.contextId, device.device, CallShape(params),
                      &library.kernel(index), std::move(launches)});
}
