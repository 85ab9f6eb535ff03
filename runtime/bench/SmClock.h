//===- SmClock.h - The GPU's clock, from NVML -------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_SMCLOCK_H
#define FLASHLOOM_BENCH_SMCLOCK_H

#include <optional>
#include <string>

namespace fa::bench {

/// Reads the clock of a GPU's multiprocessors through NVML, loaded at run time.
class SmClock {
public:
  /// A GPU by its PCI bus id. Without NVML every reading is empty.
  explicit SmClock(const std::string &pciBusId);

  /// The current clock, MHz.
  std::optional<unsigned> megahertz() const;

private:
  using GetClock = int (*)(void *, int, unsigned *);
  void *device = nullptr;
  GetClock getClock = nullptr;
};

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_SMCLOCK_H
