//===- ReadyLaunch.cpp - Launches that are ready to be started ------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReadyLaunch.h"

#include <algorithm>

using namespace fa::rt;

ReadyLaunch fa::rt::makeReady(const Kernel &kernel, const GridLaunch &launch,
                              const CurrentDevice &device,
                              const LoadedFunction &function, unsigned blocks,
                              bool isBehind, ParamList list,
                              const fa_forward_params &params) {
  ReadyLaunch ready;
  ready.function = function.handle;
  ready.blocks = blocks;
  if (launch.blocksPerSM)
    ready.blocks =
        std::min(blocks, unsigned(launch.blocksPerSM) * device.multiprocessors);
  ready.block = unsigned(launch.block);
  ready.sharedBytes = unsigned(launch.sharedBytes);
  ready.follows = launch.follows && isBehind && driver().launchKernelEx;
  for (const TensorMapParam &map : launch.tensorMaps) {
    const TensorMapKey key = describeTensorMap(kernel, map, params);
    const size_t offset =
        list.add(encodeTensorMap(key, kernel, map, device.device));
    ready.maps.push_back(
        {offset, addressNumberOf(map.tensor, map.extra, params), key, &map});
  }
  list.finish();
  ready.list = std::move(list);
  return ready;
}

void fa::rt::moveTo(const CallAddresses &addresses, const Kernel &kernel,
                    CuDevice device, ReadyLaunch &launch) {
  launch.list.setAddresses(addresses);
  launch.cleared.address = addresses[kWorkspaceAddress] + launch.cleared.offset;
  for (MapPlace &place : launch.maps) {
    const uint64_t address = addresses[place.address];
    if (reinterpret_cast<uintptr_t>(place.key.address) == address)
      continue;
    TensorMapKey key = place.key;
    key.address = reinterpret_cast<void *>(address);
    launch.list.setMap(place.offset,
                       encodeTensorMap(key, kernel, *place.param, device));
    place.key.address = key.address;
  }
}

/// A launch that may begin before the one before it in its stream has ended.
static CuResult startFollowing(const DriverApi &api, const ReadyLaunch &launch,
                               CuStream stream, void **params, void **buffer) {
  CuLaunchAttribute attribute = {};
  attribute.id = kLaunchProgrammaticSerialization;
  attribute.value = 1;
  CuLaunchConfig config = {};
  config.grid[0] = launch.blocks;
  config.block[0] = launch.block;
  config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
  config.sharedBytes = launch.sharedBytes;
  config.stream = stream;
  config.attributes = &attribute;
  config.numAttributes = 1;
  return api.launchKernelEx(&config, launch.function, params, buffer);
}

void fa::rt::start(ReadyLaunch &launch, const Kernel &kernel, CuStream stream) {
  const DriverApi &api = driver();
  if (launch.cleared.count) {
    CuResult cleared = api.memsetD32Async(launch.cleared.address, 0,
                                          launch.cleared.count, stream);
    if (cleared != kCudaSuccess)
      api.check(cleared, "clearing the counter of kernel " + kernel.name);
  }
  ParamList &list = launch.list;
  void *asBuffer[] = {kLaunchBufferPointer, list.buffer(), kLaunchBufferSize,
                      list.numBytes(), kLaunchEnd};
  void **params = list.isBuffer() ? nullptr : list.addresses();
  void **buffer = list.isBuffer() ? asBuffer : nullptr;
  CuResult result =
      launch.follows
          ? startFollowing(api, launch, stream, params, buffer)
          : api.launchKernel(launch.function, launch.blocks, 1, 1, launch.block,
                             1, 1, launch.sharedBytes, stream, params, buffer);
  if (result != kCudaSuccess)
    api.check(result, "launching kernel " + kernel.name);
}
