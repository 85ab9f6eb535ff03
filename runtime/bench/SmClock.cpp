//===- SmClock.cpp - The GPU's clock, from NVML ---------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SmClock.h"

#include <dlfcn.h>

using namespace fa::bench;

static constexpr int kNvmlClockSm = 1;

SmClock::SmClock(const std::string &pciBusId) {
  void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return;
  auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  auto getHandle = reinterpret_cast<int (*)(const char *, void **)>(
      dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2"));
  auto clock =
      reinterpret_cast<GetClock>(dlsym(library, "nvmlDeviceGetClockInfo"));
  if (init && getHandle && clock && init() == 0 &&
      getHandle(pciBusId.c_str(), &device) == 0)
    getClock = clock;
}

std::optional<unsigned> SmClock::megahertz() const {
  unsigned value = 0;
  if (!getClock || getClock(device, kNvmlClockSm, &value) != 0)
    return std::nullopt;
  return value;
}
