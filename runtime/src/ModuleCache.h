//===- ModuleCache.h - Kernels loaded into contexts -------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_MODULECACHE_H
#define FLASHLOOM_RUNTIME_MODULECACHE_H

#include "CurrentDevice.h"
#include "Kernel.h"
#include "ParamList.h"

#include <map>
#include <mutex>
#include <utility>

namespace fa::rt {

/// A kernel's launch in a context. `places` are those of its parameters, none
/// where the driver does not say.
struct LoadedFunction {
  CuFunction handle = nullptr;
  std::vector<ParamPlace> places;
};

/// The places of a function's parameters; none where the driver does not say.
std::vector<ParamPlace> placesOf(CuFunction function);

/// The functions of one library's kernels, loaded on demand, one module per
/// (kernel, context). Safe to use from several threads.
class ModuleCache {
public:
  /// Unloads every module in its context.
  ~ModuleCache();

  /// The function of a kernel's launch in the current context. `index`
  /// identifies the kernel, `path` is its file. It stays as long as the cache.
  /// Throws Failure.
  const LoadedFunction &get(const CurrentDevice &device, size_t index,
                            const Kernel &kernel, const std::string &path,
                            size_t launch);

private:
  struct Loaded {
    CuContext context;
    CuModule module;
    std::vector<LoadedFunction> functions; ///< one for each launch
  };
  using Key = std::pair<size_t, unsigned long long>;

  std::mutex mutex;
  std::map<Key, Loaded> loaded;
};

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_MODULECACHE_H
