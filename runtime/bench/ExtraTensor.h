//===- ExtraTensor.h - A tensor that a variant reads ------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_EXTRATENSOR_H
#define FLASHLOOM_BENCH_EXTRATENSOR_H

#include "Device.h"

#include "flashloom/fa_runtime.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace fa::bench {

/// A tensor of f32 or i32 on the host. Elements that no position reaches are
/// NaN.
class ExtraTensor {
public:
  /// The strides are those of a dense array of `storedSizes`, which are at
  /// least `sizes`; a stored size of 1 repeats what is there.
  ExtraTensor(const char *name, fa_dtype dtype, std::vector<int64_t> sizes,
              std::vector<int64_t> storedSizes);

  const char *name() const { return label; }
  const std::vector<uint8_t> &bytes() const { return memory; }

  /// The element at positions, as many as there are dimensions.
  template <typename T, typename... Index> T at(Index... index) const {
    int64_t place = 0, dim = 0;
    ((place += strides[dim++] * int64_t(index)), ...);
    T value;
    std::memcpy(&value, memory.data() + place * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T> void set(int64_t place, T value) {
    std::memcpy(memory.data() + place * sizeof(T), &value, sizeof(T));
  }
  /// Elements from one index of a dimension to the next.
  int64_t stride(int dim) const { return strides[dim]; }

  /// The argument that a launch takes, over a copy of the memory at `device`.
  fa_extra argument(void *device) const;

private:
  const char *label;
  fa_dtype dtype;
  std::vector<int64_t> sizes, strides;
  std::vector<uint8_t> memory;
};

/// Copies of tensors on the device, as a launch takes them.
class DeviceExtras {
public:
  DeviceExtras(const Device &device, const std::vector<ExtraTensor> &tensors);

  void addTo(fa_forward_params &params) const {
    params.extras = arguments.data();
    params.num_extras = arguments.size();
  }

private:
  std::vector<std::unique_ptr<DeviceBuffer>> buffers;
  std::vector<fa_extra> arguments;
};

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_EXTRATENSOR_H
