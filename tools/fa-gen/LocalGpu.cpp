//===- LocalGpu.cpp - The GPU of this machine -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalGpu.h"

#include "llvm/Support/DynamicLibrary.h"

using namespace fa;

/// Values of the CUDA driver API (cuda.h), which is loaded at run time: most
/// machines that compile kernels have none.
static constexpr int kComputeCapabilityMajor = 75;
static constexpr int kComputeCapabilityMinor = 76;

std::optional<std::string> fa::findLocalGpu() {
  auto driver = llvm::sys::DynamicLibrary::getPermanentLibrary("libcuda.so.1");
  auto symbol = [&](const char *name) {
    return driver.isValid() ? driver.getAddressOfSymbol(name) : nullptr;
  };
  auto init = reinterpret_cast<int (*)(unsigned)>(symbol("cuInit"));
  auto getDevice = reinterpret_cast<int (*)(int *, int)>(symbol("cuDeviceGet"));
  auto getAttribute = reinterpret_cast<int (*)(int *, int, int)>(
      symbol("cuDeviceGetAttribute"));
  int device = 0, major = 0, minor = 0;
  if (!init || !getDevice || !getAttribute || init(0) != 0 ||
      getDevice(&device, 0) != 0 ||
      getAttribute(&major, kComputeCapabilityMajor, device) != 0 ||
      getAttribute(&minor, kComputeCapabilityMinor, device) != 0)
    return std::nullopt;
  std::string name = "sm_" + std::to_string(major) + std::to_string(minor);
  // From Hopper on the fastest instructions exist on one architecture alone.
  return major >= 9 ? name + "a" : name;
}
