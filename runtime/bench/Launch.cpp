//===- Launch.cpp - fa-bench launch -------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cell.h"
#include "Failure.h"
#include "Gate.h"
#include "Stopwatch.h"
#include "Verbs.h"
#include "Workspace.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <tuple>

using namespace fa;
using namespace fa::bench;

/// Calls between two waits for the GPU: fewer than a stream queues.
static constexpr int kBatch = 256;
/// Rows of the problem.
static constexpr int64_t kRows = 16;

namespace {
struct LibraryDeleter {
  void operator()(fa_library *library) const { fa_library_close(library); }
};
} // namespace

/// The microseconds of a call, in each batch of calls. The GPU starts nothing
/// meanwhile: where its queue drains, queueing waits for it now and then.
static std::vector<double> timeCalls(const Options &options,
                                     const Device &device, fa_library *library,
                                     const fa_forward_params &params) {
  auto stream = reinterpret_cast<fa_stream>(device.stream());
  auto call = [&] {
    if (fa_forward(library, &params, stream))
      throw rt::Failure(FA_INVALID_ARGUMENT, fa_last_error());
  };
  Gate gate(device);
  call(); // loads the module
  std::vector<double> times;
  for (int done = 0; done < options.launches; done += kBatch) {
    device.wait(options.timeoutS, "a launch");
    int count = std::min(kBatch, options.launches - done);
    ClosedGate closed(gate);
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i)
      call();
    std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - start;
    times.push_back(elapsed.count() / count);
  }
  device.wait(options.timeoutS, "a launch");
  return times;
}

int fa::bench::runLaunch(const Options &options, rt::Library &library,
                         const Device &device) {
  fa_library *opened = nullptr;
  if (fa_library_open(library.directory().c_str(), &opened))
    throw rt::Failure(FA_INVALID_ARGUMENT, fa_last_error());
  std::unique_ptr<fa_library, LibraryDeleter> owner(opened);
  std::printf("dtype,head_dim,variant,median_us,least_us\n");
  std::set<std::tuple<int, int64_t, int64_t, std::string>> seen;
  for (size_t index : fittingKernels(options, library)) {
    const rt::Kernel &kernel = library.kernels()[index];
    const Variant *variant = findVariant(kernel.variant);
    if (!variant || !seen.insert({kernel.dtype, kernel.headDim, kernel.headDimV,
                                  kernel.variant})
                         .second)
      continue;
    Sizes sizes{1, 1, 1, kRows, kRows, kernel.headDim, kernel.headDimV};
    Buffers buffers(device, kernel.dtype,
                    kRows * std::max(sizes.dim, sizes.dimV), options.seed);
    VariantData data = sizes.variantData();
    variant->fillForTiming(data, options.seed);
    DeviceExtras extras(device, data.extras);
    fa_forward_params params = cellParams(
        kernel, sizes, buffers, options.layout.value_or(Layout::Bhsd));
    extras.addTo(params);
    Workspace workspace(device, library, index, rt::checkProblem(&params),
                        params);
    std::vector<double> times = timeCalls(options, device, opened, params);
    std::printf("%s,%lld,%s,%.2f,%.2f\n", rt::dtypeName(kernel.dtype),
                static_cast<long long>(kernel.headDim), kernel.variant.c_str(),
                median(times), *std::min_element(times.begin(), times.end()));
    std::fflush(stdout);
  }
  return seen.empty() ? kFailed : kOk;
}
