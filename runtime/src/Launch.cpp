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

#include <algorithm>
#include <limits>

using namespace fa::rt;

void fa::rt::packMemRef(const CallerMemory &memory, int rank,
                        const int64_t *sizes, const int64_t *strides,
                        ParamList &list) {
  list.addAddress(memory.base, memory.number, memory.offset);
  list.addAddress(memory.base, memory.number, memory.offset);
  list.add(uint64_t(0));
  for (int dim = 0; dim < rank; ++dim)
    list.add(uint64_t(sizes[dim]));
  // Along a dimension of size 1 the caller's stride may be anything, but a
  // kernel may form (and predicate off) addresses past the end: 0 keeps those
  // aligned and inside.
  for (int dim = 0; dim < rank; ++dim)
    list.add(uint64_t(sizes[dim] == 1 ? 0 : strides[dim]));
}

/// Appends the last dimensions of the tensor that `param` is.
static void packTensor(const Param &param, const fa_forward_params &params,
                       ParamList &list) {
  const fa_tensor &tensor = tensorOf(param.argument, param.name, params);
  const int first = tensor.rank - param.rank;
  packMemRef({tensor.data, addressNumberOf(param.argument, param.name, params)},
             param.rank, tensor.sizes + first, tensor.strides + first, list);
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
    packTensor(param, params, list);
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

std::vector<ReadyLaunch> fa::rt::makeLaunches(const CurrentDevice &device,
                                              Library &library, size_t index,
                                              const Problem &problem,
                                              const fa_forward_params &params) {
  const Kernel &kernel = library.kernel(index);
  checkExtras(kernel, problem, params);
  checkBatch(kernel, problem);
  if (!kernel.plan.launches.empty())
    return makePlannedLaunches(device, library, index, problem, params);
  requireNoSplits(kernel, params);
  checkRowStride(params);
  requireWorkspace(kernel, counterBytes(kernel.hasCounter), params);
  const unsigned blocks = gridSize(kernel, params);
  const LoadedFunction &function = library.functionOn(device, index);
  ParamList list(kernel, function.places);
  packParams(kernel, problem, params, list);
  if (kernel.hasCounter)
    packCounter(/*offset=*/0, /*launch=*/0, params, list);
  std::vector<ReadyLaunch> launches;
  launches.push_back(makeReady(kernel, kernel, device, function, blocks,
                               /*isBehind=*/false, std::move(list), params));
  clearCounters(/*offset=*/0, kernel.hasCounter, params, launches);
  return launches;
}

void fa::rt::launch(Library &library, size_t index, const Problem &problem,
                    const fa_forward_params &params, CuStream stream) {
  if (problem.empty())
    return;
  std::vector<ReadyLaunch> launches =
      makeLaunches(currentDevice(), library, index, problem, params);
  for (ReadyLaunch &launch : launches)
    start(launch, library.kernel(index), stream);
}
