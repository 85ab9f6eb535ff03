//===- Soak.cpp - fa-bench soak -------------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Thousands of launches on random shapes: one that hangs, or whose result is
// not that of the launch before bit by bit, is a race.
//
//===----------------------------------------------------------------------===//

#include "Cell.h"
#include "Failure.h"
#include "Launch.h"
#include "Random.h"
#include "Variants.h"
#include "Verbs.h"
#include "Workspace.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

using namespace fa;
using namespace fa::bench;

/// Launches of one shape, queued behind one another into outputs of their own.
static constexpr int kRepeats = 4;

/// Shapes: rows and keys of most problems, those of one in eight, which then is
/// one head alone, and sizes that fill whole blocks of any kernel.
static constexpr uint64_t kUsualRows = 600, kLongRows = 3000;
static constexpr uint64_t kEven = 384;
static constexpr int64_t kMostHeads = 9, kMostBatch = 3;

namespace {

/// The outputs of one launch, with room for every shape.
struct Outputs {
  Outputs(const Device &device, int64_t elements, int64_t rows, int64_t bytes)
      : o(device, elements * bytes),
        lse(device, rows * int64_t(sizeof(float))) {}
  DeviceBuffer o, lse;
};

/// What a kernel's results of one element type need.
struct Memory {
  Memory(const Device &device, fa_dtype dtype, int64_t rows, int64_t dim,
         uint64_t seed);

  fa_dtype dtype;
  int64_t dim;
  Buffers inputs;
  std::vector<std::unique_ptr<Outputs>> outputs;
};

/// Bits that depend on a seed and how many were drawn.
class Dice {
public:
  explicit Dice(uint64_t seed) : seed(seed) {}
  /// From `low` to `high`.
  int64_t draw(int64_t low, int64_t high) {
    return low + int64_t(mix(seed * 0x9e3779b97f4a7c15 + ++drawn) %
                         uint64_t(high - low + 1));
  }

private:
  uint64_t seed, drawn = 0;
};

class Soak {
public:
  Soak(const Options &options, rt::Library &library, const Device &device)
      : options(options), library(library), device(device) {}

  int run();

private:
  bool soak(size_t index);
  bool runShape(size_t index, Dice &dice);
  void launchAll(size_t index, const Sizes &sizes, fa_forward_params params);
  std::string compareAll(const Sizes &sizes) const;
  void reserve(const rt::Kernel &kernel);

  const Options &options;
  rt::Library &library;
  const Device &device;
  std::unique_ptr<Memory> memory;
};

} // namespace

/// The most rows of q, or of k, that all heads of a shape have.
static int64_t mostRows() {
  return std::max(kMostBatch * kMostHeads *
                      int64_t(std::max(kUsualRows, kEven)),
                  int64_t(kLongRows));
}

Memory::Memory(const Device &device, fa_dtype dtype, int64_t rows, int64_t dim,
               uint64_t seed)
    : dtype(dtype), dim(dim), inputs(device, dtype, rows * dim, seed) {
  for (int repeat = 0; repeat < kRepeats; ++repeat)
    outputs.push_back(std::make_unique<Outputs>(device, rows * dim, rows,
                                                rt::dtypeBytes(dtype)));
}

/// A number of rows or keys: any, most of which fill no block, or whole blocks.
static int64_t drawLength(Dice &dice, int64_t least) {
  if (dice.draw(0, 7) == 0)
    return kEven;
  return dice.draw(least, kUsualRows);
}

/// A shape: a few heads in groups, and in one case of eight one long head.
static Sizes drawSizes(const rt::Kernel &kernel, Dice &dice) {
  Sizes sizes;
  sizes.dim = kernel.headDim;
  sizes.dimV = kernel.headDimV;
  if (dice.draw(0, 7) == 0) {
    sizes.seqQ = dice.draw(1, kLongRows);
    sizes.seqKv = dice.draw(1, kLongRows);
    return sizes;
  }
  sizes.batch = dice.draw(1, kMostBatch);
  sizes.kvHeads = dice.draw(1, 3);
  sizes.heads = sizes.kvHeads * (kernel.gqa ? dice.draw(1, 3) : 1);
  sizes.seqQ = drawLength(dice, 1);
  sizes.seqKv = drawLength(dice, 0);
  return sizes;
}

/// Has inputs and outputs of the kernel's element type that are wide enough.
void Soak::reserve(const rt::Kernel &kernel) {
  int64_t dim = std::max(kernel.headDim, kernel.headDimV);
  if (memory && memory->dtype == kernel.dtype && memory->dim >= dim)
    return;
  memory.reset();
  memory = std::make_unique<Memory>(device, kernel.dtype, mostRows(), dim,
                                    options.seed);
}

/// Queues all launches of a shape, each over other bits in its outputs, so that
/// what is not written changes, and waits for them.
void Soak::launchAll(size_t index, const Sizes &sizes,
                     fa_forward_params params) {
  const rt::Kernel &kernel = library.kernel(index);
  Workspace workspace(device, library, index, rt::checkProblem(&params),
                      params);
  for (size_t i = 0; i < memory->outputs.size(); ++i) {
    memory->outputs[i]->o.fillBytes(uint8_t(i + 1));
    memory->outputs[i]->lse.fillBytes(uint8_t(i + 1));
  }
  for (const auto &outputs : memory->outputs) {
    params.o.data = outputs->o.data();
    params.lse.data = outputs->lse.data();
    rt::launch(library, index, rt::checkProblem(&params), params,
               device.stream());
  }
  device.wait(options.timeoutS, kernel.name + " on " + describeSizes(sizes));
}

/// Where the results of two launches differ; "" where they are the same.
std::string Soak::compareAll(const Sizes &sizes) const {
  auto compare = [&](auto member, const char *name, int64_t bytes) {
    std::vector<uint8_t> first(bytes), other(bytes);
    ((*memory->outputs.front()).*member).download(first.data(), bytes);
    for (size_t i = 1; i < memory->outputs.size(); ++i) {
      ((*memory->outputs[i]).*member).download(other.data(), bytes);
      auto place = std::mismatch(first.begin(), first.end(), other.begin());
      if (place.first != first.end())
        return std::string(name) + " of launch " + std::to_string(i + 1) +
               " differs from that of launch 1 at byte " +
               std::to_string(place.first - first.begin()) + " of " +
               std::to_string(bytes);
    }
    return std::string();
  };
  std::string fault =
      compare(&Outputs::o, "o",
              sizes.rows() * sizes.dimV * rt::dtypeBytes(memory->dtype));
  if (!fault.empty())
    return fault;
  return compare(&Outputs::lse, "lse", sizes.rows() * int64_t(sizeof(float)));
}

/// Whether all launches of one random shape have one result.
bool Soak::runShape(size_t index, Dice &dice) {
  const rt::Kernel &kernel = library.kernel(index);
  const Variant &variant = *findVariant(kernel.variant);
  Sizes sizes = drawSizes(kernel, dice);
  Layout layout =
      options.layout.value_or(dice.draw(0, 1) ? Layout::Bshd : Layout::Bhsd);
  VariantData data = sizes.variantData();
  data.rowUnit = rowUnitOf(kernel);
  variant.fillForCheck(data, uint64_t(dice.draw(0, 1 << 20)));
  DeviceExtras extras(device, data.extras);
  fa_forward_params params = cellParams(kernel, sizes, memory->inputs, layout);
  extras.addTo(params);
  params.splits = kernel.plan.maxSplits ? int32_t(options.splits) : 0;
  launchAll(index, sizes, params);
  std::string fault = compareAll(sizes);
  if (!fault.empty())
    std::printf("FAIL %s %s: %s\n", kernel.name.c_str(),
                describeSizes(sizes).c_str(), fault.c_str());
  return fault.empty();
}

/// Whether a kernel passes; prints its line.
bool Soak::soak(size_t index) {
  const rt::Kernel &kernel = library.kernel(index);
  auto start = std::chrono::steady_clock::now();
  reserve(kernel);
  Dice dice(mix(options.seed) + index);
  int shapes = 0, changed = 0;
  for (int done = 0; done < options.launches; done += kRepeats, ++shapes)
    changed += !runShape(index, dice);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  std::printf("%s %s: %d launches on %d shapes, %d changed, %.1f s\n",
              changed ? "FAIL" : "ok  ", kernel.name.c_str(), shapes * kRepeats,
              shapes, changed, seconds.count());
  std::fflush(stdout);
  return changed == 0;
}

int Soak::run() {
  std::vector<size_t> kernels = fittingKernels(options, library);
  if (kernels.empty())
    return kFailed;
  std::fprintf(stderr, "# %s\n", device.describe().c_str());
  int status = kOk;
  for (size_t index : kernels) {
    const rt::Kernel &kernel = library.kernel(index);
    const Variant *variant = findVariant(kernel.variant);
    if (!variant || variant->isPacked) {
      std::fprintf(stderr,
                   "# %s is left out: no random shapes for variant %s\n",
                   kernel.name.c_str(), kernel.variant.c_str());
      continue;
    }
    if (!soak(index))
      status = kFailed;
  }
  return status;
}

int fa::bench::runSoak(const Options &options, rt::Library &library,
                       const Device &device) {
  return Soak(options, library, device).run();
}
