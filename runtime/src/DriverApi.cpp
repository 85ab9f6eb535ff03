//===- DriverApi.cpp - The CUDA driver, loaded at run time ----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverApi.h"

#include "Failure.h"

#include <atomic>
#include <dlfcn.h>

using namespace fa::rt;

static std::atomic<const DriverApi *> overriding{nullptr};
static std::atomic<unsigned> generation{1};

/// Opens libcuda once; a failed attempt is repeated by the next call.
static void *openLibrary() {
  static void *const handle = [] {
    if (void *opened = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL))
      return opened;
    const char *reason = dlerror();
    throw Failure(FA_NO_DRIVER, std::string("the CUDA driver could not be "
                                            "loaded: ") +
                                    (reason ? reason : "libcuda.so.1"));
  }();
  return handle;
}

void *fa::rt::findDriverSymbol(const char *name) {
  return dlsym(openLibrary(), name);
}

void fa::rt::requireDriverSymbol(void *address, const char *name) {
  if (!address)
    throw Failure(FA_NO_DRIVER,
                  std::string("the CUDA driver is too old: it has no ") + name);
}

static DriverApi loadDriver() {
  DriverApi api;
  loadDriverSymbol(api.getErrorName, "cuGetErrorName");
  loadDriverSymbol(api.getErrorString, "cuGetErrorString");
  loadDriverSymbol(api.driverGetVersion, "cuDriverGetVersion",
                   /*optional=*/true);
  loadDriverSymbol(api.ctxGetCurrent, "cuCtxGetCurrent");
  loadDriverSymbol(api.ctxGetDevice, "cuCtxGetDevice");
  loadDriverSymbol(api.ctxPushCurrent, "cuCtxPushCurrent_v2");
  loadDriverSymbol(api.ctxPopCurrent, "cuCtxPopCurrent_v2");
  loadDriverSymbol(api.ctxGetId, "cuCtxGetId", /*optional=*/true);
  loadDriverSymbol(api.deviceGetAttribute, "cuDeviceGetAttribute");
  loadDriverSymbol(api.moduleLoadData, "cuModuleLoadData");
  loadDriverSymbol(api.moduleUnload, "cuModuleUnload");
  loadDriverSymbol(api.moduleGetFunction, "cuModuleGetFunction");
  loadDriverSymbol(api.funcSetAttribute, "cuFuncSetAttribute");
  loadDriverSymbol(api.funcGetParamInfo, "cuFuncGetParamInfo",
                   /*optional=*/true);
  loadDriverSymbol(api.threadExchangeStreamCaptureMode,
                   "cuThreadExchangeStreamCaptureMode", /*optional=*/true);
  loadDriverSymbol(api.launchKernel, "cuLaunchKernel");
  loadDriverSymbol(api.launchKernelEx, "cuLaunchKernelEx", /*optional=*/true);
  loadDriverSymbol(api.memsetD32Async, "cuMemsetD32Async");
  loadDriverSymbol(api.occupancyMaxActiveBlocksPerMultiprocessor,
                   "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  loadDriverSymbol(api.tensorMapEncodeTiled, "cuTensorMapEncodeTiled",
                   /*optional=*/true);
  return api;
}

const DriverApi &fa::rt::driver() {
  if (const DriverApi *table = overriding.load(std::memory_order_acquire))
    return *table;
  static const DriverApi loaded = loadDriver();
  return loaded;
}

void fa::rt::overrideDriver(const DriverApi *table) {
  overriding.store(table, std::memory_order_release);
  generation.fetch_add(1, std::memory_order_release);
}

unsigned fa::rt::driverGeneration() {
  return generation.load(std::memory_order_acquire);
}

std::string DriverApi::describe(CuResult result) const {
  const char *name = nullptr, *text = nullptr;
  if (getErrorName(result, &name) != kCudaSuccess || !name)
    return "CUDA error " + std::to_string(result);
  if (getErrorString(result, &text) != kCudaSuccess || !text)
    return name;
  return std::string(name) + ": " + text;
}

std::string DriverApi::release() const {
  int version = 0;
  if (!driverGetVersion || driverGetVersion(&version) != kCudaSuccess)
    return "";
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

void DriverApi::check(CuResult result, const std::string &what) const {
  if (result != kCudaSuccess)
    throw Failure(FA_DRIVER_ERROR, what + " failed: " + describe(result));
}
