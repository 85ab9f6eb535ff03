//===- Ablate.cpp - fa-bench ablate -------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cell.h"
#include "Failure.h"
#include "Launch.h"
#include "Stopwatch.h"
#include "Verbs.h"
#include "Workspace.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <tuple>

using namespace fa;
using namespace fa::bench;

namespace {

/// Kernels of one problem, each by another pipeline, in the manifest's order.
using Ladder = std::vector<size_t>;

/// A step's time on a cell.
struct Timing {
  size_t index;
  double ms, rate;
};

class Ablation {
public:
  Ablation(const Options &options, rt::Library &library, const Device &device)
      : options(options), library(library), device(device),
        stopwatch(device,
                  {options.runs, options.warmup, 0.1, options.timeoutS}) {}

  int run();

private:
  std::vector<Ladder> ladders() const;
  bool check(const Ladder &ladder);
  void timeCell(const Ladder &ladder, int64_t seq);
  Timing timeStep(size_t index, const Sizes &sizes, const Buffers &buffers);
  void printTable(const Sizes &sizes, const std::vector<Timing> &timings) const;
  void printRow(const Sizes &sizes, const Timing &timing) const;

  const Options &options;
  rt::Library &library;
  const Device &device;
  Stopwatch stopwatch;
};

} // namespace

std::vector<Ladder> Ablation::ladders() const {
  std::vector<Ladder> list;
  std::map<std::tuple<int, int64_t, int64_t, std::string>, size_t> places;
  for (size_t index : fittingKernels(options, library)) {
    const rt::Kernel &kernel = library.kernels()[index];
    auto [place, isNew] = places.try_emplace(
        {kernel.dtype, kernel.headDim, kernel.headDimV, kernel.variant},
        list.size());
    if (isNew)
      list.emplace_back();
    list[place->second].push_back(index);
  }
  list.erase(
      std::remove_if(list.begin(), list.end(),
                     [](const Ladder &ladder) { return ladder.size() < 2; }),
      list.end());
  return list;
}

/// Whether all kernels compute what they should; prints those that do not.
bool Ablation::check(const Ladder &ladder) {
  bool passed = true;
  Options small = selftestOptions(options);
  for (size_t index : ladder)
    passed &= checkKernel(small, library, device, index);
  return passed;
}

Timing Ablation::timeStep(size_t index, const Sizes &sizes,
                          const Buffers &buffers) {
  const rt::Kernel &kernel = library.kernel(index);
  const Variant &variant = *findVariant(kernel.variant);
  VariantData data = sizes.variantData();
  data.rowUnit = rowUnitOf(kernel);
  variant.fillForTiming(data, options.seed);
  DeviceExtras extras(device, data.extras);
  fa_forward_params params =
      cellParams(kernel, sizes, buffers, options.layout.value_or(Layout::Bhsd));
  extras.addTo(params);
  rt::Problem problem = rt::checkProblem(&params);
  Workspace workspace(device, library, index, problem, params);
  double ms = stopwatch.medianMs(
      [&] { rt::launch(library, index, problem, params, device.stream()); },
      kernel.name, [] {});
  return {index, ms, sizes.flops() * variant.share(data) / ms / 1e9};
}

void Ablation::printRow(const Sizes &sizes, const Timing &timing) const {
  const rt::Kernel &kernel = library.kernels()[timing.index];
  std::printf("%s-%s,%s,%s,%.4f,%.1f\n", options.name.c_str(),
              kernel.pipeline.c_str(), kernel.pass.c_str(),
              cellColumns(kernel, sizes).c_str(), timing.ms, timing.rate);
  std::fflush(stdout);
}

void Ablation::printTable(const Sizes &sizes,
                          const std::vector<Timing> &timings) const {
  const rt::Kernel &first = library.kernels()[timings.front().index];
  std::printf("\n%s, D %lld, %s, batch %lld, heads %lld, S %lld\n",
              rt::dtypeName(first.dtype), static_cast<long long>(first.headDim),
              first.variant.c_str(), static_cast<long long>(sizes.batch),
              static_cast<long long>(sizes.heads),
              static_cast<long long>(sizes.seqQ));
  std::printf("  %-20s %10s %8s %6s %7s  %s\n", "step", "ms", "TFLOP/s", "gain",
              "of all", "registers, shared memory, spilled");
  double before = timings.front().ms;
  for (const Timing &timing : timings) {
    const rt::Kernel &kernel = library.kernels()[timing.index];
    std::printf("  %-20s %10.3f %8.1f %6.2f %7.2f  %d, %d, %d\n",
                kernel.pipeline.c_str(), timing.ms, timing.rate,
                before / timing.ms, timings.front().ms / timing.ms,
                kernel.registers, kernel.sharedBytes, kernel.spillBytes);
    before = timing.ms;
  }
  std::fflush(stdout);
}

void Ablation::timeCell(const Ladder &ladder, int64_t seq) {
  const rt::Kernel &first = library.kernel(ladder.front());
  Sizes sizes = benchmarkSizes(first, seq);
  Buffers buffers(device, first.dtype,
                  std::max(sizes.rows(), sizes.batch * sizes.kvHeads * seq) *
                      std::max(sizes.dim, sizes.dimV),
                  options.seed);
  std::vector<Timing> timings;
  for (size_t index : ladder) {
    timings.push_back(timeStep(index, sizes, buffers));
    if (options.csv)
      printRow(sizes, timings.back());
  }
  if (!options.csv)
    printTable(sizes, timings);
}

int Ablation::run() {
  std::vector<Ladder> list = ladders();
  if (list.empty()) {
    std::fprintf(stderr,
                 "fa-bench: %s has no two kernels of one problem: make "
                 "it with fa-gen --ablation\n",
                 library.directory().c_str());
    return kFailed;
  }
  std::fprintf(stderr, "# %s\n", describeSetup(device, library).c_str());
  if (options.csv)
    std::fputs(kCsvHeader, stdout);
  int status = kOk;
  for (const Ladder &ladder : list) {
    if (!check(ladder)) {
      status = kFailed;
      continue;
    }
    for (int64_t seq : options.seqs)
      timeCell(ladder, seq);
  }
  return status;
}

int fa::bench::runAblate(const Options &options, rt::Library &library,
                         const Device &device) {
  return Ablation(options, library, device).run();
}
