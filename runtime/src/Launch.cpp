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
#include "TensorMap.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace fa::rt;

/// Appends the expanded memref descriptor: allocated and aligned pointer,
/// offset, sizes, strides, of the last `rank` dimensions.
static void packTensor(const fa_tensor &tensor, int rank,
                       std::vector<uint64_t> &slots) {
  uint64_t address = reinterpret_cast<uintptr_t>(tensor.data);
  const int first = tensor.rank - rank;
  slots.insert(slots.end(), {address, address, 0});
  slots.insert(slots.end(), tensor.sizes + first, tensor.sizes + tensor.rank);
  // Along a dimension of size 1 the caller's stride may be anything, but a
  // kernel may form (and predicate off) addresses past the end: 0 keeps those
  // aligned and inside.
  for (int dim = first; dim < tensor.rank; ++dim)
    slots.push_back(tensor.sizes[dim] == 1 ? 0 : tensor.strides[dim]);
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

std::vector<uint64_t> fa::rt::packParams(const Kernel &kernel,
                                         const Problem &problem,
                                         const fa_forward_params &params) {
  std::vector<uint64_t> slots;
  slots.reserve(64);
  for (const Param &param : kernel.params) {
    switch (param.kind) {
    case ParamKind::Tensor:
      packTensor(param.argument == Argument::Extra
                     ? extraOf(param.name, params).tensor
                     : tensorOf(param.argument, params),
                 param.rank, slots);
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
  return slots;
}

unsigned fa::rt::gridSize(const Kernel &kernel,
                          const fa_forward_params &params) {
  const int64_t limit = std::numeric_limits<int32_t>::max();
  int64_t blocks = 1;
  for (const GridFactor &factor : kernel.grid) {
    int dim = factor.dim + (kernel.isPacked ? 1 : 0);
    int64_t size = tensorOf(factor.tensor, params).sizes[dim];
    // Without keys there still are outputs to write: at least one block.
    int64_t tiles = size / factor.tile + (size % factor.tile != 0);
    if (!factor.plusExtra.empty())
      tiles += extraOf(factor.plusExtra, params).tensor.sizes[factor.plusDim];
    if (__builtin_mul_overflow(blocks, std::max<int64_t>(tiles, 1), &blocks) ||
        blocks > limit)
      throw Failure(FA_INVALID_ARGUMENT,
                    "the problem needs more blocks of kernel " + kernel.name +
                        " than a launch can have (" + std::to_string(limit) +
                        ")");
  }
  return unsigned(blocks);
}

void fa::rt::launch(Library &library, size_t index, const Problem &problem,
                    const fa_forward_params &params, CuStream stream) {
  if (problem.empty())
    return;
  const Kernel &kernel = library.kernel(index);
  checkExtras(kernel, problem, params);
  checkBatch(kernel, problem);
  checkTensorMaps(kernel, params);
  unsigned blocks = gridSize(kernel, params);
  if (kernel.blocksPerSM)
    blocks = std::min(blocks,
                      unsigned(kernel.blocksPerSM) * currentMultiprocessors());
  std::vector<uint64_t> slots = packParams(kernel, problem, params);
  std::vector<void *> addresses;
  addresses.reserve(slots.size() + kernel.tensorMaps.size());
  for (uint64_t &slot : slots)
    addresses.push_back(&slot);
  std::vector<TensorMap> maps = encodeTensorMaps(kernel, params);
  for (TensorMap &map : maps)
    addresses.push_back(&map);
  CuFunction function = library.function(index);
  const DriverApi &api = driver();
  CuResult result = api.launchKernel(
      function, blocks, 1, 1, unsigned(kernel.block), 1, 1,
      unsigned(kernel.sharedBytes), stream, addresses.data(), nullptr);
  if (result != kCudaSuccess)
    api.check(result, "launching kernel " + kernel.name);
}
