//===- FuzzTest.cpp - What the fuzzer is made of -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../fuzz/Corpus.h"
#include "../fuzz/Isolation.h"
#include "../fuzz/Mutator.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <set>

using namespace fa::fuzz;

namespace {

constexpr char kText[] =
    "func.func @f(%q: tensor<1x?x64xf16>) -> !t attributes {a = \"b c\"} {\n"
    "  %0 = attn.x ins(%q) {n = -3 : i64}\n  return\n}\n";

TEST(Tokens, JoinToTheSameText) {
  std::vector<Token> tokens = splitTokens(kText);
  EXPECT_EQ(joinTokens(tokens), kText);
  std::set<std::string> texts;
  for (const Token &token : tokens)
    texts.insert(token.text);
  for (const char *text : {"func.func", "@f", "%q", "!t", "\"b c\"", "-3"})
    EXPECT_TRUE(texts.count(text)) << text;
  EXPECT_TRUE(splitTokens("").empty());
  EXPECT_EQ(joinTokens(splitTokens("\"open")), "\"open");
}

/// A corpus of one file with two modules.
Corpus makeCorpus() {
  llvm::SmallString<64> folder;
  EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("fuzz", folder));
  std::string file = (folder + "/a.mlir").str();
  {
    std::error_code error;
    llvm::raw_fd_ostream stream(file, error);
    stream << "// RUN: fa-opt\n" << kText << "// -----\nmodule @m {} // end\n";
  }
  auto read = Corpus::read({std::string(folder)});
  EXPECT_FALSE(llvm::sys::fs::remove_directories(folder));
  Corpus corpus = llvm::cantFail(std::move(read));
  llvm::cantFail(corpus.classify(
      [](llvm::StringRef text) { return text.starts_with("func"); }));
  return corpus;
}

TEST(Corpus, HoldsModulesWithoutComments) {
  Corpus corpus = makeCorpus();
  ASSERT_EQ(corpus.texts().size(), 2u);
  EXPECT_EQ(corpus.texts()[0], kText);
  EXPECT_EQ(corpus.texts()[1], "module @m {}\n");
  ASSERT_EQ(corpus.validTexts().size(), 1u);
  EXPECT_EQ(corpus.validTexts()[0], kText);
  auto missing = Corpus::read({std::string("/no/such/folder")});
  EXPECT_FALSE(static_cast<bool>(missing));
  llvm::consumeError(missing.takeError());
}

TEST(Mutator, FollowsItsSeed) {
  Corpus corpus = makeCorpus();
  std::set<std::string> mutants;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random first(seed), second(seed);
    std::string mutant = mutate(corpus, first);
    EXPECT_EQ(mutant, mutate(corpus, second));
    mutants.insert(mutant);
  }
  EXPECT_GT(mutants.size(), 200u);
}

TEST(Isolation, GoesOnBehindACrash) {
  std::vector<std::string> crashes;
  Limits limits;
  limits.seconds = 1;
  auto makeRunner = []() -> std::function<Outcome(uint64_t)> {
    return [](uint64_t item) {
      llvm::errs() << "item " << item;
      if (item == 13)
        std::raise(SIGSEGV);
      if (item == 15)
        std::abort();
      if (item == 17)
        for (volatile bool forever = true; forever;)
          ;
      if (item == 19)
        std::exit(3);
      return item % 2 ? Outcome::Lowered : Outcome::Rejected;
    };
  };
  Summary summary =
      runIsolated({10, 22}, 5, limits, makeRunner, [&](const Crash &crash) {
        EXPECT_EQ(crash.output, "item " + std::to_string(crash.item));
        crashes.push_back(std::to_string(crash.item) + ": " + crash.reason);
      });
  EXPECT_EQ(crashes, (std::vector<std::string>{
                         "13: Segmentation fault", "15: Aborted",
                         "17: took more than 1 s", "19: exited with 3"}));
  EXPECT_EQ(summary.crashes, 4u);
  EXPECT_EQ(summary.outcomes[static_cast<size_t>(Outcome::Rejected)], 6u);
  EXPECT_EQ(summary.outcomes[static_cast<size_t>(Outcome::Lowered)], 2u);
}

TEST(Isolation, LimitsMemory) {
  Limits limits;
  limits.memoryBytes = 64 << 20;
  auto makeRunner = []() -> std::function<Outcome(uint64_t)> {
    return [](uint64_t) {
      std::vector<char> large(1 << 30, 1);
      return large.empty() ? Outcome::Refused : Outcome::Lowered;
    };
  };
  Summary summary =
      runIsolated({0, 1}, 1, limits, makeRunner, [](const Crash &) {});
  EXPECT_EQ(summary.crashes, 1u);
}

} // namespace
