//===- KernelChoice.h - Which kernel runs a problem -------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_KERNELCHOICE_H
#define FLASHLOOM_RUNTIME_KERNELCHOICE_H

#include "Library.h"
#include "Problem.h"

namespace fa::rt {

/// The index of the preferred kernel among those that match the problem and run
/// on the device. Throws Failure(FA_NO_KERNEL), which says whether the problem
/// or the device is what the library lacks.
size_t pickKernel(const Library &library, const Problem &problem,
                  ComputeCapability device);

/// Throws Failure(FA_INVALID_ARGUMENT) where a kernel is not for the problem.
void requireMatch(const Kernel &kernel, const Problem &problem);

/// Packed sequences come as a batch of one. Throws Failure(FA_INVALID_ARGUMENT)
/// where a kernel of such is given another batch.
void checkBatch(const Kernel &kernel, const Problem &problem);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_KERNELCHOICE_H
