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

#include <map>
#include <mutex>
#include <utility>

namespace fa::rt {

/// The functions of one library's kernels, loaded on demand, one module per
/// (kernel, context). Safe to use from several threads.
class ModuleCache {
public:
  /// Unloads every module in its context.
  ~ModuleCache();

  /// The function of a kernel's launch in the current context. `index`
  /// identifies the kernel, `path` is its file. Throws Failure.
  CuFunction get(const CurrentDevice &device, size_t index,
                 const Kernel &kernel, const std::string &path, size_t launch);

private:
  struct Loaded {
    CuContext context;
    CuModule module;
    std::vector<CuFunction> functions; ///< one for each launch
  };
  using Key = std::pair<size_t, unsigned long long>;

  std::mutex mutex;
  std::map<Key, Loaded> loaded;
};

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_MODULECACHE_H
