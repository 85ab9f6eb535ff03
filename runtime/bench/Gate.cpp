//===- Gate.cpp - Holding a stream while work is queued -------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gate.h"

#include <atomic>

using namespace fa::bench;

static constexpr unsigned kHostAllocDeviceMap = 2;
static constexpr unsigned kWaitValueGreaterOrEqual = 0;
/// The fallback: this much memory is filled this many times.
static constexpr size_t kScratchBytes = size_t(1) << 28;
static constexpr int kFills = 200;

Gate::Gate(const Device &device) : device(device) {
  const DeviceApi &api = device.api();
  device.check(api.memHostAlloc(&word, sizeof(unsigned), kHostAllocDeviceMap),
               "cuMemHostAlloc");
  *static_cast<volatile unsigned *>(word) = 0;
  device.check(api.memHostGetDevicePointer(&wordAddress, word, 0),
               "cuMemHostGetDevicePointer");
  canWait = api.streamWaitValue32 != nullptr;
}

Gate::~Gate() {
  open();
  // The stream may still read the word when work queued behind it failed.
  while (device.api().streamQuery(device.stream()) == rt::kCudaErrorNotReady)
    ;
  device.api().memFreeHost(word);
}

void Gate::close() {
  ++generation;
  if (canWait) {
    CuResult result = device.api().streamWaitValue32(
        device.stream(), wordAddress, generation, kWaitValueGreaterOrEqual);
    if (result == rt::kCudaSuccess)
      return;
    canWait = false;
  }
  fillMemory();
}

void Gate::fillMemory() {
  if (!scratch)
    scratch = std::make_unique<DeviceBuffer>(device, kScratchBytes);
  for (int fill = 0; fill < kFills; ++fill)
    device.check(device.api().memsetD32Async(scratch->deviceAddress(), fill,
                                             kScratchBytes / sizeof(unsigned),
                                             device.stream()),
                 "cuMemsetD32Async");
}

void Gate::open() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  *static_cast<volatile unsigned *>(word) = generation;
}
