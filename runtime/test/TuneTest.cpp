//===- TuneTest.cpp - Which candidate wins, and the table -----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contenders.h"
#include "TestLibrary.h"
#include "TunedTable.h"

#include <gtest/gtest.h>

using namespace fa::bench;
using namespace fa::test;

namespace {

Contest contestOf(const std::vector<std::vector<double>> &rates) {
  Contest contest;
  contest.title = "a problem";
  for (size_t i = 0; i < rates.size(); ++i)
    contest.contenders.push_back(
        {i, "kernel" + std::to_string(i), {{"bc", 16 * (i + 1)}}, rates[i]});
  return contest;
}

Json problemOf(int headDim, double rate) {
  Json problem = {{"dtype", "bf16"},
                  {"head_dim", headDim},
                  {"head_dim_v", headDim},
                  {"variant", "full"}};
  problem["classes"] = Json::array({{{"tflops", Json::array({rate})}}});
  return problem;
}

} // namespace

TEST(Tune, SortsLengthsIntoClasses) {
  std::vector<LengthClass> classes =
      classesOf({512, 1024, 2048, 4096, 8192, 16384});
  ASSERT_EQ(classes.size(), 3u);
  EXPECT_EQ(classes[0].maxRows, 1024);
  EXPECT_EQ(classes[0].cells, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(classes[1].maxRows, 4096);
  EXPECT_EQ(classes[2].maxRows, 0);
  EXPECT_EQ(classes[2].cells, (std::vector<size_t>{4, 5}));
}

TEST(Tune, TheLongestLengthsSpeakForAllLongerOnes) {
  std::vector<LengthClass> classes = classesOf({2048, 512});
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[0].maxRows, 1024);
  EXPECT_EQ(classes[0].cells, (std::vector<size_t>{1}));
  EXPECT_EQ(classes[1].maxRows, 0);
}

TEST(Tune, TheDefaultStaysUnlessAnotherIsClearlyFaster) {
  LengthClass both{0, {0, 1}};
  Contest::Result result =
      contestOf({{500, 600}, {504, 606}, {400, 400}}).decide(both);
  EXPECT_EQ(result.winner, 0u) << "0.9% is noise";
  EXPECT_EQ(result.runnerUp, 1u);
  result = contestOf({{500, 600}, {510, 606}, {400, 400}}).decide(both);
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(result.runnerUp, 0u);
}

TEST(Tune, LengthsOfAClassCountAlike) {
  // 10% faster at one length, 5% slower at the other, whatever the rates.
  Contest contest = contestOf({{100, 1000}, {110, 950}});
  EXPECT_EQ(contest.decide({0, {0, 1}}).winner, 1u);
  EXPECT_EQ(contest.decide({0, {0}}).winner, 1u);
  EXPECT_EQ(contest.decide({0, {1}}).winner, 0u);
}

TEST(Tune, WithoutTheDefaultTheBestWins) {
  Contest contest = contestOf({{900}, {500}, {501}});
  contest.drop(0);
  EXPECT_FALSE(contest.hasDefault);
  EXPECT_EQ(contest.contenders[contest.decide({0, {0}}).winner].index, 2u);
  Json classes = contest.describeClasses({512});
  EXPECT_FALSE(classes[0].contains("default_tflops"));
}

TEST(Tune, DescribesClasses) {
  Json classes =
      contestOf({{500.04, 600}, {400, 700}}).describeClasses({1024, 2048});
  EXPECT_EQ(classes.dump(),
            R"([{"max_rows":1024,"schedule":{"bc":16},"seqs":[1024],)"
            R"("tflops":[500.0],"default_tflops":[500.0],)"
            R"("runner_up":{"schedule":{"bc":32},"tflops":[400.0]}},)"
            R"({"schedule":{"bc":32},"seqs":[2048],"tflops":[700.0],)"
            R"("default_tflops":[600.0],)"
            R"("runner_up":{"schedule":{"bc":16},"tflops":[600.0]}}])");
}

TEST(Tune, ALoneCandidateHasNoRunnerUp) {
  Json classes = contestOf({{500}}).describeClasses({512});
  EXPECT_FALSE(classes[0].contains("runner_up"));
}

TEST(TunedTable, ReplacesAProblemAndKeepsTheOthers) {
  TestFolder folder(std::string("{}"));
  std::string path = folder.path() + "/table.json";
  TunedTable first("sm_90a");
  first.add(problemOf(64, 1));
  first.add(problemOf(128, 2));
  first.write(path);
  TunedTable second = TunedTable::read(path, "sm_90a");
  second.add(problemOf(64, 3));
  Json table = Json::parse(second.text());
  ASSERT_EQ(table["problems"].size(), 2u);
  EXPECT_EQ(table["problems"][0]["classes"][0]["tflops"][0], 3.0);
  EXPECT_EQ(table["problems"][1]["head_dim"], 128);
}

TEST(TunedTable, IsEmptyWithoutAFile) {
  EXPECT_EQ(TunedTable::read("/nonexistent/table.json", "sm_90a").text(),
            "{\"flashloom_tuned\":1,\"arch\":\"sm_90a\",\"problems\":[]}\n");
}

TEST(TunedTable, LeavesOtherFilesAlone) {
  TestFolder folder(std::string("{}"));
  for (const char *text :
       {"", "[]", "{\"flashloom_tuned\":1,\"arch\":\"sm_80\",\"problems\":[]}",
        "{\"flashloom_tuned\":2,\"arch\":\"sm_90a\",\"problems\":[]}",
        "{\"flashloom_tuned\":1,\"arch\":\"sm_90a\",\"problems\":[{}]}",
        "{\"flashloom_tuned\":\"1\",\"arch\":\"sm_90a\",\"problems\":[]}"}) {
    folder.write("table.json", text);
    std::string path = folder.path() + "/table.json";
    std::string message = failureOf([&] { TunedTable::read(path, "sm_90a"); });
    EXPECT_EQ(message.rfind(path + " is no tuned table of sm_90a", 0), 0u)
        << text << ": " << message;
  }
}

TEST(TunedTable, SaysWhenItCannotBeWritten) {
  std::string message =
      failureOf([] { TunedTable("sm_90a").write("/nonexistent/table.json"); });
  EXPECT_EQ(message, "/nonexistent/table.json: cannot be written: No such file "
                     "or directory");
}
