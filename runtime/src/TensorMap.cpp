//===- TensorMap.cpp - Maps by which kernels copy tiles -------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMap.h"

#include "Extras.h"
#include "Failure.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

using namespace fa::rt;

/// The driver takes addresses and strides in multiples of this.
static constexpr int64_t kMapUnitBytes = 16;
/// Of the tensors that maps are of: batch, head, row and column.
static constexpr int kMostDims = 4;

static const char *nameOf(const Kernel &kernel, const TensorMapParam &map) {
  if (map.tensor == Argument::Extra)
    return map.extra.c_str();
  for (const Param &param : kernel.params)
    if (param.argument == map.tensor)
      return param.name.c_str();
  return "";
}

/// The tensor with leading dimensions of size 1 up to the rank of q.
static fa_tensor widen(const fa_tensor &tensor) {
  fa_tensor wide = tensor;
  wide.rank = kMostDims;
  const int more = kMostDims - tensor.rank;
  for (int dim = 0; dim < kMostDims; ++dim) {
    wide.sizes[dim] = dim < more ? 1 : tensor.sizes[dim - more];
    wide.strides[dim] = dim < more ? 0 : tensor.strides[dim - more];
  }
  return wide;
}

/// A tensor that has elements, for the maps of those that have none.
static void *standIn(const Kernel &kernel, const fa_forward_params &params) {
  for (const Param &param : kernel.params)
    if (param.isOutput)
      return extraOf(param.name, params).tensor.data;
  return params.q.data;
}

static bool isEmpty(const fa_tensor &tensor) {
  return std::count(tensor.sizes, tensor.sizes + tensor.rank, 0) != 0;
}

static int dataType(fa_dtype dtype) {
  switch (dtype) {
  case FA_BF16:
    return kTensorMapBFloat16;
  case FA_F16:
    return kTensorMapFloat16;
  default:
    return kTensorMapFloat32;
  }
}

/// The driver's number for a swizzle of 0, 32, 64 or 128 bytes.
static int swizzleMode(int64_t bytes) {
  int mode = 0;
  for (int64_t pattern = 32; pattern <= bytes; pattern *= 2)
    ++mode;
  return mode;
}

static_assert(std::has_unique_object_representations_v<TensorMapKey>);

static bool isSame(const TensorMapKey &a, const TensorMapKey &b) {
  return std::memcmp(&a, &b, sizeof(TensorMapKey)) == 0;
}

namespace {
/// Maps that a thread made last, by what they were made from. A map holds
/// nothing but that, so that it serves whatever lies at the address by then.
class MapCache {
public:
  struct Entry {
    TensorMapKey key;
    CuDevice device = 0;
    unsigned generation = 0; ///< of the driver that made the map; 0: none did
    TensorMap map;

    bool isFilled() const { return generation != 0; }
  };

  /// The entry of `key`, of a device whose maps are its own: the one that is
  /// there, or one to be filled.
  Entry &find(const TensorMapKey &key, CuDevice device);

private:
  /// For the tensors of the layers that take turns in a step of decoding.
  static constexpr size_t kEntries = 128;

  std::vector<Entry> entries; ///< made by the first look-up
};
} // namespace

/// Mixes all words of a key.
static size_t hashOf(const TensorMapKey &key) {
  static_assert(sizeof(TensorMapKey) % sizeof(uint64_t) == 0);
  uint64_t words[sizeof(TensorMapKey) / sizeof(uint64_t)];
  std::memcpy(words, &key, sizeof(words));
  uint64_t hash = 0;
  for (uint64_t word : words)
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return size_t(hash >> 32);
}

MapCache::Entry &MapCache::find(const TensorMapKey &key, CuDevice device) {
  if (entries.empty())
    entries.resize(kEntries);
  Entry &entry = entries[hashOf(key) % kEntries];
  if (entry.generation != driverGeneration() || entry.device != device ||
      !isSame(entry.key, key)) {
    entry.generation = 0;
    entry.key = key;
    entry.device = device;
  }
  return entry;
}

/// A row is cut into chunks of as many bytes as the swizzle's pattern has:
/// tiles lie in shared memory as [chunk][row][column in the chunk]. Where rows
/// may not be of whole chunks, a box is one, which may reach beyond the row.
static TensorMapKey describe(const TensorMapParam &map,
                             const fa_tensor &tensor) {
  const int64_t bytes = dtypeBytes(tensor.dtype);
  const uint64_t chunk = map.chunkBytes() / bytes;
  const uint64_t cols = tensor.sizes[3];
  const bool isWholeChunks = map.isWholeChunks;
  TensorMapKey e{{isWholeChunks ? chunk : cols, uint64_t(tensor.sizes[2]),
                  isWholeChunks ? cols / chunk : 1, uint64_t(tensor.sizes[1]),
                  uint64_t(tensor.sizes[0])},
                 {uint64_t(tensor.strides[2] * bytes),
                  uint64_t(map.chunkBytes()),
                  uint64_t(tensor.strides[1] * bytes),
                  uint64_t(tensor.strides[0] * bytes)},
                 tensor.data,
                 {uint32_t(chunk), uint32_t(map.rows),
                  isWholeChunks ? uint32_t(map.cols / chunk) : 1, 1, 1},
                 {1, 1, 1, 1, 1},
                 dataType(tensor.dtype),
                 swizzleMode(map.swizzle)};
  const uint64_t sizes[] = {e.dims[1], e.dims[2], e.dims[3], e.dims[4]};
  // The caller's stride along a dimension of size 1 may be anything.
  for (unsigned dim = 0; dim + 1 < kMapRank; ++dim)
    if (sizes[dim] == 1)
      e.strides[dim] = kMapUnitBytes;
  return e;
}

/// Asks the driver for the map.
static TensorMap encode(const TensorMapKey &key, const Kernel &kernel,
                        const TensorMapParam &map) {
  const DriverApi &api = driver();
  if (!api.tensorMapEncodeTiled)
    throw Failure(FA_NO_DRIVER, "the CUDA driver is too old: it has no "
                                "cuTensorMapEncodeTiled");
  TensorMap encoded = {};
  CuResult result = api.tensorMapEncodeTiled(
      &encoded, key.type, kMapRank, key.address, key.dims, key.strides, key.box,
      key.steps, kTensorMapInterleaveNone, key.swizzle,
      kTensorMapPromotionL2_256, kTensorMapOutOfBoundsZero);
  if (result != kCudaSuccess)
    api.check(result, "encoding the tensor map of " +
                          std::string(nameOf(kernel, map)) + " for kernel " +
                          kernel.name);
  return encoded;
}

TensorMapKey fa::rt::describeTensorMap(const Kernel &kernel,
                                       const TensorMapParam &map,
                                       const fa_forward_params &params) {
  fa_tensor tensor = widen(tensorOf(map.tensor, map.extra, params));
  // Without elements nothing is copied, but the driver wants a map of
  // something: one row of an output, of which there always is one.
  if (isEmpty(tensor)) {
    tensor.data = standIn(kernel, params);
    std::fill(tensor.sizes, tensor.sizes + kMostDims - 1, 1);
    tensor.sizes[kMostDims - 1] =
        std::max<int64_t>(tensor.sizes[kMostDims - 1], 1);
  }
  return describe(map, tensor);
}

const TensorMap &fa::rt::encodeTensorMap(const TensorMapKey &key,
                                         const Kernel &kernel,
                                         const TensorMapParam &map,
                                         CuDevice device) {
  static thread_local MapCache cache;
  MapCache::Entry &entry = cache.find(key, device);
  if (!entry.isFilled()) {
    entry.map = encode(key, kernel, map);
    entry.generation = driverGeneration();
  }
  return entry.map;
}
