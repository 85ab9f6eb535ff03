//===- CommandLine.h - The options of fa-bench ------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_COMMANDLINE_H
#define FLASHLOOM_BENCH_COMMANDLINE_H

#include "HostTensor.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace fa::bench {

enum class Verb {
  Help,
  Check,
  Time,
  Ablate,
  Selftest,
  Launch,
  Run,
  Tune,
  Soak
};

struct Options {
  Verb verb = Verb::Help;
  std::string directory;
  /// Only kernels whose name contains this.
  std::string kernel;
  /// Empty: the verb's own choice.
  std::optional<Layout> layout;
  /// Seconds.
  double timeoutS = 60;
  uint64_t seed = 0;

  /// Parts of the keys, of kernels that split them; 0: the runtime's choice.
  int64_t splits = 0;

  /// check: batch, heads, kv_heads (0: the verb's own choice), seq_q, seq_kv;
  /// empty: the default sizes.
  std::vector<std::array<int64_t, 5>> sizes;
  /// The sizes are for kernels of all variants: packed sequences take them as
  /// one batch.
  bool areSizesShared = false;
  Distribution distribution;
  bool verbose = false;

  /// check and time: launches find the lists of blocks of an earlier one.
  bool keepLists = false;

  /// ablate: CSV instead of a table.
  bool csv = false;

  /// tune: the file of the table, empty for none, and whether what it has of
  /// other problems stays.
  std::string table;
  bool merge = false;

  /// launch and soak.
  int launches = 10000;

  /// run: the program, where there are several; the folder of its tensors, and
  /// the one that outputs are written to.
  std::string program, data, output;

  /// time, ablate, run and tune.
  int runs = 30, warmup = 10;

  /// time, ablate and tune.
  std::string name = "flashloom";
  std::vector<int64_t> seqs = {512, 1024, 2048, 4096, 8192, 16384};
  /// time: packed sequences of these lengths, and nothing else; empty: not.
  std::vector<int64_t> lens;
  /// Decoding, of so many queries against caches of `seqs` keys; 0: as many
  /// queries as keys.
  int64_t sq = 0;
  int64_t batch = 16, heads = 32, kvHeads = 8; ///< of decoding
  /// What the scale is multiplied by.
  double logits = 1;
  bool verboseClock = false;
};

/// Parses the arguments after the program's name. On an error returns nothing
/// and sets `error` to one line.
std::optional<Options> parseCommandLine(const std::vector<std::string> &words,
                                        std::string &error);

/// The text of --help.
std::string helpText();

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_COMMANDLINE_H
