//===- ReadyLaunch.h - Launches that are ready to be started ----*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_READYLAUNCH_H
#define FLASHLOOM_RUNTIME_READYLAUNCH_H

#include "CurrentDevice.h"
#include "ModuleCache.h"
#include "ParamList.h"

namespace fa::rt {

/// A tensor map among a launch's parameters, and what it was made from.
struct MapPlace {
  size_t offset;
  AddressNumber address;
  TensorMapKey key;
  const TensorMapParam *param;
};

/// Words of the workspace that are cleared: where they begin in it, where that
/// is, and how many.
struct ClearedWords {
  uint64_t offset = 0, address = 0;
  size_t count = 0;
};

/// A launch of one grid, which was checked.
struct ReadyLaunch {
  ClearedWords cleared; ///< before it starts
  CuFunction function = nullptr;
  unsigned blocks = 0, block = 0, sharedBytes = 0;
  /// It may begin before the launch before it has ended.
  bool follows = false;
  ParamList list;
  std::vector<MapPlace> maps;
};

/// A launch of `blocks` blocks, or as many as `launch` wants on the device,
/// with the parameters in `list`, to which the tensor maps are added.
/// `isBehind`: the launch before it in its plan is started right before it.
/// Throws Failure.
ReadyLaunch makeReady(const Kernel &kernel, const GridLaunch &launch,
                      const CurrentDevice &device,
                      const LoadedFunction &function, unsigned blocks,
                      bool isBehind, ParamList list,
                      const fa_forward_params &params);

/// Has the launch work at other addresses, which were checked. Throws Failure.
void moveTo(const CallAddresses &addresses, const Kernel &kernel,
            CuDevice device, ReadyLaunch &launch);

/// Clears what it needs cleared and starts the launch; it can be started again.
/// Throws Failure.
void start(ReadyLaunch &launch, const Kernel &kernel, CuStream stream);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_READYLAUNCH_H
