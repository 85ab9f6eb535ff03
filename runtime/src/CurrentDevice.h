//===- CurrentDevice.h - Where a launch goes --------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_CURRENTDEVICE_H
#define FLASHLOOM_RUNTIME_CURRENTDEVICE_H

#include "Architecture.h"
#include "DriverApi.h"

#include <optional>

namespace fa::rt {

/// The current context, its device, and what a launch needs to know of that.
struct CurrentDevice {
  CuContext context = nullptr;
  /// A number for the context: its id where the driver has ids, since the
  /// address of a destroyed context may be used again.
  unsigned long long contextId = 0;
  CuDevice device = 0;
  ComputeCapability capability;
  unsigned multiprocessors = 0;
};

/// What is current on this thread. What never changes, a context's device and
/// the device's own figures, is asked of the driver once. Throws
/// Failure(FA_NO_DRIVER) where no context is current.
CurrentDevice currentDevice();

/// The number of the current context, by one call of the driver; nothing where
/// there is none, or where the driver has no numbers.
std::optional<unsigned long long> currentContextId();

/// The capability of the current context's device. Throws Failure.
ComputeCapability currentCapability();

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_CURRENTDEVICE_H
