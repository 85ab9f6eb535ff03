//===- Parallel.cpp - A loop over threads ---------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

using namespace fa::bench;

void fa::bench::parallelFor(int64_t count,
                            const std::function<void(int64_t)> &body) {
  std::atomic<int64_t> next{0};
  auto work = [&] {
    for (int64_t i; (i = next.fetch_add(1)) < count;)
      body(i);
  };
  int64_t hardware = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  for (int64_t i = 1; i < std::min(hardware, count); ++i)
    others.emplace_back(work);
  work();
  for (std::thread &thread : others)
    thread.join();
}

void fa::bench::parallelRanges(
    int64_t count, int64_t grain,
    const std::function<void(int64_t, int64_t)> &body) {
  parallelFor((count + grain - 1) / grain, [&](int64_t piece) {
    body(piece * grain, std::min(count, (piece + 1) * grain));
  });
}
