//===- Stopwatch.cpp - Device time of launches ----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stopwatch.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace fa::bench;

/// A stream takes about a thousand commands before queueing one more waits for
/// the GPU, which behind a closed gate would be for ever; a launch is three.
static constexpr int kRunsPerGate = 100;

namespace {

/// Events that destroy themselves.
class EventPair {
public:
  explicit EventPair(const Device &device) : device(device) {
    device.check(device.api().eventCreate(&start, 0), "cuEventCreate");
    device.check(device.api().eventCreate(&stop, 0), "cuEventCreate");
  }
  EventPair(const EventPair &) = delete;
  EventPair(EventPair &&other) noexcept
      : device(other.device), start(other.start), stop(other.stop) {
    other.start = other.stop = nullptr;
  }
  ~EventPair() {
    if (start)
      device.api().eventDestroy(start);
    if (stop)
      device.api().eventDestroy(stop);
  }

  void record(const std::function<void()> &launch) const {
    const DeviceApi &api = device.api();
    device.check(api.eventRecord(start, device.stream()), "cuEventRecord");
    launch();
    device.check(api.eventRecord(stop, device.stream()), "cuEventRecord");
  }

  double milliseconds() const {
    float ms = 0;
    device.check(device.api().eventElapsedTime(&ms, start, stop),
                 "cuEventElapsedTime");
    return ms;
  }

private:
  const Device &device;
  CuEvent start = nullptr, stop = nullptr;
};

} // namespace

double fa::bench::median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle]
                           : (values[middle - 1] + values[middle]) / 2;
}

void Stopwatch::timeBatch(int runs, const std::function<void()> &launch,
                          const std::function<void()> &whileRunning,
                          const std::string &what, std::vector<double> &times) {
  std::vector<EventPair> events;
  for (int run = 0; run < runs; ++run)
    events.emplace_back(device);
  {
    ClosedGate closed(gate);
    for (const EventPair &pair : events)
      pair.record(launch);
  }
  whileRunning();
  device.wait(protocol.timeoutS, what);
  for (const EventPair &pair : events)
    times.push_back(pair.milliseconds());
}

double Stopwatch::medianMs(const std::function<void()> &launch,
                           const std::string &what,
                           const std::function<void()> &whileRunning) {
  return median(milliseconds(launch, what, whileRunning));
}

std::vector<double>
Stopwatch::milliseconds(const std::function<void()> &launch,
                        const std::string &what,
                        const std::function<void()> &whileRunning) {
  std::this_thread::sleep_for(std::chrono::duration<double>(protocol.pauseS));
  // One launch more, as bench_torch.py does: the first one may load code, which
  // waits for the GPU and must not happen behind a closed gate.
  for (int run = 0; run <= protocol.warmup; ++run)
    launch();
  device.wait(protocol.timeoutS, what);
  std::vector<double> times;
  for (int done = 0; done < protocol.runs; done += kRunsPerGate)
    timeBatch(std::min(kRunsPerGate, protocol.runs - done), launch,
              whileRunning, what, times);
  return times;
}
