//===- Launch.cpp - Launching a kernel ------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include "Extras.h"
#include "Failure.h"
#include "KernelChoice.h"
#include "Plan.h"
#include "TensorMap.h"

#include <algorithm>
#include <limits>

using namespace fa::rt;

void fa::rt::packMemRef(const void *data, int rank, const int64_t *sizes,
                        const int64_t *strides, ParamList &list) {
  uint64_t address = reinterpret_cast<uintptr_t>(data);
  list.add(address);
  list.add(address);
  list.add(uint64_t(0));
  for (int dim = 0; dim < rank; ++dim)
    list.add(uint64_t(sizes[dim]));
  // Along a dimension of size 1 the caller's stride may be anything, but a
  // kernel may form (and predicate off) addresses past the end: 0 keeps those
  // aligned and inside.
  for (int dim = 0; dim < rank; ++dim)
    list.add(uint64_t(sizes[dim] == 1 ? 0 : strides[dim]));
}

/// Appends the last `rank` dimensions of a tensor.
static void packTensor(const fa_tensor &tensor, int rank, ParamList &list) {
  const int first = tensor.rank - rank;
  packMemRef(tensor.data, rank, tensor.sizes + first, tensor.strides + first,
             list);
}

/// Appends an extra scalar.
static void packScalar(const Param &param, const fa_extra &extra,
                       ParamList &list) {
  if (param.dtype == FA_F32)
    list.add(extra.f32);
  else if (param.isWide)
    list.add(uint64_t(int64_t(extra.i32)));
  else
    list.add(uint32_t(extra.i32));
}

void fa::rt::packParam(const Param &param, const Problem &problem,
                       const fa_forward_params &params, ParamList &list) {
  switch (param.kind) {
  case ParamKind::Tensor:
    packTensor(tensorOf(param.argument, param.name, params), param.rank, list);
    break;
  case ParamKind::F32:
    list.add(params.scale);
    break;
  case ParamKind::Index:
    list.add(uint64_t(sizeOf(param.argument, problem)));
    break;
  case ParamKind::Scalar:
    packScalar(param, extraOf(param.name, params), list);
    break;
  }
}

void fa::rt::packParams(const Kernel &kernel, const Problem &problem,
                        const fa_forward_params &params, ParamList &list) {
  for (const Param &param : kernel.params)
    packParam(param, problem, params, list);
}

unsigned fa::rt::countBlocks(const Kernel &kernel,
                             const std::vector<GridExtent> &extents) {
  const int64_t limit = std::numeric_limits<int32_t>::max();
  int64_t blocks = 1;
  for (auto [size, tile, more] : extents) {
    // Without keys there still are outputs to write: at least one block.
    int64_t tiles = size / tile + (size % tile != 0) + more;
    if (__builtin_mul_overflow(blocks, std::max<int64_t>(tiles, 1), &blocks) ||
        blocks > limit)
      throw Failure(FA_INVALID_ARGUMENT,
                    "the problem needs more blocks of kernel " + kernel.name +
                        " than a launch can have (" + std::to_string(limit) +
                        ")");
  }
  return unsigned(blocks);
}

unsigned fa::rt::gridSize(const Kernel &kernel,
                          const fa_forward_params &params) {
  std::vector<GridExtent> extents;
  for (const GridFactor &factor : kernel.grid) {
    int dim = factor.dim + (kernel.isPacked ? 1 : 0);
    int64_t more = 0;
    if (!factor.plusExtra.empty())
      more = extraOf(factor.plusExtra, params).tensor.sizes[factor.plusDim];
    extents.push_back({tensorOf(factor.tensor, factor.extra, params).sizes[dim],
                       factor.tile, more});
  }
  return countBlocks(kernel, extents);
}

/// A launch that may begin before the one before it in its stream has ended.
static CuResult launchFollowing(const DriverApi &api, CuFunction function,
                                unsigned blocks, const GridLaunch &launch,
                                CuStream stream, void **params) {
  CuLaunchAttribute attribute = {};
  attribute.id = kLaunchProgrammaticSerialization;
  attribute.value = 1;
  CuLaunchConfig config = {};
  config.grid[0] = blocks;
  config.block[0] = unsigned(launch.block);
  config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
  config.sharedBytes = unsigned(launch.sharedBytes);
  config.stream = stream;
  config.attributes = &attribute;
  config.numAttributes = 1;
  return api.launchKernelEx(&config, function, params, nullptr);
}

void fa::rt::launchGrid(const Kernel &kernel, const GridLaunch &launch,
                        const CurrentDevice &device, CuFunction function,
                        unsigned blocks, bool isBehind, ParamList &list,
                        const fa_forward_params &params, CuStream stream) {
  if (launch.blocksPerSM)
    blocks =
        std::min(blocks, unsigned(launch.blocksPerSM) * device.multiprocessors);
  for (const TensorMapParam &map : launch.tensorMaps)
    list.add(encodeTensorMap(kernel, map, params, device.device));
  const DriverApi &api = driver();
  CuResult result =
      launch.follows && isBehind && api.launchKernelEx
          ? launchFollowing(api, function, blocks, launch, stream,
                            list.addresses())
          : api.launchKernel(function, blocks, 1, 1, unsigned(launch.block), 1,
                             1, unsigned(launch.sharedBytes), stream,
                             list.addresses(), nullptr);
  if (result != kCudaSuccess)
    api.check(result, "launching kernel " + kernel.name);
}

void fa::rt::launch(Library &library, size_t index, const Problem &problem,
                    const fa_forward_params &params, CuStream stream) {
  if (!problem.empty())
    launchOn(currentDevice(), library, index, problem, params, stream);
}

void fa::rt::launchOn(const CurrentDevice &device, Library &library,
                      size_t index, const Problem &problem,
                      const fa_forward_params &params, CuStream stream) {
  const Kernel &kernel = library.kernel(index);
  checkExtras(kernel, problem, params);
  checkBatch(kernel, problem);
  if (!kernel.plan.launches.empty())
    return launchPlan(device, library, index, problem, params, stream);
  requireNoSplits(kernel, params);
  checkRowStride(params);
  ParamList list;
  packParams(kernel, problem, params, list);
  launchGrid(kernel, kernel, device, library.functionOn(device, index),
             gridSize(kernel, params), /*isBehind=*/false, list, params,
             stream);
}
