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

#include "DriverApi.h"
#include "Problem.h"

#include <cstdint>

namespace fa::rt {

/// A map as the driver encodes it.
struct alignas(128) TensorMap {
  uint64_t words[16];
};

/// (column in a chunk, row, chunk, head, batch); where rows are not of whole
/// chunks (column, row, 1, head, batch)
inline constexpr unsigned kMapRank = 5;

/// What a map is made from, as the driver's encoder takes it; a key, which has
/// no bytes between its fields.
struct TensorMapKey {
  uint64_t dims[kMapRank], strides[kMapRank - 1];
  void *address;
  uint32_t box[kMapRank], steps[kMapRank];
  int32_t type, swizzle;
};

/// What a kernel's map is made from. Addresses and strides were checked to be
/// multiples of 16 bytes.
TensorMapKey describeTensorMap(const Kernel &kernel, const TensorMapParam &map,
                               const fa_forward_params &params);

/// The map of a launch on `device`, the current one: a new one, or one that
/// this thread made from the same. It stays until the next call on this thread.
/// Throws Failure(FA_DRIVER_ERROR) where the driver refuses one, and
/// Failure(FA_NO_DRIVER) where it has none.
const TensorMap &encodeTensorMap(const TensorMapKey &key, const Kernel &kernel,
                                 const TensorMapParam &map, CuDevice device);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_TENSORMAP_H
