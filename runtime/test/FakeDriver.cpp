//===- FakeDriver.cpp - A driver that records its calls -------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

using namespace fa::rt;
using namespace fa::test;

static FakeDriver *fake;
static constexpr CuResult kInvalidValue = 1, kInvalidContext = 201;
static std::mutex mutex;

/// Records a call; returns the result that the test asked for.
static int record(const std::string &name) {
  std::lock_guard<std::mutex> lock(mutex);
  fake->calls.push_back(name);
  auto found = fake->failures.find(name);
  return found == fake->failures.end() ? kCudaSuccess : found->second;
}

static CuResult getErrorName(CuResult, const char **name) {
  *name = "CUDA_ERROR_FAKE";
  return kCudaSuccess;
}

static CuResult getErrorString(CuResult, const char **text) {
  *text = "a fake error";
  return kCudaSuccess;
}

static CuResult driverGetVersion(int *version) {
  *version = fake->version;
  return record("driverGetVersion");
}

static CuResult ctxGetCurrent(CuContext *context) {
  *context = reinterpret_cast<CuContext>(fake->context);
  return record("ctxGetCurrent");
}

static CuResult ctxGetDevice(CuDevice *device) {
  *device = fake->device;
  return record("ctxGetDevice");
}

static CuResult ctxPushCurrent(CuContext context) {
  return record("push " + std::to_string(reinterpret_cast<uintptr_t>(context)));
}

static CuResult ctxPopCurrent(CuContext *) { return record("pop"); }

static CuResult ctxGetId(CuContext context, unsigned long long *id) {
  *id = context ? reinterpret_cast<uintptr_t>(context) : fake->context;
  CuResult result = record("ctxGetId");
  return *id ? result : kInvalidContext;
}

static CuResult deviceGetAttribute(int *value, int attribute, CuDevice) {
  *value = attribute == kMultiprocessorCount      ? fake->multiprocessors
           : attribute == kComputeCapabilityMajor ? fake->major
                                                  : fake->minor;
  return record("deviceGetAttribute");
}

static CuResult moduleLoadData(CuModule *module, const void *image) {
  int result = record("moduleLoadData");
  std::lock_guard<std::mutex> lock(mutex);
  fake->images.push_back(static_cast<const char *>(image));
  *module = reinterpret_cast<CuModule>(0x100 + fake->images.size());
  return result;
}

static CuResult moduleUnload(CuModule) { return record("moduleUnload"); }

static CuResult moduleGetFunction(CuFunction *function, CuModule module,
                                  const char *name) {
  *function = reinterpret_cast<CuFunction>(reinterpret_cast<uintptr_t>(module) +
                                           0x1000);
  return record(std::string("moduleGetFunction ") + name);
}

static CuResult funcSetAttribute(CuFunction, int attribute, int value) {
  int result = record("funcSetAttribute");
  std::lock_guard<std::mutex> lock(mutex);
  fake->functionAttributes.emplace_back(attribute, value);
  return result;
}

static CuResult funcGetParamInfo(CuFunction, size_t number, size_t *offset,
                                 size_t *size) {
  if (number >= fake->paramSizes.size())
    return kInvalidValue;
  size_t end = 0;
  for (size_t i = 0; i <= number; ++i) {
    const size_t bytes = fake->paramSizes[i];
    const size_t unit = std::min<size_t>(bytes, 64);
    *offset = (end + unit - 1) / unit * unit;
    *size = bytes;
    end = *offset + bytes;
  }
  return kCudaSuccess;
}

static CuResult occupancy(int *blocks, CuFunction, int, size_t) {
  *blocks = fake->residentBlocks;
  return record("occupancy");
}

static CuResult exchangeCaptureMode(int *mode) {
  std::swap(*mode, FakeDriver::captureMode);
  return record("exchangeCaptureMode");
}

static CuResult launchKernel(CuFunction function, unsigned gx, unsigned gy,
                             unsigned gz, unsigned bx, unsigned by, unsigned bz,
                             unsigned shared, CuStream stream, void **params,
                             void **list) {
  RecordedLaunch launch{function, {gx, gy, gz}, {bx, by, bz},
                        shared,   stream,       {}};
  for (size_t i = 0; params && i < fake->paramCount; ++i) {
    uint64_t slot;
    std::memcpy(&slot, params[i], sizeof(slot));
    launch.slots.push_back(slot);
  }
  if (!params && list[0] == kLaunchBufferPointer &&
      list[2] == kLaunchBufferSize && list[4] == kLaunchEnd) {
    auto *bytes = static_cast<unsigned char *>(list[1]);
    launch.buffer.assign(bytes, bytes + *static_cast<size_t *>(list[3]));
  }
  int result = record("launchKernel");
  std::lock_guard<std::mutex> lock(mutex);
  fake->launches.push_back(launch);
  return result;
}

static CuResult launchKernelEx(const CuLaunchConfig *config,
                               CuFunction function, void **params,
                               void **extra) {
  CuResult result =
      launchKernel(function, config->grid[0], config->grid[1], config->grid[2],
                   config->block[0], config->block[1], config->block[2],
                   config->sharedBytes, config->stream, params, extra);
  std::lock_guard<std::mutex> lock(mutex);
  for (unsigned n = 0; n < config->numAttributes; ++n)
    fake->launches.back().follows |=
        config->attributes[n].id == kLaunchProgrammaticSerialization &&
        config->attributes[n].value == 1;
  return result;
}

static CuResult memsetD32Async(unsigned long long address, unsigned value,
                               size_t count, CuStream stream) {
  int result = record("memsetD32Async");
  std::lock_guard<std::mutex> lock(mutex);
  fake->memsets.push_back(
      {address, value, count, fake->launches.size(), stream});
  return result;
}

static CuResult tensorMapEncodeTiled(void *map, int type, uint32_t rank,
                                     void *address, const uint64_t *dims,
                                     const uint64_t *strides,
                                     const uint32_t *box, const uint32_t *steps,
                                     int, int swizzle, int, int) {
  int result = record("tensorMapEncodeTiled");
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t number = fake->maps.size();
  std::memcpy(map, &number, sizeof(number));
  fake->maps.push_back({type,
                        swizzle,
                        address,
                        {dims, dims + rank},
                        {strides, strides + rank - 1},
                        {box, box + rank},
                        {steps, steps + rank}});
  return result;
}

FakeDriver::FakeDriver() {
  fake = this;
  table.getErrorName = getErrorName;
  table.getErrorString = getErrorString;
  table.driverGetVersion = driverGetVersion;
  table.ctxGetCurrent = ctxGetCurrent;
  table.ctxGetDevice = ctxGetDevice;
  table.ctxPushCurrent = ctxPushCurrent;
  table.ctxPopCurrent = ctxPopCurrent;
  table.ctxGetId = ctxGetId;
  table.deviceGetAttribute = deviceGetAttribute;
  table.moduleLoadData = moduleLoadData;
  table.moduleUnload = moduleUnload;
  table.moduleGetFunction = moduleGetFunction;
  table.funcSetAttribute = funcSetAttribute;
  table.funcGetParamInfo = funcGetParamInfo;
  table.occupancyMaxActiveBlocksPerMultiprocessor = occupancy;
  table.threadExchangeStreamCaptureMode = exchangeCaptureMode;
  table.launchKernel = launchKernel;
  table.launchKernelEx = launchKernelEx;
  table.memsetD32Async = memsetD32Async;
  table.tensorMapEncodeTiled = tensorMapEncodeTiled;
  overrideDriver(&table);
}

FakeDriver::~FakeDriver() {
  overrideDriver(nullptr);
  fake = nullptr;
}

size_t FakeDriver::count(const std::string &call) const {
  return std::count(calls.begin(), calls.end(), call);
}
