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
#include <cstring>
#include <limits>

using namespace fa::rt;

void fa::rt::packMemRef(const void *data, const std::vector<int64_t> &sizes,
                        const std::vector<int64_t> &strides,
                        std::vector<uint64_t> &slots) {
  uint64_t address = reinterpret_cast<uintptr_t>(data);
  slots.insert(slots.end(), {address, address, 0});
  slots.insert(slots.end(), sizes.begin(), sizes.end());
  // Along a dimension of size 1 the caller's stride may be anything, but a
  // kernel may form (and predicate off) addresses past the end: 0 keeps those
  // aligned and inside.
  for (size_t dim = 0; dim != sizes.size(); ++dim)
    slots.push_back(sizes[dim] == 1 ? 0 : strides[dim]);
}

/// Appends the last `rank` dimensions of a tensor.
static void packTensor(const fa_tensor &tensor, int rank,
                       std::vector<uint64_t> &slots) {
  const int first = tensor.rank - rank;
  packMemRef(tensor.data, {tensor.sizes + first, tensor.sizes + tensor.rank},
             {tensor.strides + first, tensor.strides + tensor.rank}, slots);
}

static uint64_t floatSlot(float value) {
  uint64_t slot = 0;
  std::memcpy(&slot, &value, sizeof(value));
  return slot;
}

/// The slot of an extra scalar.
static uint64_t scalarSlot(const Param &param, const fa_extra &extra) {
  if (param.dtype == FA_F32)
    return floatSlot(extra.f32);
  return param.isWide ? uint64_t(int64_t(extra.i32)) : uint32_t(extra.i32);
}

void fa::rt::packParam(const Param &param, const Problem &problem,
                       const fa_forward_params &params,
                       std::vector<uint64_t> &slots) {
  switch (param.kind) {
  case ParamKind::Tensor:
    packTensor(tensorOf(param.argument, param.name, params), param.rank, slots);
    break;
  case ParamKind::F32:
    slots.push_back(floatSlot(params.scale));
    break;
  case ParamKind::Index:
    slots.push_back(sizeOf(param.argument, problem));
    break;
  case ParamKind::Scalar:
    slots.push_back(scalarSlot(param, extraOf(param.name, params)));
    break;
  }
}

std::vector<uint64_t> fa::rt::packParams(const Kernel &kernel,
                                         const Problem &problem,
                                         const fa_forward_params &params) {
  std::vector<uint64_t> slots;
  slots.reserve(64);
  for (const Param &param : kernel.params)
    packParam(param, problem, params, slots);
  return slots;
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

void fa::rt::launchGrid(const Kernel &kernel, const GridLaunch &launch,
                        CuFunction function, unsigned blocks,
                        std::vector<uint64_t> slots,
                        const fa_forward_params &params, CuStream stream) {
  if (launch.blocksPerSM)
    blocks = std::min(blocks,
                      unsigned(launch.blocksPerSM) * currentMultiprocessors());
  std::vector<TensorMap> maps = encodeTensorMaps(kernel, launch, params);
  std::vector<void *> addresses;
  addresses.reserve(slots.size() + maps.size());
  for (uint64_t &slot : slots)
    addresses.push_back(&slot);
  for (TensorMap &map : maps)
    addresses.push_back(&map);
  const DriverApi &api = driver();
  CuResult result = api.launchKernel(
      function, blocks, 1, 1, unsigned(launch.block), 1, 1,
      unsigned(launch.sharedBytes), stream, addresses.data(), nullptr);
  if (result != kCudaSuccess)
    api.check(result, "launching kernel " + kernel.name);
}

void fa::rt::launch(Library &library, size_t index, const Problem &problem,
                    const fa_forward_params &params, CuStream stream) {
  if (problem.empty())
    return;
  const Kernel &kernel = library.kernel(index);
  checkExtras(kernel, problem, params);
  checkBatch(kernel, problem);
  if (!kernel.plan.launches.empty())
    return launchPlan(library, index, problem, params, stream);
  requireNoSplits(kernel, params);
  checkRowStride(params);
  checkTensorMaps(kernel, kernel, params);
  launchGrid(kernel, kernel, library.function(index), gridSize(kernel, params),
             packParams(kernel, problem, params), params, stream);
}
