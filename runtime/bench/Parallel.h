//===- Parallel.h - A loop over threads -------------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_PARALLEL_H
#define FLASHLOOM_BENCH_PARALLEL_H

#include <cstdint>
#include <functional>

namespace fa::bench {

/// Runs body(i) for 0 <= i < count on all of the machine's threads, each taking
/// the next i when it is done with one. The body must not throw.
void parallelFor(int64_t count, const std::function<void(int64_t)> &body);

/// Runs body(begin, end) on pieces of [0, count), of `grain` elements at most.
void parallelRanges(int64_t count, int64_t grain,
                    const std::function<void(int64_t, int64_t)> &body);

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_PARALLEL_H
