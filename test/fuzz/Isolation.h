//===- Isolation.h - Work that may end its process -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TEST_FUZZ_ISOLATION_H
#define FA_TEST_FUZZ_ISOLATION_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <functional>
#include <string>

namespace fa::fuzz {

/// How far a mutant came.
enum class Outcome : uint64_t { Rejected, Refused, Lowered };
constexpr size_t kNumOutcomes = 3;

/// Items from `first` on, before `last`.
struct Range {
  uint64_t first;
  uint64_t last;
};

/// An item whose process ended.
struct Crash {
  uint64_t item;
  std::string reason; ///< "segmentation fault", "took more than 5 s"
  std::string output; ///< what it wrote to stderr
};

/// What became of the items of a range.
struct Summary {
  uint64_t outcomes[kNumOutcomes] = {};
  uint64_t crashes = 0;
};

/// What a process is allowed for an item.
struct Limits {
  unsigned seconds = 5; ///< of the processor's time
  uint64_t memoryBytes = 4ull
                         << 30; ///< address space, beyond what it began with
};

/// Runs the items of `range` in processes of their own, up to `batch` in one.
/// `makeRunner` is called in each process and gives what runs an item; a crash
/// is reported and the next process goes on behind it.
Summary
runIsolated(Range range, uint64_t batch, const Limits &limits,
            llvm::function_ref<std::function<Outcome(uint64_t)>()> makeRunner,
            llvm::function_ref<void(const Crash &)> report);

/// Runs `run` in a process of its own; false where it did not come to its end.
bool runApart(llvm::function_ref<void()> run);

} // namespace fa::fuzz

#endif // FA_TEST_FUZZ_ISOLATION_H
