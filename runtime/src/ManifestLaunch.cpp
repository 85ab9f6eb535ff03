//===- ManifestLaunch.cpp - Reading what a launch needs -------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManifestLaunch.h"

#include <limits>

using namespace fa::rt;

namespace {
constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxThreadsPerBlock = 1024;
/// Rows of a tensor map's box, and blocks on a multiprocessor.
constexpr int64_t kMaxBoxRows = 256, kMaxBlocksPerSM = 32;
} // namespace

static TensorMapParam readTensorMap(const JsonField &field,
                                    const Kernel &kernel) {
  JsonField tensor = field["tensor"];
  const size_t choice = tensor.choice({"q", "k", "v", "o"});
  TensorMapParam map = {Argument(size_t(Argument::Q) + choice),
                        field["rows"].integer(1, kMaxBoxRows),
                        field["cols"].integer(1, kMaxHeadDim),
                        field["swizzle"].integer(0, 128)};
  if (map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 &&
      map.swizzle != 128)
    field["swizzle"].refuse("must be 0, 32, 64 or 128");
  const bool ofValues = map.tensor == Argument::V || map.tensor == Argument::O;
  const int64_t dim = ofValues ? kernel.headDimV : kernel.headDim;
  const int64_t chunk = map.chunkBytes() / dtypeBytes(kernel.dtype);
  const bool isWholeChunks = map.cols % chunk == 0 && dim % chunk == 0;
  if (map.cols > dim || (!isWholeChunks && map.cols != dim))
    field["cols"].refuse("must be the head dimension, or less and both "
                         "multiples of the swizzle's " +
                         std::to_string(chunk) + " elements");
  return map;
}

static std::vector<TensorMapParam> readTensorMaps(const JsonField &field,
                                                  const Kernel &kernel) {
  std::vector<TensorMapParam> maps;
  for (size_t i = 0, e = field.arraySize(); i != e; ++i)
    maps.push_back(readTensorMap(field.at(i), kernel));
  return maps;
}

void fa::rt::readGridLaunch(const JsonField &field, const Kernel &kernel,
                            GridLaunch &launch) {
  launch.entry = field["entry"].name();
  if (field.has("tensor_maps"))
    launch.tensorMaps = readTensorMaps(field["tensor_maps"], kernel);
  if (field.has("blocks_per_sm"))
    launch.blocksPerSM =
        int32_t(field["blocks_per_sm"].integer(1, kMaxBlocksPerSM));
  launch.block = int32_t(field["block"].integer(1, kMaxThreadsPerBlock));
  launch.sharedBytes = int32_t(field["shared_bytes"].integer(0, kMaxInt32));
  // PTX has no report of ptxas yet.
  if (kernel.format == Format::Ptx)
    return;
  launch.registers = int32_t(field["registers"].integer(0, 255));
  launch.spillBytes = int32_t(field["spill_bytes"].integer(0, kMaxInt32));
}
