//===- Library.h - An open kernel library -----------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_LIBRARY_H
#define FLASHLOOM_RUNTIME_LIBRARY_H

#include "Manifest.h"
#include "ModuleCache.h"

namespace fa::rt {

/// A folder with a manifest.json and the files that it names.
class Library {
public:
  /// Reads the manifest; loads no kernel. Throws Failure(FA_INVALID_LIBRARY).
  explicit Library(const std::string &directory);

  /// At least 1, and that of no other library of the process, be it closed.
  uint64_t number() const { return ownNumber; }
  const std::string &directory() const { return folder; }
  const std::vector<Kernel> &kernels() const { return manifest.kernels; }
  const std::vector<Kernel> &programs() const { return manifest.programs; }

  /// The kernel at `index`. Throws Failure(FA_INVALID_ARGUMENT) outside.
  const Kernel &kernel(size_t index) const;

  /// The function of a kernel's launch in the current context, loaded now if it
  /// was not. Throws Failure.
  const LoadedFunction &function(size_t index, size_t launch = 0);

  /// The same where the caller knows what is current.
  const LoadedFunction &functionOn(const CurrentDevice &device, size_t index,
                                   size_t launch = 0);

  /// The same of a program.
  const LoadedFunction &programFunction(const CurrentDevice &device,
                                        size_t index);

private:
  std::string pathOf(const std::string &file) const;

  uint64_t ownNumber;
  std::string folder;
  Manifest manifest;
  ModuleCache modules;
};

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_LIBRARY_H
