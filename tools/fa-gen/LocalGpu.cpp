//===- LocalGpu.cpp - The GPUs of this machine -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalGpu.h"

#include "fa/Target/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/DynamicLibrary.h"

using namespace fa;

/// Values of the CUDA driver API (cuda.h), which is loaded at run time: most
/// machines that compile kernels have none.
static constexpr int kComputeCapabilityMajor = 75;
static constexpr int kComputeCapabilityMinor = 76;
static constexpr int kHopperMajor = 9;

namespace {
/// The functions that are needed.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*getCount)(int *) = nullptr;
  int (*getDevice)(int *, int) = nullptr;
  int (*getAttribute)(int *, int, int) = nullptr;
};
} // namespace

/// The driver, initialised; nothing where there is none.
static std::optional<Driver> openDriver() {
  auto library = llvm::sys::DynamicLibrary::getPermanentLibrary("libcuda.so.1");
  if (!library.isValid())
    return std::nullopt;
  Driver driver;
  auto load = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        library.getAddressOfSymbol(name));
    return function != nullptr;
  };
  if (!load(driver.init, "cuInit") ||
      !load(driver.getCount, "cuDeviceGetCount") ||
      !load(driver.getDevice, "cuDeviceGet") ||
      !load(driver.getAttribute, "cuDeviceGetAttribute") || driver.init(0) != 0)
    return std::nullopt;
  return driver;
}

std::vector<std::string> fa::findLocalGpus() {
  std::vector<std::string> names;
  std::optional<Driver> driver = openDriver();
  int count = 0;
  if (!driver || driver->getCount(&count) != 0)
    return names;
  for (int index = 0; index < count; ++index) {
    int device = 0, major = 0, minor = 0;
    if (driver->getDevice(&device, index) != 0 ||
        driver->getAttribute(&major, kComputeCapabilityMajor, device) != 0 ||
        driver->getAttribute(&minor, kComputeCapabilityMinor, device) != 0)
      continue;
    std::string name = "sm_" + std::to_string(major) + std::to_string(minor);
    // From Hopper on the fastest instructions exist on one architecture alone.
    if (major >= kHopperMajor)
      name += "a";
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }
  return names;
}

std::optional<std::string> fa::findTargetFor(llvm::StringRef gpu) {
  if (Target::lookup(gpu))
    return gpu.str();
  llvm::StringRef digits = gpu;
  unsigned number = 0;
  if (!digits.consume_front("sm_") || digits.consumeInteger(10, number))
    return std::nullopt;
  std::optional<std::string> best;
  for (const Target &target : Target::all()) {
    bool isPortable = !llvm::StringRef(target.name).ends_with("a");
    if (isPortable && target.computeMajor == int(number / 10) &&
        target.computeMinor <= int(number % 10))
      best = target.name;
  }
  return best;
}
