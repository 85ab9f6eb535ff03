//===- Cell.cpp - What a timed launch works on ---------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cell.h"

#include "Float16.h"
#include "Parallel.h"
#include "Random.h"
#include "Verbs.h"

#include <algorithm>

using namespace fa;
using namespace fa::bench;

/// Above this many elements draws are repeated: speed does not depend on it.
static constexpr int64_t kMostDraws = int64_t(1) << 25;

/// `all` normal draws of an element type on the device.
static void uploadNormal(const DeviceBuffer &buffer, fa_dtype dtype,
                         int64_t all, uint64_t stream) {
  int64_t count = std::min(all, kMostDraws);
  std::vector<uint8_t> bytes(count * rt::dtypeBytes(dtype));
  parallelRanges(count, 1 << 16, [&](int64_t lo, int64_t hi) {
    std::vector<float> values(hi - lo);
    for (int64_t i = lo; i < hi; ++i)
      values[i - lo] = normal(stream, i);
    narrow(dtype, values.data(), bytes.data() + lo * rt::dtypeBytes(dtype),
           hi - lo);
  });
  for (int64_t first = 0; first < all; first += count)
    buffer.upload(bytes.data(),
                  std::min(count, all - first) * rt::dtypeBytes(dtype),
                  first * rt::dtypeBytes(dtype));
}

Buffers::Buffers(const Device &device, fa_dtype dtype, int64_t elements,
                 uint64_t seed)
    : dtype(dtype), q(device, elements * rt::dtypeBytes(dtype)),
      k(device, elements * rt::dtypeBytes(dtype)),
      v(device, elements * rt::dtypeBytes(dtype)),
      o(device, elements * rt::dtypeBytes(dtype)),
      lse(device, elements * sizeof(float)) {
  uploadNormal(q, dtype, elements, 4 * seed);
  uploadNormal(k, dtype, elements, 4 * seed + 1);
  uploadNormal(v, dtype, elements, 4 * seed + 2);
}

static fa_tensor viewOf(const DeviceBuffer &buffer, fa_dtype dtype,
                        int64_t batch, int64_t heads, int64_t seq, int64_t dim,
                        Layout layout) {
  fa_tensor tensor = {buffer.data(),
                      dtype,
                      4,
                      {batch, heads, seq, dim},
                      {heads * seq * dim, seq * dim, dim, 1}};
  if (layout == Layout::Bshd) {
    tensor.strides[1] = dim;
    tensor.strides[2] = heads * dim;
  }
  return tensor;
}

fa_forward_params fa::bench::cellParams(const rt::Kernel &kernel,
                                        const Sizes &sizes,
                                        const Buffers &buffers, Layout layout) {
  fa_forward_params params = {};
  params.struct_size = sizeof(params);
  auto ofQueries = [&](const DeviceBuffer &buffer, int64_t dim) {
    return viewOf(buffer, kernel.dtype, sizes.batch, sizes.heads, sizes.seqQ,
                  dim, layout);
  };
  auto ofKeys = [&](const DeviceBuffer &buffer, int64_t dim) {
    return viewOf(buffer, kernel.dtype, sizes.batch, sizes.kvHeads, sizes.seqKv,
                  dim, layout);
  };
  params.q = ofQueries(buffers.q, sizes.dim);
  params.k = ofKeys(buffers.k, sizes.dim);
  params.v = ofKeys(buffers.v, sizes.dimV);
  params.o = ofQueries(buffers.o, sizes.dimV);
  params.lse = {buffers.lse.data(),
                FA_F32,
                3,
                {sizes.batch, sizes.heads, sizes.seqQ, 0},
                {sizes.heads * sizes.seqQ, sizes.seqQ, 1, 0}};
  params.scale = defaultScale(kernel);
  params.variant = kernel.variant.c_str();
  return params;
}

std::string fa::bench::cellColumns(const rt::Kernel &kernel,
                                   const Sizes &sizes) {
  std::string text = std::string(rt::dtypeName(kernel.dtype)) + "," +
                     std::to_string(kernel.headDim) + "," +
                     std::to_string(kernel.headDimV) + "," + kernel.variant;
  for (int64_t size :
       {sizes.batch, sizes.heads, sizes.kvHeads, sizes.seqQ, sizes.seqKv})
    text += "," + std::to_string(size);
  return text;
}
