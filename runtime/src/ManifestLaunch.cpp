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

namespace {
/// A tensor of a map, whose rows have `cols` elements.
struct MappedTensor {
  Argument argument;
  std::string extra;
  int64_t cols;
  fa_dtype dtype;
};
} // namespace

/// One of attention's tensors by its name.
static MappedTensor readMapped(const JsonField &field, const Kernel &kernel) {
  Argument argument =
      Argument(size_t(Argument::Q) + field.choice({"q", "k", "v", "o"}));
  bool ofValues = argument == Argument::V || argument == Argument::O;
  return {argument, "", ofValues ? kernel.headDimV : kernel.headDim,
          kernel.dtype};
}

/// One of a program's tensors, of at least two dimensions, the last of which
/// is known.
static MappedTensor readMappedOfProgram(const JsonField &field,
                                        const Kernel &program) {
  std::string name = field.name();
  for (const Param &param : program.params)
    if (param.name == name && param.kind == ParamKind::Tensor &&
        param.rank > 1 && param.sizes.back().size() == 1 &&
        param.sizes.back()[0].argument == Argument::Extra)
      return {Argument::Extra, name, param.sizes.back()[0].constant,
              param.dtype};
  field.refuse("must name a tensor of params of at least two dimensions, of "
               "which the last is an integer");
}

static TensorMapParam readTensorMap(const JsonField &field,
                                    const Kernel &kernel) {
  const MappedTensor tensor = kernel.isProgram()
                                  ? readMappedOfProgram(field["tensor"], kernel)
                                  : readMapped(field["tensor"], kernel);
  const int64_t mostCols = kernel.isProgram() ? kMaxInt32 : kMaxHeadDim;
  TensorMapParam map = {tensor.argument, field["rows"].integer(1, kMaxBoxRows),
                        field["cols"].integer(1, mostCols),
                        field["swizzle"].integer(0, 128), tensor.extra};
  if (map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 &&
      map.swizzle != 128)
    field["swizzle"].refuse("must be 0, 32, 64 or 128");
  const int64_t dim = tensor.cols;
  const int64_t chunk = map.chunkBytes() / dtypeBytes(tensor.dtype);
  const bool isWholeChunks = map.cols % chunk == 0 && dim % chunk == 0;
  if (map.cols > dim || (!isWholeChunks && map.cols != dim))
    field["cols"].refuse(
        std::string("must be the ") +
        (kernel.isProgram() ? "row's size" : "head dimension") +
        ", or less and both multiples of the swizzle's " +
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
  launch.follows = field.has("follows") && field["follows"].boolean();
  launch.prepares = field.has("prepares") && field["prepares"].boolean();
  launch.block = int32_t(field["block"].integer(1, kMaxThreadsPerBlock));
  launch.sharedBytes = int32_t(field["shared_bytes"].integer(0, kMaxInt32));
  // PTX has no report of ptxas yet.
  if (kernel.format == Format::Ptx)
    return;
  launch.registers = int32_t(field["registers"].integer(0, 255));
  launch.spillBytes = int32_t(field["spill_bytes"].integer(0, kMaxInt32));
}
