//===- ExtraTensor.cpp - A tensor that a variant reads --------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtraTensor.h"

#include <algorithm>

using namespace fa::bench;

static constexpr int64_t kElementBytes = 4;
/// A NaN in f32.
static constexpr uint8_t kPoison = 0xff;

ExtraTensor::ExtraTensor(const char *name, fa_dtype dtype,
                         std::vector<int64_t> tensorSizes,
                         std::vector<int64_t> storedSizes)
    : label(name), dtype(dtype), sizes(std::move(tensorSizes)),
      strides(sizes.size()) {
  int64_t stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = storedSizes[dim] == 1 && sizes[dim] != 1 ? 0 : stride;
    stride *= storedSizes[dim];
  }
  memory.assign(stride * kElementBytes, kPoison);
}

fa_extra ExtraTensor::argument(void *device) const {
  fa_extra extra = {};
  extra.name = label;
  extra.kind = FA_EXTRA_TENSOR;
  extra.tensor.data = device;
  extra.tensor.dtype = dtype;
  extra.tensor.rank = int32_t(sizes.size());
  std::copy(sizes.begin(), sizes.end(), extra.tensor.sizes);
  std::copy(strides.begin(), strides.end(), extra.tensor.strides);
  return extra;
}

DeviceExtras::DeviceExtras(const Device &device,
                           const std::vector<ExtraTensor> &tensors) {
  for (const ExtraTensor &tensor : tensors) {
    buffers.push_back(
        std::make_unique<DeviceBuffer>(device, tensor.bytes().size()));
    buffers.back()->upload(tensor.bytes().data(), tensor.bytes().size());
    arguments.push_back(tensor.argument(buffers.back()->data()));
  }
}
