//===- Device.h - A GPU through the driver API ------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_DEVICE_H
#define FLASHLOOM_BENCH_DEVICE_H

#include "DriverApi.h"

#include <cstddef>
#include <string>

struct CUevent_st;

namespace fa::bench {

using rt::CuContext;
using rt::CuDevice;
using rt::CuResult;
using rt::CuStream;
using CuEvent = CUevent_st *;
using CuAddress = unsigned long long;

/// The driver's functions that a launch does not need but a program does.
struct DeviceApi {
  CuResult (*init)(unsigned) = nullptr;
  CuResult (*deviceGet)(CuDevice *, int) = nullptr;
  CuResult (*deviceGetName)(char *, int, CuDevice) = nullptr;
  CuResult (*deviceGetPciBusId)(char *, int, CuDevice) = nullptr;
  CuResult (*primaryCtxRetain)(CuContext *, CuDevice) = nullptr;
  CuResult (*ctxSetCurrent)(CuContext) = nullptr;
  CuResult (*memAlloc)(CuAddress *, size_t) = nullptr;
  CuResult (*memFree)(CuAddress) = nullptr;
  CuResult (*memcpyHtoD)(CuAddress, const void *, size_t) = nullptr;
  CuResult (*memcpyDtoH)(void *, CuAddress, size_t) = nullptr;
  CuResult (*memsetD8)(CuAddress, unsigned char, size_t) = nullptr;
  CuResult (*memsetD32Async)(CuAddress, unsigned, size_t, CuStream) = nullptr;
  CuResult (*memHostAlloc)(void **, size_t, unsigned) = nullptr;
  CuResult (*memHostGetDevicePointer)(CuAddress *, void *, unsigned) = nullptr;
  CuResult (*memFreeHost)(void *) = nullptr;
  CuResult (*streamCreate)(CuStream *, unsigned) = nullptr;
  CuResult (*streamQuery)(CuStream) = nullptr;
  CuResult (*eventCreate)(CuEvent *, unsigned) = nullptr;
  CuResult (*eventRecord)(CuEvent, CuStream) = nullptr;
  CuResult (*eventElapsedTime)(float *, CuEvent, CuEvent) = nullptr;
  CuResult (*eventDestroy)(CuEvent) = nullptr;
  /// Optional.
  CuResult (*streamWaitValue32)(CuStream, CuAddress, unsigned,
                                unsigned) = nullptr;
};

/// The first GPU, with its primary context current on this thread, and one
/// stream. The context lives as long as the process.
class Device {
public:
  /// Throws rt::Failure where there is no driver or no GPU.
  Device();

  const DeviceApi &api() const { return functions; }
  CuStream stream() const { return mainStream; }
  /// "NVIDIA H200, sm_90, CUDA driver 13.0".
  std::string describe() const;
  /// "NVIDIA H200".
  std::string name() const;
  /// The CUDA version of the driver, "13.0".
  std::string driverVersion() const;
  std::string pciBusId() const;

  /// Throws rt::Failure unless `result` is success.
  void check(CuResult result, const char *what) const {
    rt::driver().check(result, what);
  }

  /// Waits until the stream is idle. A stream that is busy for longer than
  /// `timeoutS` seconds ends the process: the line "HANG `what`" and exit
  /// status 3. Throws rt::Failure where the work failed.
  void wait(double timeoutS, const std::string &what) const;

private:
  DeviceApi functions;
  CuDevice device = 0;
  CuStream mainStream = nullptr;
};

/// Device memory that frees itself.
class DeviceBuffer {
public:
  /// At least one byte, so that empty tensors have an address too.
  DeviceBuffer(const Device &device, size_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer &) = delete;
  DeviceBuffer &operator=(const DeviceBuffer &) = delete;

  void *data() const { return reinterpret_cast<void *>(address); }
  CuAddress deviceAddress() const { return address; }
  /// Copies to the place `offset` bytes behind the beginning.
  void upload(const void *from, size_t bytes, size_t offset = 0) const;
  void download(void *to, size_t bytes) const;
  void fillBytes(unsigned char value) const;

private:
  const Device &device;
  size_t size;
  CuAddress address = 0;
};

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_DEVICE_H
