//===- Launch.h - Launching a kernel ----------------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The binary interface between the runtime and the kernels that fa-gen writes:
// docs/kernel-library.md, "Parameters" and "Grid".
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_LAUNCH_H
#define FLASHLOOM_RUNTIME_LAUNCH_H

#include "CurrentDevice.h"
#include "Library.h"
#include "ParamList.h"
#include "Problem.h"
#include "ReadyLaunch.h"

namespace fa::rt {

/// Appends a kernel's parameters but for its tensor maps.
void packParams(const Kernel &kernel, const Problem &problem,
                const fa_forward_params &params, ParamList &list);

/// Memory `offset` bytes behind an address of the caller's.
struct CallerMemory {
  const void *base;
  AddressNumber number;
  uint64_t offset = 0;
};

/// Appends an expanded memref descriptor of `rank` dimensions: allocated and
/// aligned pointer, offset, sizes, strides.
void packMemRef(const CallerMemory &memory, int rank, const int64_t *sizes,
                const int64_t *strides, ParamList &list);

/// Appends what the kernel gets for `param`.
void packParam(const Param &param, const Problem &problem,
               const fa_forward_params &params, ParamList &list);

/// A factor of a grid: ceil(size / tile) + more.
struct GridExtent {
  int64_t size, tile, more = 0;
};

/// Blocks of the one-dimensional grid with these factors. Throws as gridSize
/// does.
unsigned countBlocks(const Kernel &kernel,
                     const std::vector<GridExtent> &extents);

/// Blocks of the one-dimensional grid. Throws Failure(FA_INVALID_ARGUMENT)
/// over 2^31-1, the most that the driver takes.
unsigned gridSize(const Kernel &kernel, const fa_forward_params &params);

/// Checks the extra arguments and launches the kernel at `index`, which the
/// other arguments fit, unless the problem is empty. Throws Failure.
void launch(Library &library, size_t index, const Problem &problem,
            const fa_forward_params &params, CuStream stream);

/// The launches of a problem that is not empty, on the device that is current:
/// all that launch does but start them.
std::vector<ReadyLaunch> makeLaunches(const CurrentDevice &device,
                                      Library &library, size_t index,
                                      const Problem &problem,
                                      const fa_forward_params &params);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_LAUNCH_H
