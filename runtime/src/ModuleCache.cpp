//===- ModuleCache.cpp - Kernels loaded into contexts ---------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleCache.h"

#include "Failure.h"
#include "Image.h"

using namespace fa::rt;

/// A block may use this much dynamic shared memory without asking for more.
static constexpr int kDefaultSharedBytes = 48 * 1024;

namespace {

/// Allows, for a scope, calls that a stream capture of this thread would
/// otherwise forbid: loading a module is not part of what is captured.
class RelaxedCapture {
public:
  RelaxedCapture() { exchange(); }
  ~RelaxedCapture() { exchange(); }

private:
  void exchange() {
    if (auto function = driver().threadExchangeStreamCaptureMode)
      function(&mode);
  }
  int mode = kCaptureModeRelaxed;
};

} // namespace

/// What a module that cannot be loaded may suffer from: a cubin needs a driver
/// that is for the CUDA release of its ptxas or a later one.
static std::string releases(const Kernel &kernel) {
  std::string release = driver().release();
  if (kernel.ptxas.empty() || release.empty())
    return "";
  return " (compiled by ptxas " + kernel.ptxas + "; the driver is for CUDA " +
         release + ")";
}

static CuModule loadModule(const std::string &image, const Kernel &kernel,
                           const std::string &path) {
  const DriverApi &api = driver();
  CuModule module = nullptr;
  // PTX is text and needs the zero at its end, which std::string has.
  CuResult result = api.moduleLoadData(&module, image.c_str());
  if (result != kCudaSuccess)
    throw Failure(FA_DRIVER_ERROR, path + ": loading failed: " +
                                       api.describe(result) + releases(kernel));
  return module;
}

std::vector<ParamPlace> fa::rt::placesOf(CuFunction function) {
  std::vector<ParamPlace> places;
  const DriverApi &api = driver();
  if (!api.funcGetParamInfo)
    return places;
  ParamPlace place;
  while (api.funcGetParamInfo(function, places.size(), &place.offset,
                              &place.size) == kCudaSuccess)
    places.push_back(place);
  return places;
}

static LoadedFunction functionOf(CuModule module, const std::string &entry,
                                 int32_t sharedBytes, const std::string &path) {
  const DriverApi &api = driver();
  CuFunction function = nullptr;
  api.check(api.moduleGetFunction(&function, module, entry.c_str()),
            path + ": looking up the entry " + entry);
  if (sharedBytes > kDefaultSharedBytes)
    api.check(
        api.funcSetAttribute(function, kMaxDynamicSharedBytes, sharedBytes),
        path + ": asking for " + std::to_string(sharedBytes) +
            " bytes of shared memory");
  return {function, placesOf(function)};
}

/// The functions of all launches of a kernel.
static std::vector<LoadedFunction>
functionsOf(CuModule module, const Kernel &kernel, const std::string &path) {
  if (kernel.plan.launches.empty())
    return {functionOf(module, kernel.entry, kernel.sharedBytes, path)};
  std::vector<LoadedFunction> functions;
  for (const PlannedLaunch &launch : kernel.plan.launches)
    functions.push_back(
        functionOf(module, launch.entry, launch.sharedBytes, path));
  return functions;
}

const LoadedFunction &ModuleCache::get(const CurrentDevice &device,
                                       size_t index, const Kernel &kernel,
                                       const std::string &path, size_t launch) {
  Key key(index, device.contextId);
  std::lock_guard<std::mutex> lock(mutex);
  auto found = loaded.find(key);
  if (found != loaded.end())
    return found->second.functions[launch];

  const DriverApi &api = driver();
  std::string image = readImage(path, kernel);
  RelaxedCapture relaxed;
  CuModule module = loadModule(image, kernel, path);
  try {
    Loaded entry = {device.context, module, functionsOf(module, kernel, path)};
    return loaded.emplace(key, std::move(entry))
        .first->second.functions[launch];
  } catch (...) {
    api.moduleUnload(module);
    throw;
  }
}

ModuleCache::~ModuleCache() {
  // Errors have no one to go to here, and at the end of the process the driver
  // may already be gone.
  for (auto &entry : loaded) {
    const DriverApi &api = driver();
    if (api.ctxPushCurrent(entry.second.context) != kCudaSuccess)
      continue;
    api.moduleUnload(entry.second.module);
    CuContext popped = nullptr;
    api.ctxPopCurrent(&popped);
  }
}
