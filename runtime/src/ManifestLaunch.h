//===- ManifestLaunch.h - Reading what a launch needs -----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_MANIFESTLAUNCH_H
#define FLASHLOOM_RUNTIME_MANIFESTLAUNCH_H

#include "JsonField.h"
#include "Kernel.h"

namespace fa::rt {

/// The largest head dimension.
constexpr int64_t kMaxHeadDim = 1024;

/// Reads into `launch` what `field`, a launch of `kernel` or the kernel that is
/// one, says of it. The kernel's format, dtype and head dimensions are read
/// already. Throws Failure(FA_INVALID_LIBRARY).
void readGridLaunch(const JsonField &field, const Kernel &kernel,
                    GridLaunch &launch);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_MANIFESTLAUNCH_H
