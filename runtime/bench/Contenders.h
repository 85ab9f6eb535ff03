//===- Contenders.h - Candidates of a problem and the fastest ---*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_CONTENDERS_H
#define FLASHLOOM_BENCH_CONTENDERS_H

#include "Library.h"
#include "TunedTable.h"

#include <string>
#include <vector>

namespace fa::bench {

/// A kernel of one schedule, and its rate at each length.
struct Contender {
  size_t index; ///< in the library
  std::string name;
  Json schedule; ///< the manifest's `tuning`
  std::vector<double> tflops;
};

/// Lengths that share a kernel: those up to `maxRows`, 0 for any.
struct LengthClass {
  int64_t maxRows = 0;
  std::vector<size_t> cells; ///< places in the list of lengths
};

/// The classes of lengths: up to 1024, up to 4096, and more; without those
/// that no length is in, and the last one without a limit.
std::vector<LengthClass> classesOf(const std::vector<int64_t> &seqs);

/// The candidates of one problem, the default first.
struct Contest {
  std::string title; ///< "bf16, D 128, causal"
  std::vector<Contender> contenders;
  /// Whether the first one is the default, which wins unless another is faster
  /// by more than a hundredth.
  bool hasDefault = true;

  void drop(size_t index);
  /// The places of the winner and of the best of all others in a class; both
  /// the same where there is one alone.
  struct Result {
    size_t winner, runnerUp;
  };
  Result decide(const LengthClass &lengths) const;

  /// The table's `classes`.
  Json describeClasses(const std::vector<int64_t> &seqs) const;
  void print(const std::vector<int64_t> &seqs) const;

private:
  double compare(size_t candidate, const LengthClass &lengths) const;
};

/// The candidates among `kernels`, those that the manifest has a `tuning` for,
/// of the first one's architecture, by problem. Throws rt::Failure.
std::vector<Contest> collectContests(const rt::Library &library,
                                     const std::vector<size_t> &kernels);

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_CONTENDERS_H
