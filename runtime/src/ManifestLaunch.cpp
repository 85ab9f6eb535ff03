//===- ManifestLaunch.cpp - Reading what a launch needs -------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManifestLaunch.h"

#include <iterator>
#include <limits>

using namespace fa::rt;

namespace {
constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxThreadsPerBlock = 1024;
/// Rows of a tensor map's box, and blocks on a multiprocessor.
constexpr int64_t kMaxBoxRows = 256, kMaxBlocksPerSM = 32;
} // namespace

namespace {
/// A tensor of a map, whose rows have `cols` elements; 0: nobody knows.
struct MappedTensor {
  Argument argument;
  std::string extra;
  int64_t cols;
  fa_dtype dtype;
};
} // namespace

/// The number of columns that the sizes of a tensor's last dimension name.
static int64_t findCols(const Param &param) {
  for (const SizeRule &rule : param.sizes.back())
    if (rule.argument == Argument::Extra)
      return rule.constant;
  return 0;
}

/// The extra tensor of this name, of at least two dimensions.
static const Param *findMatrix(const std::string &name, const Kernel &kernel) {
  for (const Param &param : kernel.params)
    if (param.argument == Argument::Extra && param.name == name &&
        param.kind == ParamKind::Tensor && param.rank > 1)
      return &param;
  return nullptr;
}

/// One of attention's tensors by its name.
static MappedTensor readMapped(const JsonField &field, const Kernel &kernel) {
  const std::string name = field.name();
  if (const Param *param = findMatrix(name, kernel))
    return {Argument::Extra, name, findCols(*param), param->dtype};
  constexpr const char *names[] = {"q", "k", "v", "o"};
  constexpr Argument arguments[] = {Argument::Q, Argument::K, Argument::V,
                                    Argument::O};
  for (size_t i = 0; i != std::size(names); ++i)
    if (name == names[i]) {
      bool ofValues =
          arguments[i] == Argument::V || arguments[i] == Argument::O;
      return {arguments[i], "", ofValues ? kernel.headDimV : kernel.headDim,
              kernel.dtype};
    }
  field.refuse("must be q, k, v or o, or name an extra tensor of params of at "
               "least two dimensions");
}

/// One of a program's tensors, of at least two dimensions, the last of which
/// is known.
static MappedTensor readMappedOfProgram(const JsonField &field,
                                        const Kernel &program) {
  const std::string name = field.name();
  const Param *param = findMatrix(name, program);
  if (param && findCols(*param) != 0)
    return {Argument::Extra, name, findCols(*param), param->dtype};
  field.refuse("must name a tensor of params of at least two dimensions, of "
               "which the last is an integer");
}

static TensorMapParam readTensorMap(const JsonField &field,
                                    const Kernel &kernel) {
  const MappedTensor tensor = kernel.isProgram()
                                  ? readMappedOfProgram(field["tensor"], kernel)
                                  : readMapped(field["tensor"], kernel);
  const bool isExtra = tensor.argument == Argument::Extra;
  const int64_t mostCols = isExtra ? kMaxInt32 : kMaxHeadDim;
  TensorMapParam map = {tensor.argument, field["rows"].integer(1, kMaxBoxRows),
                        field["cols"].integer(1, mostCols),
                        field["swizzle"].integer(0, 128), tensor.extra};
  if (map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 &&
      map.swizzle != 128)
    field["swizzle"].refuse("must be 0, 32, 64 or 128");
  const int64_t dim = tensor.cols;
  const int64_t chunk = map.chunkBytes() / dtypeBytes(tensor.dtype);
  map.isWholeChunks = dim != 0 && map.cols % chunk == 0 && dim % chunk == 0;
  if (dim != 0 && (map.cols > dim || (!map.isWholeChunks && map.cols != dim)))
    field["cols"].refuse(std::string("must be the ") +
                         (isExtra ? "row's size" : "head dimension") +
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
  launch.hasCounter = field.has("counter") && field["counter"].boolean();
  if (launch.hasCounter && kernel.isProgram())
    field["counter"].refuse("must not be true of a program");
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
