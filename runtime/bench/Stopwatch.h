//===- Stopwatch.h - Device time of launches --------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_STOPWATCH_H
#define FLASHLOOM_BENCH_STOPWATCH_H

#include "Gate.h"

#include <functional>
#include <string>
#include <vector>

namespace fa::bench {

/// The middle value, or the mean of the two middle ones. Not for empty lists.
double median(std::vector<double> values);

/// Times launches as bench_torch.py does: after a pause in which the card's
/// power state settles, and warm-up launches, each launch is put between two
/// events, all of it queued behind a gate.
class Stopwatch {
public:
  struct Protocol {
    int runs = 30, warmup = 10;
    /// Seconds.
    double pauseS = 0.1, timeoutS = 60;
  };

  Stopwatch(const Device &device, const Protocol &protocol)
      : device(device), protocol(protocol), gate(device) {}

  /// Median milliseconds of `launch`, which queues one launch on the device's
  /// stream. `what` names it where it hangs; `whileRunning` is called when the
  /// GPU has begun.
  double medianMs(const std::function<void()> &launch, const std::string &what,
                  const std::function<void()> &whileRunning);

  /// The same, but of each timed launch.
  std::vector<double> milliseconds(const std::function<void()> &launch,
                                   const std::string &what,
                                   const std::function<void()> &whileRunning);

private:
  void timeBatch(int runs, const std::function<void()> &launch,
                 const std::function<void()> &whileRunning,
                 const std::string &what, std::vector<double> &times);

  const Device &device;
  Protocol protocol;
  Gate gate;
};

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_STOPWATCH_H
