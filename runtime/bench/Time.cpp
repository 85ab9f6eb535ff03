//===- Time.cpp - fa-bench time -------------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cell.h"
#include "Failure.h"
#include "Launch.h"
#include "SmClock.h"
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

/// The lengths of the cells: those of --seqs, or the longest packed sequence.
static std::vector<int64_t> seqsOf(const Options &options) {
  if (options.lens.empty())
    return options.seqs;
  return {*std::max_element(options.lens.begin(), options.lens.end())};
}

class Timer {
public:
  Timer(const Options &options, rt::Library &library, const Device &device)
      : options(options), library(library), device(device),
        seqs(seqsOf(options)), stopwatch(device, {options.runs, options.warmup,
                                                  0.1, options.timeoutS}),
        clock(options.verboseClock ? device.pciBusId() : "") {}

  int run();

private:
  bool timeCell(size_t index, int64_t seq, const Buffers &buffers);
  void makeLists(size_t index, fa_forward_params &params);
  double measure(size_t index, const fa_forward_params &params);
  int64_t mostElements(const std::vector<size_t> &kernels) const;

  const Options &options;
  rt::Library &library;
  const Device &device;
  const std::vector<int64_t> seqs;
  Stopwatch stopwatch;
  SmClock clock;
};

} // namespace

/// A batch's sequences as one, behind each other.
static Sizes packed(Sizes sizes) {
  sizes.seqQ *= sizes.batch;
  sizes.seqKv *= sizes.batch;
  sizes.batch = 1;
  return sizes;
}

double Timer::measure(size_t index, const fa_forward_params &params) {
  rt::Problem problem = rt::checkProblem(&params);
  auto launch = [&] {
    rt::launch(library, index, problem, params, device.stream());
  };
  auto readClock = [&] {
    if (!options.verboseClock)
      return;
    if (std::optional<unsigned> mhz = clock.megahertz())
      std::fprintf(stderr, "# clock %u MHz\n", *mhz);
    else
      std::fprintf(stderr, "# clock unknown: NVML cannot be used\n");
  };
  return stopwatch.medianMs(launch, library.kernel(index).name, readClock);
}

/// Launches once, and has `params` say that the workspace has the lists.
void Timer::makeLists(size_t index, fa_forward_params &params) {
  rt::launch(library, index, rt::checkProblem(&params), params,
             device.stream());
  params.flags |= FA_REUSE_LISTS;
}

/// Prints the row of a cell; false where the cell failed.
bool Timer::timeCell(size_t index, int64_t seq, const Buffers &buffers) {
  const rt::Kernel &kernel = library.kernel(index);
  Sizes sizes = cellSizes(options, kernel, seq);
  std::string columns = cellColumns(kernel, sizes);
  bool timed = false;
  try {
    const Variant &variant = *findVariant(kernel.variant);
    VariantData data = sizes.variantData();
    data.rowUnit = rowUnitOf(kernel);
    variant.fillForTiming(data, options.seed);
    DeviceExtras extras(device, data.extras);
    Layout layout = options.layout.value_or(Layout::Bhsd);
    fa_forward_params params = cellParams(
        kernel, variant.isPacked ? packed(sizes) : sizes, buffers, layout);
    extras.addTo(params);
    params.scale *= float(options.logits);
    params.splits = kernel.plan.maxSplits ? int32_t(options.splits) : 0;
    Workspace workspace(device, library, index, rt::checkProblem(&params),
                        params);
    if (options.keepLists)
      makeLists(index, params);
    double ms = measure(index, params);
    double rate = sizes.flops() * variant.share(data) / ms / 1e9;
    if (options.sq)
      rate = double(sizes.cache() * rt::dtypeBytes(kernel.dtype)) / ms / 1e6;
    std::printf("%s,%s,%s,%.4f,%.1f\n", options.name.c_str(),
                options.sq ? "decode" : kernel.pass.c_str(), columns.c_str(),
                ms, rate);
    timed = true;
  } catch (const rt::Failure &failure) {
    // As bench_torch.py does: a refused cell keeps its row.
    std::string text = failure.what();
    std::replace(text.begin(), text.end(), ',', ';');
    std::printf("%s,refused,%s,%s,%s\n", options.name.c_str(), columns.c_str(),
                fa_status_name(failure.status()), text.c_str());
  }
  std::fflush(stdout);
  return timed;
}

/// Elements of the largest tensor over all cells.
int64_t Timer::mostElements(const std::vector<size_t> &kernels) const {
  int64_t most = 0;
  for (size_t index : kernels)
    for (int64_t seq : seqs) {
      Sizes sizes = cellSizes(options, library.kernel(index), seq);
      int64_t rows =
          std::max(sizes.rows(), sizes.batch * sizes.kvHeads * sizes.seqKv);
      most = std::max(most, rows * std::max(sizes.dim, sizes.dimV));
    }
  return most;
}

/// One kernel for each cell: the one that the runtime prefers for so many rows
/// and heads that share one of k and v. In the order of bench_torch.py: by
/// dtype, head dimensions, variant.
static std::vector<size_t> preferredKernels(const rt::Library &library,
                                            const std::vector<size_t> &all,
                                            int64_t seqQ, int64_t group) {
  std::map<std::tuple<int, int64_t, int64_t, int>, size_t> best;
  std::vector<std::string> variants;
  for (size_t index : all) {
    const rt::Kernel &kernel = library.kernel(index);
    auto known = std::find(variants.begin(), variants.end(), kernel.variant);
    int variant = int(known - variants.begin());
    if (known == variants.end())
      variants.push_back(kernel.variant);
    auto [entry, inserted] = best.try_emplace(
        {kernel.dtype, kernel.headDim, kernel.headDimV, variant}, index);
    if (!inserted &&
        rt::isPreferred(kernel, library.kernel(entry->second), seqQ, group))
      entry->second = index;
  }
  std::vector<size_t> chosen;
  for (const auto &entry : best)
    chosen.push_back(entry.second);
  return chosen;
}

int Timer::run() {
  std::vector<size_t> fitting = fittingKernels(options, library);
  if (fitting.empty())
    return kFailed;
  int status = kOk;
  std::unique_ptr<Buffers> buffers;
  std::fprintf(stderr, "# %s\n", describeSetup(device, library).c_str());
  std::fputs(kCsvHeader, stdout);
  // The kernels of each length, which may have one of its own. Cells that are
  // not decoding's have as many queries as keys.
  std::vector<std::vector<size_t>> kernels;
  for (int64_t seq : seqs)
    kernels.push_back(
        options.sq ? preferredKernels(library, fitting, options.sq,
                                      options.heads / options.kvHeads)
                   : preferredKernels(library, fitting, seq, /*group=*/1));
  int64_t elements = mostElements(kernels.front());
  for (size_t problem = 0; problem < kernels.front().size(); ++problem) {
    const rt::Kernel &kernel = library.kernel(kernels.front()[problem]);
    if (!findVariant(kernel.variant)) {
      std::fprintf(stderr, "# %s is left out: no FLOP count for variant %s\n",
                   kernel.name.c_str(), kernel.variant.c_str());
      continue;
    }
    if (!options.lens.empty() && !findVariant(kernel.variant)->isPacked)
      continue;
    if (!buffers || buffers->dtype != kernel.dtype) {
      buffers.reset();
      buffers = std::make_unique<Buffers>(device, kernel.dtype, elements,
                                          options.seed);
    }
    for (size_t n = 0; n < seqs.size(); ++n)
      if (!timeCell(kernels[n][problem], seqs[n], *buffers))
        status = kFailed;
  }
  return status;
}

int fa::bench::runTime(const Options &options, rt::Library &library,
                       const Device &device) {
  return Timer(options, library, device).run();
}
