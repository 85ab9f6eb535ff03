//===- Device.cpp - A GPU through the driver API --------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include "CurrentDevice.h"
#include "Failure.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <unistd.h>

using namespace fa::bench;
using fa::rt::loadDriverSymbol;

static constexpr int kHangStatus = 3;

static DeviceApi loadApi() {
  DeviceApi api;
  loadDriverSymbol(api.init, "cuInit");
  loadDriverSymbol(api.deviceGet, "cuDeviceGet");
  loadDriverSymbol(api.deviceGetName, "cuDeviceGetName");
  loadDriverSymbol(api.deviceGetPciBusId, "cuDeviceGetPCIBusId");
  loadDriverSymbol(api.primaryCtxRetain, "cuDevicePrimaryCtxRetain");
  loadDriverSymbol(api.ctxSetCurrent, "cuCtxSetCurrent");
  loadDriverSymbol(api.memAlloc, "cuMemAlloc_v2");
  loadDriverSymbol(api.memFree, "cuMemFree_v2");
  loadDriverSymbol(api.memcpyHtoD, "cuMemcpyHtoD_v2");
  loadDriverSymbol(api.memcpyDtoH, "cuMemcpyDtoH_v2");
  loadDriverSymbol(api.memsetD8, "cuMemsetD8_v2");
  loadDriverSymbol(api.memsetD32Async, "cuMemsetD32Async");
  loadDriverSymbol(api.memHostAlloc, "cuMemHostAlloc");
  loadDriverSymbol(api.memHostGetDevicePointer, "cuMemHostGetDevicePointer_v2");
  loadDriverSymbol(api.memFreeHost, "cuMemFreeHost");
  loadDriverSymbol(api.streamCreate, "cuStreamCreate");
  loadDriverSymbol(api.streamQuery, "cuStreamQuery");
  loadDriverSymbol(api.eventCreate, "cuEventCreate");
  loadDriverSymbol(api.eventRecord, "cuEventRecord");
  loadDriverSymbol(api.eventElapsedTime, "cuEventElapsedTime");
  loadDriverSymbol(api.eventDestroy, "cuEventDestroy_v2");
  loadDriverSymbol(api.streamWaitValue32, "cuStreamWaitValue32_v2",
                   /*optional=*/true);
  return api;
}

Device::Device() : functions(loadApi()) {
  check(functions.init(0), "cuInit");
  check(functions.deviceGet(&device, 0), "cuDeviceGet");
  CuContext context = nullptr;
  check(functions.primaryCtxRetain(&context, device),
        "cuDevicePrimaryCtxRetain");
  check(functions.ctxSetCurrent(context), "cuCtxSetCurrent");
  // Ordered with the blocking copies, which use the default stream.
  check(functions.streamCreate(&mainStream, 0), "cuStreamCreate");
}

std::string Device::name() const {
  char name[256] = "";
  check(functions.deviceGetName(name, sizeof(name), device), "cuDeviceGetName");
  return name;
}

std::string Device::driverVersion() const { return rt::driver().release(); }

std::string Device::describe() const {
  return name() + ", " + rt::currentCapability().str() + ", CUDA driver " +
         driverVersion();
}

std::string Device::pciBusId() const {
  char id[64] = "";
  check(functions.deviceGetPciBusId(id, sizeof(id), device),
        "cuDeviceGetPCIBusId");
  return id;
}

void Device::wait(double timeoutS, const std::string &what) const {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  // A synchronizing call would never come back from a kernel that hangs.
  for (;;) {
    CuResult result = functions.streamQuery(mainStream);
    if (result == rt::kCudaSuccess)
      return;
    if (result != rt::kCudaErrorNotReady)
      check(result, what.c_str());
    std::chrono::duration<double> waited = Clock::now() - start;
    if (waited.count() > timeoutS) {
      std::printf("HANG %s\n", what.c_str());
      std::fflush(stdout);
      _exit(kHangStatus);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

DeviceBuffer::DeviceBuffer(const Device &device, size_t bytes)
    : device(device), size(std::max<size_t>(bytes, 1)) {
  device.check(device.api().memAlloc(&address, size), "cuMemAlloc");
}

DeviceBuffer::~DeviceBuffer() { device.api().memFree(address); }

void DeviceBuffer::upload(const void *from, size_t bytes, size_t offset) const {
  if (bytes)
    device.check(device.api().memcpyHtoD(address + offset, from, bytes),
                 "cuMemcpyHtoD");
}

void DeviceBuffer::download(void *to, size_t bytes) const {
  if (bytes)
    device.check(device.api().memcpyDtoH(to, address, bytes), "cuMemcpyDtoH");
}

void DeviceBuffer::fillBytes(unsigned char value) const {
  device.check(device.api().memsetD8(address, value, size), "cuMemsetD8");
}
