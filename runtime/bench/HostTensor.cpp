//===- HostTensor.cpp - Tensors on the host, with guard rows --------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTensor.h"

#include "Float16.h"
#include "Parallel.h"

#include <algorithm>
#include <mutex>

using namespace fa::bench;

static constexpr uint8_t kPoison = 0xff;

HostTensor::HostTensor(fa_dtype dtype, int64_t batch, int64_t heads,
                       int64_t seq, int64_t dim, Layout layout, int64_t guard)
    : type(dtype), batches(batch), headCount(heads), rows(seq), columns(dim),
      guards(guard), elementBytes(dtype == FA_F32 ? 4 : 2) {
  bool headsInside = layout == Layout::Bshd;
  strideS = headsInside ? heads * dim : dim;
  strideH = headsInside ? dim : (seq + guard) * dim;
  strideB = heads * (seq + guard) * dim;
  memory.assign(batch * strideB * elementBytes, kPoison);
}

const uint8_t *HostTensor::row(int64_t b, int64_t h, int64_t s) const {
  return memory.data() + offset(b, h, s) * elementBytes;
}

uint8_t *HostTensor::row(int64_t b, int64_t h, int64_t s) {
  return memory.data() + offset(b, h, s) * elementBytes;
}

void HostTensor::readRow(int64_t b, int64_t h, int64_t s, float *to) const {
  widen(type, row(b, h, s), to, columns);
}

void HostTensor::fill(const Distribution &distribution, uint64_t stream) {
  parallelRanges(batches * headCount * rows, 256, [&](int64_t lo, int64_t hi) {
    std::vector<float> values(columns);
    for (int64_t r = lo; r < hi; ++r) {
      for (int64_t d = 0; d < columns; ++d)
        values[d] = distribution.draw(stream, r * columns + d);
      int64_t s = r % rows, h = r / rows % headCount, b = r / rows / headCount;
      narrow(type, values.data(), row(b, h, s), columns);
    }
  });
}

void HostTensor::overwrite(int64_t b, int64_t first, int64_t end, float even,
                           float odd) {
  for (int64_t h = 0; h < headCount; ++h)
    for (int64_t s = first; s < end; ++s) {
      std::vector<float> values(columns, s % 2 ? odd : even);
      narrow(type, values.data(), row(b, h, s), columns);
    }
}

bool HostTensor::hasSameRows(const HostTensor &other, int64_t b, int64_t first,
                             int64_t end) const {
  for (int64_t h = 0; h < headCount; ++h)
    for (int64_t s = first; s < end; ++s)
      if (!std::equal(row(b, h, s), row(b, h, s) + rowBytes(),
                      other.row(b, h, s)))
        return false;
  return true;
}

std::string HostTensor::touchedGuard() const {
  std::string first;
  std::mutex mutex;
  parallelFor(batches * headCount, [&](int64_t head) {
    int64_t h = head % headCount, b = head / headCount;
    for (int64_t s = rows; s < rows + guards; ++s) {
      const uint8_t *bytes = row(b, h, s);
      if (std::all_of(bytes, bytes + rowBytes(),
                      [](uint8_t byte) { return byte == kPoison; }))
        continue;
      std::lock_guard<std::mutex> lock(mutex);
      if (first.empty())
        first = "batch " + std::to_string(b) + ", head " + std::to_string(h) +
                ", row " + std::to_string(s) + " of " + std::to_string(rows);
    }
  });
  return first;
}

fa_tensor HostTensor::view(void *device, int32_t rank) const {
  fa_tensor tensor = {};
  tensor.data = device;
  tensor.dtype = type;
  tensor.rank = rank;
  const int64_t sizes[4] = {batches, headCount, rows, columns};
  const int64_t strides[4] = {strideB, strideH, strideS, 1};
  std::copy(sizes, sizes + rank, tensor.sizes);
  std::copy(strides, strides + rank, tensor.strides);
  return tensor;
}
