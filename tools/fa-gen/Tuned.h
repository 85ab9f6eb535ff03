//===- Tuned.h - Schedules that were measured -------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tuned tables: which schedule was the fastest for a problem and a class of
// lengths, as `fa-bench tune` writes them. docs/tuning.md has the format.
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_TUNED_H
#define FA_TOOLS_FA_GEN_TUNED_H

#include "fa/Schedule/Candidates.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace fa {

/// The fastest schedule for up to so many rows of Q.
struct TunedClass {
  int64_t maxRows = 0; ///< 0: any number
  Candidate candidate;
  std::vector<int64_t> seqs;  ///< the lengths that were timed
  std::vector<double> tflops; ///< the rate at each
};

struct TunedProblem {
  std::string dtype, variant;
  int64_t headDim = 0, headDimV = 0;
  std::string card, driver, ptxas, date; ///< of the measurement
  /// By rising limits, the last one without.
  std::vector<TunedClass> classes;
};

/// The measured schedules of one architecture.
struct TunedTable {
  std::string arch;
  std::vector<TunedProblem> problems;

  /// Null where the problem was not measured.
  const TunedProblem *find(llvm::StringRef dtype, int64_t headDim,
                           int64_t headDimV, llvm::StringRef variant) const;

  /// Takes the problems of `other`, whose measurements replace those here.
  void add(const TunedTable &other);
};

/// Reads a table; `name` is the file's, for messages. Fails on everything that
/// is not of the format, and on a schedule that its architecture has no room
/// for.
llvm::Expected<TunedTable> parseTunedTable(llvm::StringRef text,
                                           llvm::StringRef name);
llvm::Expected<TunedTable> readTunedTable(llvm::StringRef path);

/// The table that fa-gen takes for `arch`: the one that it was built with, and
/// over it the user's, if there is one.
llvm::Expected<TunedTable> findTunedTable(llvm::StringRef arch);

/// The user's table: tuned/ARCH.json in flashloom's folder of the user's
/// configuration ($XDG_CONFIG_HOME, else ~/.config). Empty without a home.
std::string userTablePath(llvm::StringRef arch);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_TUNED_H
