//===- CommandLineTest.cpp - The options of fa-bench ----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "Stopwatch.h"

#include <gtest/gtest.h>

using namespace fa::bench;

static std::string errorOf(const std::vector<std::string> &words) {
  std::string error;
  bool accepted = parseCommandLine(words, error).has_value();
  EXPECT_EQ(accepted, error.empty());
  return error;
}

static Options parsed(const std::vector<std::string> &words) {
  std::string error;
  std::optional<Options> options = parseCommandLine(words, error);
  EXPECT_TRUE(options) << error;
  return options.value_or(Options{});
}

TEST(CommandLine, ReadsCheckOptions) {
  Options options =
      parsed({"check", "dir", "--kernel", "d128", "--sizes", "1,2,3,4;5,6,7,8",
              "--seed=9", "--dist=large:12", "--layout", "bhsd",
              "--timeout-s=1.5", "--verbose"});
  EXPECT_EQ(options.verb, Verb::Check);
  EXPECT_EQ(options.directory, "dir");
  EXPECT_EQ(options.kernel, "d128");
  ASSERT_EQ(options.sizes.size(), 2u);
  EXPECT_EQ(options.sizes[1], (std::array<int64_t, 5>{5, 6, 0, 7, 8}));
  EXPECT_EQ(options.seed, 9u);
  EXPECT_EQ(options.distribution.kind, Distribution::Large);
  EXPECT_EQ(options.layout, Layout::Bhsd);
  EXPECT_EQ(options.timeoutS, 1.5);
  EXPECT_TRUE(options.verbose);
}

TEST(CommandLine, ReadsTimeOptions) {
  Options options = parsed({"time", "--name=mine", "--seqs", "128,256", "dir",
                            "--runs=5", "--warmup", "0", "--verbose-clock"});
  EXPECT_EQ(options.verb, Verb::Time);
  EXPECT_EQ(options.directory, "dir");
  EXPECT_EQ(options.name, "mine");
  EXPECT_EQ(options.seqs, (std::vector<int64_t>{128, 256}));
  EXPECT_TRUE(options.lens.empty());
  EXPECT_EQ(parsed({"time", "dir", "--lens=1,17"}).lens,
            (std::vector<int64_t>{1, 17}));
  EXPECT_EQ(options.runs, 5);
  EXPECT_EQ(options.warmup, 0);
  EXPECT_TRUE(options.verboseClock);
}

TEST(CommandLine, HelpWinsAndNamesEveryFlag) {
  EXPECT_EQ(parsed({"--help"}).verb, Verb::Help);
  EXPECT_EQ(parsed({"check", "-h"}).verb, Verb::Help);
  for (const char *flag : {"--kernel", "--layout", "--timeout-s", "--seed",
                           "--sizes", "--dist", "--verbose", "--name", "--seqs",
                           "--runs", "--warmup", "--verbose-clock"})
    EXPECT_NE(helpText().find(flag), std::string::npos) << flag;
}

TEST(CommandLine, RefusesWrongUsage) {
  EXPECT_EQ(errorOf({}),
            "a verb is missing (known: check, time, ablate, selftest, "
            "launch, run, tune, soak)");
  EXPECT_EQ(errorOf({"tow"}),
            "unknown verb tow (known: check, time, ablate, selftest, "
            "launch, run, tune, soak)");
  EXPECT_EQ(errorOf({"check"}), "the library's folder is missing");
  EXPECT_EQ(errorOf({"check", "a", "b"}), "one folder, not also b");
  EXPECT_EQ(errorOf({"check", "a", "--fast"}), "unknown option --fast");
  EXPECT_EQ(errorOf({"check", "a", "--runs=3"}),
            "--runs is an option of time, ablate, run, tune only");
  EXPECT_EQ(errorOf({"check", "a", "--seed"}), "--seed needs a value: N");
  EXPECT_EQ(errorOf({"check", "a", "--verbose=1"}), "--verbose takes no value");
}

TEST(CommandLine, TuneHasATable) {
  Options options = parsed({"tune", "lib", "-o", "t.json", "--merge"});
  EXPECT_EQ(options.table, "t.json");
  EXPECT_TRUE(options.merge);
  EXPECT_EQ(options.warmup, 3);
  EXPECT_EQ(errorOf({"tune", "lib", "--merge"}), "--merge needs -o FILE");
  EXPECT_EQ(errorOf({"tune", "lib", "-o"}), "-o needs a value: FILE");
  EXPECT_EQ(errorOf({"time", "lib", "-o", "t.json"}),
            "-o is an option of tune only");
}

TEST(CommandLine, RefusesWrongValues) {
  EXPECT_EQ(errorOf({"check", "a", "--sizes=1,2,3"}),
            "--sizes must be B,H[/Hkv],Sq,Skv;... (found 1,2,3)");
  for (const char *word :
       {"--sizes=1,2,3,x", "--sizes=", "--seed=-1", "--dist=odd",
        "--layout=sbhd", "--timeout-s=0", "--timeout-s=x", "--timeout-s=nan"})
    EXPECT_NE(errorOf({"check", "a", word}), "") << word;
  for (const char *word : {"--seqs=0", "--lens=0", "--seqs=1,,2", "--runs=0",
                           "--warmup=-1", "--name=a,b"})
    EXPECT_NE(errorOf({"time", "a", word}), "") << word;
}

TEST(Stopwatch, MedianIsTheMiddle) {
  EXPECT_EQ(median({5}), 5);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}
