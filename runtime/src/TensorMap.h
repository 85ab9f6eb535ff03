//===- TensorMap.h - Maps by which kernels copy tiles -----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels for sm_90a and later copy whole tiles by the tensor memory
// accelerator, which reads where a tensor lies from a map of 128 bytes. The
// form of the maps is part of the binary interface: docs/kernel-library.md,
// "Tensor maps".
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_TENSORMAP_H
#define FLASHLOOM_RUNTIME_TENSORMAP_H

#include "Problem.h"

#include <cstdint>

namespace fa::rt {

/// A map as the driver encodes it.
struct alignas(128) TensorMap {
  uint64_t words[16];
};

/// Checks that the tensors that `launch` of an attention `kernel` maps have
/// strides and addresses in multiples of 16 bytes. Throws
/// Failure(FA_INVALID_ARGUMENT) that names the argument.
void checkTensorMaps(const Kernel &kernel, const GridLaunch &launch,
                     const fa_forward_params &params);

/// The maps of a launch in their order. Throws Failure(FA_DRIVER_ERROR) where
/// the driver refuses one, and Failure(FA_NO_DRIVER) where it has none.
std::vector<TensorMap> encodeTensorMaps(const Kernel &kernel,
                                        const GridLaunch &launch,
                                        const fa_forward_params &params);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_TENSORMAP_H
