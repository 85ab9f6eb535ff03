//===- Launch.cpp - fa-bench launch -------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cell.h"
#include "Failure.h"
#include "Gate.h"
#include "ModuleCache.h"
#include "Stopwatch.h"
#include "Verbs.h"
#include "Workspace.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <tuple>

using namespace fa;
using namespace fa::bench;

/// Calls between two waits for the GPU, each of which may be three launches and
/// the clearing of a counter: in all fewer than the 1024 that a stream queues,
/// behind which the host would wait for a gate that it has to open itself.
static constexpr int kBatch = 128;
/// Rows of the problem.
static constexpr int64_t kRows = 16;

namespace {
struct LibraryDeleter {
  void operator()(fa_library *library) const { fa_library_close(library); }
};
} // namespace

namespace {

/// A launch as the driver got it, its parameters as one buffer.
struct DriverLaunch {
  rt::CuFunction function;
  unsigned grid, block, sharedBytes;
  std::vector<rt::ParamPlace> places;
  std::vector<unsigned char> bytes;

  /// Starts it again: by the address of all parameters, as the library does, or
  /// by that of each.
  void start(const rt::DriverApi &api, rt::CuStream stream, bool asBuffer) {
    std::vector<void *> addresses;
    for (const rt::ParamPlace &place : places)
      addresses.push_back(&bytes[place.offset]);
    size_t size = bytes.size();
    void *list[] = {rt::kLaunchBufferPointer, bytes.data(),
                    rt::kLaunchBufferSize, &size, rt::kLaunchEnd};
    rt::CuResult result = api.launchKernel(
        function, grid, 1, 1, block, 1, 1, sharedBytes, stream,
        asBuffer ? nullptr : addresses.data(), asBuffer ? list : nullptr);
    if (result != rt::kCudaSuccess)
      api.check(result, "launching a kernel again");
  }
};

/// Notes, while it lives, what the driver is asked to launch, which it does not
/// pass on. One at a time.
class LaunchRecorder {
public:
  LaunchRecorder() : table(rt::driver()) {
    recording = this;
    table.launchKernel = record;
    table.launchKernelEx = nullptr;
    rt::overrideDriver(&table);
  }
  ~LaunchRecorder() {
    rt::overrideDriver(nullptr);
    recording = nullptr;
  }
  LaunchRecorder(const LaunchRecorder &) = delete;
  LaunchRecorder &operator=(const LaunchRecorder &) = delete;

  std::vector<DriverLaunch> launches;

private:
  static rt::CuResult record(rt::CuFunction function, unsigned grid, unsigned,
                             unsigned, unsigned block, unsigned, unsigned,
                             unsigned sharedBytes, rt::CuStream, void **,
                             void **list) {
    // By addresses where the driver does not say where parameters lie.
    if (!list)
      return rt::kCudaSuccess;
    auto *bytes = static_cast<unsigned char *>(list[1]);
    recording->launches.push_back(
        {function,
         grid,
         block,
         sharedBytes,
         rt::placesOf(function),
         {bytes, bytes + *static_cast<size_t *>(list[3])}});
    return rt::kCudaSuccess;
  }

  static LaunchRecorder *recording;
  rt::DriverApi table;
};
LaunchRecorder *LaunchRecorder::recording;

} // namespace

/// The microseconds of a call, in each batch of calls. The GPU starts nothing
/// meanwhile: where its queue drains, queueing waits for it now and then.
template <typename Call>
static std::vector<double> timeCalls(const Options &options,
                                     const Device &device, Call call) {
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

static void forward(fa_library *library, const fa_forward_params &params,
                    const Device &device) {
  auto stream = reinterpret_cast<fa_stream>(device.stream());
  if (fa_forward(library, &params, stream))
    throw rt::Failure(FA_INVALID_ARGUMENT, fa_last_error());
}

/// What a call asks the driver to launch; nothing where the driver does not say
/// where parameters lie.
static std::vector<DriverLaunch> recordLaunches(fa_library *library,
                                                const fa_forward_params &params,
                                                const Device &device) {
  LaunchRecorder recorder;
  forward(library, params, device);
  return std::move(recorder.launches);
}

/// What the driver's launches alone take, by addresses and by a buffer, and
/// what the latter leave of `total`: three columns, empty where nothing was
/// recorded.
static std::string describeParts(const Options &options, const Device &device,
                                 std::vector<DriverLaunch> launches,
                                 double total) {
  if (launches.empty())
    return ",,";
  double parts[2];
  for (bool asBuffer : {false, true})
    parts[asBuffer] = median(timeCalls(options, device, [&] {
      for (DriverLaunch &launch : launches)
        launch.start(rt::driver(), device.stream(), asBuffer);
    }));
  char text[64];
  std::snprintf(text, sizeof(text), "%.2f,%.2f,%.2f", parts[0], parts[1],
                total - parts[1]);
  return text;
}

int fa::bench::runLaunch(const Options &options, rt::Library &library,
                         const Device &device) {
  fa_library *opened = nullptr;
  if (fa_library_open(library.directory().c_str(), &opened))
    throw rt::Failure(FA_INVALID_ARGUMENT, fa_last_error());
  std::unique_ptr<fa_library, LibraryDeleter> owner(opened);
  std::printf("dtype,head_dim,variant,median_us,least_us,driver_us,"
              "buffer_us,ours_us\n");
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
    data.rowUnit = rowUnitOf(kernel);
    variant->fillForTiming(data, options.seed);
    DeviceExtras extras(device, data.extras);
    fa_forward_params params = cellParams(
        kernel, sizes, buffers, options.layout.value_or(Layout::Bhsd));
    extras.addTo(params);
    Workspace workspace(device, library, index, rt::checkProblem(&params),
                        params);
    std::vector<double> times =
        timeCalls(options, device, [&] { forward(opened, params, device); });
    std::printf("%s,%lld,%s,%.2f,%.2f,%s\n", rt::dtypeName(kernel.dtype),
                static_cast<long long>(kernel.headDim), kernel.variant.c_str(),
                median(times), *std::min_element(times.begin(), times.end()),
                describeParts(options, device,
                              recordLaunches(opened, params, device),
                              median(times))
                    .c_str());
    std::fflush(stdout);
  }
  return seen.empty() ? kFailed : kOk;
}
