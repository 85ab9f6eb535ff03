//===- Library.cpp - An open kernel library -------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"

#include "CurrentDevice.h"
#include "Failure.h"
#include "Files.h"

#include <atomic>

using namespace fa::rt;

static uint64_t nextNumber() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Library::Library(const std::string &directory)
    : ownNumber(nextNumber()), folder(directory) {
  std::string path = pathOf("manifest.json");
  manifest = parseManifest(readFile(path), path);
  for (const auto *list : {&manifest.kernels, &manifest.programs})
    for (const Kernel &kernel : *list)
      requireFile(pathOf(kernel.file), kernel.name);
}

std::string Library::pathOf(const std::string &file) const {
  return folder + "/" + file;
}

const Kernel &Library::kernel(size_t index) const {
  if (index >= kernels().size())
    throw Failure(FA_INVALID_ARGUMENT, "kernel index must be below " +
                                           std::to_string(kernels().size()) +
                                           " (found " + std::to_string(index) +
                                           ")");
  return kernels()[index];
}

const LoadedFunction &Library::function(size_t index, size_t launch) {
  return functionOn(currentDevice(), index, launch);
}

const LoadedFunction &Library::functionOn(const CurrentDevice &device,
                                          size_t index, size_t launch) {
  const Kernel &found = kernel(index);
  return modules.get(device, index, found, pathOf(found.file), launch);
}

const LoadedFunction &Library::programFunction(const CurrentDevice &device,
                                               size_t index) {
  const Kernel &found = programs()[index];
  // Numbers behind those of the kernels.
  return modules.get(device, kernels().size() + index, found,
                     pathOf(found.file), 0);
}
