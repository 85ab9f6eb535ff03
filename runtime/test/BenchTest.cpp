//===- BenchTest.cpp - fa-bench from outside ------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the program on a fake driver that computes attention on the CPU.
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "TestLibrary.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>

using namespace fa::test;

namespace {

struct Outcome {
  int status;
  std::string out, err;
};

std::string readAll(FILE *file) {
  std::string text;
  for (int c; (c = std::fgetc(file)) != EOF;)
    text += char(c);
  return text;
}

/// Runs a program; with `gpu` on the fake driver, else on none.
Outcome runProgram(const std::string &program, const std::string &arguments,
                   bool gpu) {
  TestFolder scratch(std::string("{}"));
  std::string errors = scratch.path() + "/stderr";
  std::string libraries = gpu ? FA_FAKE_CUDA : scratch.path();
  std::string command = "LD_LIBRARY_PATH=" + libraries + " " + program + " " +
                        arguments + " 2>" + errors;
  FILE *pipe = popen(command.c_str(), "r");
  std::string out = readAll(pipe);
  int status = pclose(pipe);
  FILE *file = std::fopen(errors.c_str(), "r");
  std::string err = readAll(file);
  std::fclose(file);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out, err};
}

Outcome runBench(const std::string &arguments, bool gpu = true) {
  return runProgram(FA_BENCH, arguments, gpu);
}

/// A library of one kernel of head_dim 16 that does what `behaviour` says.
struct BenchLibrary {
  explicit BenchLibrary(const std::string &behaviour,
                        const std::string &variant = "causal")
      : folder(manifestJson({entry(variant)})) {
    folder.write("a.cubin", behaviour + " " + variant);
  }

  static json entry(const std::string &variant) {
    json kernel = kernelJson("a");
    kernel["head_dim"] = kernel["head_dim_v"] = 16;
    kernel["variant"] = variant;
    return kernel;
  }

  Outcome check(const std::string &options) const {
    return runBench("check " + folder.path() + " " + options);
  }

  TestFolder folder;
};

const char *const kSizes =
    "--sizes '2,3,1,20;2,3,5,2;2,3,33,71;1,1,0,16;1,2,16,0;2,2,17,17'";

} // namespace

TEST(Bench, UsageErrorsExit2) {
  Outcome outcome = runBench("tow dir");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "fa-bench: unknown verb tow (known: check, time, "
                         "ablate, selftest, launch, run, tune, soak)\n"
                         "Try fa-bench --help.\n");
  EXPECT_EQ(runBench("--help").status, 0);
}

TEST(Bench, ExitsWith77WithoutAGpu) {
  BenchLibrary library("right");
  Outcome outcome = runBench("check " + library.folder.path(), false);
  // A machine with a real driver finds that one.
  if (outcome.status == 0 || outcome.status == 1)
    GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(outcome.status, 77);
  EXPECT_EQ(outcome.err.rfind("fa-bench: no GPU: ", 0), 0u) << outcome.err;
}

TEST(Bench, ABadLibraryExits1) {
  Outcome outcome = runBench("check /nonexistent");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "fa-bench: /nonexistent/manifest.json: cannot be "
                         "read: No such file or directory\n");
}

TEST(Bench, ADeepManifestExits1) {
  const size_t depth = 60000;
  TestFolder folder("{\"flashloom\": 1, \"generator\": \"x\", \"kernels\": " +
                    std::string(depth, '[') + std::string(depth, ']') + "}");
  Outcome outcome = runBench("check " + folder.path());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "fa-bench: " + folder.path() +
                             "/manifest.json: arrays and objects must not be "
                             "nested more than 32 deep\n");
}

TEST(Bench, ARightKernelPasses) {
  for (const char *variant : {"causal", "full"})
    for (const char *layout : {"bshd", "bhsd"}) {
      Outcome outcome = BenchLibrary("right", variant)
                            .check(kSizes + std::string(" --layout=") + layout);
      EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
      EXPECT_NE(outcome.out.find("1 kernels, 6 problems, 0 failed\n"),
                std::string::npos)
          << outcome.out;
    }
}

TEST(Bench, LaunchesMayShareLists) {
  BenchLibrary library("right");
  Outcome outcome = library.check(std::string(kSizes) + " --keep-lists");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  // The second launch's result is what counts.
  outcome =
      BenchLibrary("second-wrong").check("--sizes '1,1,5,5' --keep-lists");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_EQ(BenchLibrary("second-wrong").check("--sizes '1,1,5,5'").status, 0);
}

TEST(Bench, VerboseHasALineForEachProblem) {
  Outcome outcome =
      BenchLibrary("right").check(std::string(kSizes) + " --verbose");
  EXPECT_NE(outcome.out.find("ok   a b2 h3 q33 kv71: o "), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("rows 198 of 198\n"), std::string::npos);
}

TEST(Bench, PassesOtherDistributions) {
  for (const char *dist : {"large:12", "constant:256"}) {
    Outcome outcome = BenchLibrary("right").check(
        kSizes + std::string(" --seed=3 --dist=") + dist);
    EXPECT_EQ(outcome.status, 0) << dist << "\n" << outcome.out;
  }
}

TEST(Bench, FindsEachFault) {
  const std::pair<const char *, const char *> faults[] = {
      {"wrong", "; worst o at batch "},
      {"unwritten", "column 0 is unwritten"},
      {"guard", "; o was written at batch "},
      {"nan-keys", "column 0 is NaN"},
  };
  for (auto [behaviour, text] : faults) {
    Outcome outcome =
        BenchLibrary(behaviour, "full").check("--sizes=2,3,33,71");
    EXPECT_EQ(outcome.status, 1) << behaviour;
    EXPECT_NE(outcome.out.find("FAIL a b2 h3 q33 kv71: "), std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find(text), std::string::npos) << outcome.out;
  }
}

TEST(Bench, ReportsAHang) {
  Outcome outcome = BenchLibrary("hang").check("--sizes=1,1,8,8 "
                                               "--timeout-s=0.2");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.out, "HANG a on b1 h1 q8 kv8\n");
}

TEST(Bench, ReportsAFault) {
  Outcome outcome = BenchLibrary("fault").check("--sizes=1,1,8,8");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out.rfind("FAIL a on b1 h1 q8 kv8 failed: "
                              "CUDA_ERROR_FAKE: a fake error; stopped\n",
                              0),
            0u)
      << outcome.out;
}

TEST(Bench, RefusesVariantsWithoutAReference) {
  Outcome outcome = BenchLibrary("right", "spiral").check("--sizes=1,1,8,8");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find(
                "FAIL a: no reference for variant spiral (there "
                "is: full, causal, window1024, "
                "softcap, alibi, document, bias, prefix-lm, cache, packed)\n"),
            std::string::npos)
      << outcome.out;
}

TEST(Bench, SaysWhenNoKernelFits) {
  Outcome outcome = BenchLibrary("right").check("--kernel=sm_90");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("none named like sm_90 runs on this device "
                             "(sm_80)\n"),
            std::string::npos)
      << outcome.err;
}

TEST(Bench, PrintsTimingsAsCsv) {
  BenchLibrary library("hollow");
  json kernel = BenchLibrary::entry("causal");
  // Few rows, so that the fake's launches stay short.
  kernel["head_dim"] = kernel["head_dim_v"] = 1024;
  TestFolder folder(manifestJson({kernel}));
  Outcome outcome = runBench("time " + folder.path() +
                             " --seqs=2 --runs=1 --warmup=0 --name=mine");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  // 4 * 8192 * 2 * 2 * 2 * 1024 / 2 FLOPs in half a millisecond.
  EXPECT_EQ(outcome.out,
            "peer,pass,dtype,head_dim,head_dim_v,variant,batch,heads,kv_heads,"
            "seq_q,seq_kv,median_ms,rate\n"
            "mine,fwd,bf16,1024,1024,causal,8192,2,2,2,2,0.5000,0.3\n");
  EXPECT_EQ(outcome.err,
            "# Fake GPU, sm_80, CUDA driver 13.0, ptxas 13.0.88\n");
}

TEST(Bench, TimesTheKernelThatIsMeantForEachLength) {
  json few = BenchLibrary::entry("causal"), any = few;
  few["max_rows"] = 2;
  any["name"] = "any";
  any["file"] = "any.cubin";
  for (json *kernel : {&few, &any})
    (*kernel)["head_dim"] = (*kernel)["head_dim_v"] = 1024;
  TestFolder folder(manifestJson({few, any}));
  folder.write("a.cubin", "hollow causal");
  folder.write("any.cubin", "hollow fast causal");
  Outcome outcome = runBench("time " + folder.path() +
                             " --seqs=2,4 --runs=1 --warmup=0 --name=mine");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(",2,2,0.5000,"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find(",4,4,0.5000,"), std::string::npos) << outcome.out;
}

TEST(Bench, SelftestHasALineForEachKernel) {
  Outcome outcome = runBench("selftest " + BenchLibrary("right").folder.path());
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("ok   a: 6 problems, 0 failed, "),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(
      outcome.out.find("Fake GPU, sm_80, CUDA driver 13.0, ptxas 13.0.88: "),
      std::string::npos)
      << outcome.out;
}

TEST(Bench, SelftestFindsAFault) {
  Outcome outcome =
      runBench("selftest " + BenchLibrary("nan-keys", "full").folder.path());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("FAIL a: 6 problems, "), std::string::npos)
      << outcome.out;
}

namespace {

/// Two steps of one problem, of few rows, which the fake takes half a
/// millisecond for each.
json ladderManifest() {
  std::vector<json> kernels;
  for (const char *pipeline : {"fa1", "fa2"}) {
    json kernel = BenchLibrary::entry("causal");
    kernel["name"] = pipeline;
    kernel["pipeline"] = pipeline;
    kernel["file"] = std::string(pipeline) + ".cubin";
    kernel["head_dim"] = kernel["head_dim_v"] = 1024;
    kernels.push_back(kernel);
  }
  return manifestJson(kernels);
}

} // namespace

TEST(Bench, AblatePrintsATableAndCsv) {
  TestFolder folder(ladderManifest());
  for (const char *pipeline : {"fa1", "fa2"})
    folder.write(std::string(pipeline) + ".cubin", "right causal");
  std::string options = " --seqs=2 --runs=1 --warmup=0";
  Outcome outcome = runBench("ablate " + folder.path() + options);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("bf16, D 1024, causal, batch 8192, heads 2, S 2"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("  fa2                       0.500"),
            std::string::npos)
      << outcome.out;
  outcome = runBench("ablate " + folder.path() + options + " --csv --name=x");
  EXPECT_NE(outcome.out.find("\nx-fa2,fwd,bf16,1024,1024,causal,8192,2,2,2,2,"
                             "0.5000,"),
            std::string::npos)
      << outcome.out;
}

TEST(Bench, AblateChecksEachStep) {
  TestFolder folder(ladderManifest());
  folder.write("fa1.cubin", "wrong causal");
  folder.write("fa2.cubin", "right causal");
  Outcome outcome =
      runBench("ablate " + folder.path() + " --seqs=2 --runs=1 --warmup=0");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out.rfind("FAIL fa1 b2 h3 q1 kv20: ", 0), 0u)
      << outcome.out;
}

TEST(Bench, AblateNeedsTwoKernelsOfOneProblem) {
  Outcome outcome = runBench("ablate " + BenchLibrary("right").folder.path());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("make it with fa-gen --ablation\n"),
            std::string::npos)
      << outcome.err;
}

namespace {

/// Candidates of one problem, and what the fake does for each.
struct CandidateLibrary {
  explicit CandidateLibrary(const std::vector<std::string> &behaviours)
      : folder(manifest(behaviours.size())) {
    for (size_t i = 0; i < behaviours.size(); ++i)
      folder.write(nameOf(i) + ".cubin", behaviours[i] + " causal");
  }

  static std::string nameOf(size_t i) { return "c" + std::to_string(i); }

  static json manifest(size_t count) {
    std::vector<json> kernels;
    for (size_t i = 0; i < count; ++i) {
      json kernel = kernelJson(nameOf(i));
      kernel["head_dim"] = kernel["head_dim_v"] = 16;
      kernel["tuning"] = {{"bc", 16 * (i + 1)}};
      kernels.push_back(kernel);
    }
    return manifestJson(kernels);
  }

  Outcome tune(const std::string &options) const {
    return runBench("tune " + folder.path() +
                    " --seqs=512,2048 --runs=3 --warmup=0 " + options);
  }

  json table() const {
    std::ifstream file(folder.path() + "/table.json");
    return json::parse(file);
  }

  std::string output() const { return "-o " + folder.path() + "/table.json"; }

  TestFolder folder;
};

} // namespace

TEST(Bench, TuneWritesTheFastestThatIsRight) {
  CandidateLibrary library({"small", "small fast", "small fast wrong"});
  Outcome outcome = library.tune(library.output());
  EXPECT_EQ(outcome.status, 1) << "one is wrong";
  EXPECT_EQ(outcome.out.rfind("FAIL c2 b2 h3 q1 kv20: ", 0), 0u) << outcome.out;
  EXPECT_NE(outcome.out.find("rows up to 1024: c1, 2.000 of the first\n"),
            std::string::npos)
      << outcome.out;
  json table = library.table();
  EXPECT_EQ(table["arch"], "sm_80");
  const json &problem = table["problems"][0];
  EXPECT_EQ(problem["card"], "Fake GPU");
  EXPECT_EQ(problem["driver"], "13.0");
  EXPECT_EQ(problem["head_dim"], 16);
  ASSERT_EQ(problem["classes"].size(), 2u);
  EXPECT_EQ(problem["classes"][0]["max_rows"], 1024);
  EXPECT_EQ(problem["classes"][1]["schedule"]["bc"], 32);
  EXPECT_EQ(problem["classes"][1]["runner_up"]["schedule"]["bc"], 16);
}

TEST(Bench, TuneMergesIntoATable) {
  CandidateLibrary library({"small", "small"});
  library.folder.write(
      "table.json", R"({"flashloom_tuned": 1, "arch": "sm_80", "problems": [)"
                    R"({"dtype": "f16", "head_dim": 16, "head_dim_v": 16,)"
                    R"( "variant": "causal", "classes": []}]})");
  Outcome outcome = library.tune(library.output() + " --merge");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  json table = library.table();
  ASSERT_EQ(table["problems"].size(), 2u);
  EXPECT_EQ(table["problems"][0]["dtype"], "f16");
  EXPECT_EQ(table["problems"][1]["classes"][0]["schedule"]["bc"], 16)
      << "equal speed leaves the default";
}

TEST(Bench, TuneNeverChoosesFromWrongOnesAlone) {
  CandidateLibrary library({"small wrong", "small unwritten"});
  Outcome outcome = library.tune(library.output());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("no candidate of bf16, D 16, causal is right\n"),
            std::string::npos)
      << outcome.err;
  EXPECT_FALSE(std::ifstream(library.folder.path() + "/table.json").good());
}

TEST(Bench, TuneNeedsCandidates) {
  Outcome outcome = runBench("tune " + BenchLibrary("right").folder.path());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("make them with fa-gen --candidates\n"),
            std::string::npos)
      << outcome.err;
}

TEST(Bench, TuneSpoilsNoOtherFile) {
  CandidateLibrary library({"small"});
  library.folder.write("table.json", "my notes");
  Outcome outcome = library.tune(library.output() + " --merge");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("table.json is no tuned table of sm_80"),
            std::string::npos)
      << outcome.err;
}

TEST(Bench, SoakFindsNothingInARightKernel) {
  Outcome outcome = runBench("soak " + BenchLibrary("right").folder.path() +
                             " --launches=16 --seed=1");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(
      outcome.out.rfind("ok   a: 16 launches on 4 shapes, 0 changed, ", 0), 0u)
      << outcome.out;
}

TEST(Bench, SoakFindsWhatChangesOrIsNotWritten) {
  for (const char *behaviour : {"drifting", "unwritten"}) {
    Outcome outcome =
        runBench("soak " + BenchLibrary(behaviour, "full").folder.path() +
                 " --launches=4");
    EXPECT_EQ(outcome.status, 1) << behaviour;
    EXPECT_NE(outcome.out.find(": o of launch 2 differs from that of launch 1 "
                               "at byte "),
              std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("FAIL a: 4 launches on 1 shapes, 1 changed, "),
              std::string::npos)
        << outcome.out;
  }
}

TEST(Bench, SoakNamesKernelAndShapeOfAHang) {
  Outcome outcome = runBench("soak " + BenchLibrary("hang").folder.path() +
                             " --timeout-s=0.2");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.out.rfind("HANG a on b", 0), 0u) << outcome.out;
}

TEST(Bench, LaunchPrintsWhatACallCosts) {
  Outcome outcome = runBench("launch " + BenchLibrary("right").folder.path() +
                             " --launches=300");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("dtype,head_dim,variant,median_us,least_us,"
                              "driver_us,buffer_us,ours_us\n"
                              "bf16,16,causal,",
                              0),
            0u)
      << outcome.out;
}

namespace {

/// A folder of a program that does what `behaviour` says, and of its tensors.
struct ProgramCase {
  explicit ProgramCase(const std::string &behaviour)
      : library(programManifest({programJson("gemm_sm_80")})),
        data(std::string("{}")) {
    library.write("gemm_sm_80.cubin", behaviour + " gemm");
    constexpr int64_t rows = 5, depth = 64, cols = 32;
    write("a", {rows, depth}, [](int64_t i) { return double(i % 7 - 3); });
    write("b", {depth, cols}, [](int64_t i) { return double(i % 5 - 2); });
    write("bias", {}, [](int64_t) { return 0.5; });
    write("result.reference", {rows, cols}, [](int64_t i) {
      double sum = 0.5;
      for (int64_t k = 0; k < depth; ++k)
        sum += double((i / cols * depth + k) % 7 - 3) *
               double((k * cols + i % cols) % 5 - 2);
      return std::max(sum, 0.0);
    });
  }

  template <typename Value>
  void write(const std::string &name, const std::vector<int64_t> &shape,
             Value value) const {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    fa::bench::NpyArray array{shape, {}};
    for (int64_t i = 0; i < count; ++i)
      array.values.push_back(value(i));
    writeNpy(data.path() + "/" + name + ".npy", array);
  }

  Outcome run(const std::string &options = "") const {
    return runBench("run " + library.path() + " --data=" + data.path() +
                    " --runs=1 --warmup=0 " + options);
  }

  TestFolder library, data;
};

} // namespace

TEST(Bench, RunComparesAProgram) {
  ProgramCase program("right");
  std::string folder = program.data.path() + "/out";
  Outcome outcome = program.run("--program=gemm --output=" + folder);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out.rfind("ok   result: error ", 0), 0u) << outcome.out;
  EXPECT_NE(outcome.out.find(", elements 160\ngemm_sm_80 on Fake GPU, sm_80, "
                             "CUDA driver 13.0: median 0.5000 ms of 1"),
            std::string::npos)
      << outcome.out;
  EXPECT_EQ(fa::bench::readNpy(folder + "/result.npy").shape,
            (std::vector<int64_t>{5, 32}));
}

TEST(Bench, RunFindsFaultsOfAProgram) {
  EXPECT_EQ(ProgramCase("wrong").run().status, 1);
  Outcome outcome = ProgramCase("unwritten").run();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("; element 128 is unwritten\n"), std::string::npos)
      << outcome.out;
  outcome = ProgramCase("guard").run();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out.rfind("FAIL result: was written behind its end\n", 0),
            0u)
      << outcome.out;
}

TEST(Bench, RunSaysWhatIsMissing) {
  ProgramCase program("right");
  EXPECT_EQ(runBench("run " + program.library.path()).err,
            "fa-bench: --data, the folder of the program's tensors, is "
            "missing\nTry fa-bench --help.\n");
  EXPECT_EQ(program.run("--program=conv").err,
            "fa-bench: the library has no program conv (there is: "
            "gemm_sm_80)\n");
  program.data.remove("result.reference.npy");
  Outcome outcome = program.run();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out.rfind("-    result: not compared, there is no ", 0), 0u)
      << outcome.out;
  program.write("b", {3, 32}, [](int64_t) { return 1; });
  EXPECT_EQ(program.run().err,
            "fa-bench: b: size of dimension 0 must be 64 (found 3)\n");
  program.data.remove("b.npy");
  EXPECT_NE(program.run().err.find("/b.npy: cannot be read: "),
            std::string::npos);
}

TEST(Example, RunsFromAllocationToResults) {
  json kernel = kernelJson("a");
  kernel["dtype"] = "f16";
  kernel["head_dim"] = kernel["head_dim_v"] = 64;
  TestFolder folder(manifestJson({kernel}));
  folder.write("a.cubin", "right causal");
  Outcome outcome = runProgram(FA_EXAMPLE, folder.path(), /*gpu=*/true);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("1 kernels\n"), std::string::npos);
  EXPECT_NE(outcome.out.find(", o[1] is v[1]\n"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("FA_INVALID_ARGUMENT: "), std::string::npos)
      << outcome.out;
}

TEST(Example, SaysWhatIsMissing) {
  Outcome outcome = runProgram(FA_EXAMPLE, "/nonexistent", /*gpu=*/true);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("/nonexistent/manifest.json: cannot be read"),
            std::string::npos)
      << outcome.err;
}
