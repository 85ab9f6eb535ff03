//===- CurrentDevice.cpp - Where a launch goes ----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CurrentDevice.h"

#include "Failure.h"

using namespace fa::rt;

static CuContext currentContext() {
  CuContext context = nullptr;
  CuResult result = driver().ctxGetCurrent(&context);
  if (result != kCudaSuccess && result != kCudaErrorNotInitialized)
    driver().check(result, "cuCtxGetCurrent");
  if (!context)
    throw Failure(FA_NO_DRIVER, "no CUDA context is current on this thread");
  return context;
}

static int attributeOf(CuDevice device, int attribute) {
  int value = 0;
  driver().check(driver().deviceGetAttribute(&value, attribute, device),
                 "cuDeviceGetAttribute");
  return value;
}

/// The device of the current context, and its figures.
static CurrentDevice askDevice() {
  CurrentDevice asked;
  driver().check(driver().ctxGetDevice(&asked.device), "cuCtxGetDevice");
  asked.capability = {attributeOf(asked.device, kComputeCapabilityMajor),
                      attributeOf(asked.device, kComputeCapabilityMinor)};
  asked.multiprocessors =
      unsigned(attributeOf(asked.device, kMultiprocessorCount));
  return asked;
}

namespace {
/// What the driver said of the context that a thread used last.
struct Answer {
  unsigned generation = 0; ///< of the driver that was asked; 0: none was
  CurrentDevice device;
};
} // namespace

CurrentDevice fa::rt::currentDevice() {
  static thread_local Answer last;
  const DriverApi &api = driver();
  CuContext context = currentContext();
  if (!api.ctxGetId) {
    CurrentDevice asked = askDevice();
    asked.context = context;
    asked.contextId = reinterpret_cast<uintptr_t>(context);
    return asked;
  }
  unsigned long long id = 0;
  CuResult result = api.ctxGetId(context, &id);
  if (result != kCudaSuccess)
    api.check(result, "cuCtxGetId");
  const unsigned generation = driverGeneration();
  if (last.generation != generation || last.device.contextId != id) {
    // Not kept where one of the calls fails.
    CurrentDevice asked = askDevice();
    asked.contextId = id;
    last = {generation, asked};
  }
  last.device.context = context;
  return last.device;
}

std::optional<unsigned long long> fa::rt::currentContextId() {
  const DriverApi &api = driver();
  unsigned long long id = 0;
  if (!api.ctxGetId || api.ctxGetId(nullptr, &id) != kCudaSuccess)
    return std::nullopt;
  return id;
}

ComputeCapability fa::rt::currentCapability() {
  return currentDevice().capability;
}
