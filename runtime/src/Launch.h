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

#include "Library.h"
#include "Problem.h"

namespace fa::rt {

/// A kernel's parameters in the order and form in which the driver takes them:
/// one slot each, at whose start the parameter's 4 or 8 bytes lie.
std::vector<uint64_t> packParams(const Kernel &kernel, const Problem &problem,
                                 const fa_forward_params &params);

/// Appends an expanded memref descriptor: allocated and aligned pointer,
/// offset, sizes, strides.
void packMemRef(const void *data, const std::vector<int64_t> &sizes,
                const std::vector<int64_t> &strides,
                std::vector<uint64_t> &slots);

/// Appends what the kernel gets for `param`.
void packParam(const Param &param, const Problem &problem,
               const fa_forward_params &params, std::vector<uint64_t> &slots);

/// A factor of a grid: ceil(size / tile) + more.
struct GridExtent {
  int64_t size, tile, more = 0;
};

/// Blocks of the one-dimensional grid with these factors. Throws as gridSize
/// does.
unsigned countBlocks(const Kernel &kernel,
                     const std::vector<GridExtent> &extents);

/// Starts one grid of `kernel` with the parameters in `slots`: of `blocks`
/// blocks, or as many as `launch` wants on the device. Throws Failure.
void launchGrid(const Kernel &kernel, const GridLaunch &launch,
                CuFunction function, unsigned blocks,
                std::vector<uint64_t> slots, const fa_forward_params &params,
                CuStream stream);

/// Blocks of the one-dimensional grid. Throws Failure(FA_INVALID_ARGUMENT)
/// over 2^31-1, the most that the driver takes.
unsigned gridSize(const Kernel &kernel, const fa_forward_params &params);

/// Checks the extra arguments and launches the kernel at `index`, which the
/// other arguments fit, unless the problem is empty. Throws Failure.
void launch(Library &library, size_t index, const Problem &problem,
            const fa_forward_params &params, CuStream stream);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_LAUNCH_H
