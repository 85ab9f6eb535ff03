//===- KernelChoiceTest.cpp - Picking a kernel ----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelChoice.h"

#include "Failure.h"
#include "TestLibrary.h"

#include <gtest/gtest.h>

using namespace fa;
using namespace fa::rt;
using namespace fa::test;

static json kernelFor(const std::string &arch, const std::string &format) {
  json kernel = kernelJson(arch + "_" + format);
  kernel["arch"] = arch;
  kernel["format"] = format;
  return kernel;
}

/// The name of the kernel that the problem of forwardParams gets on a device.
static std::string pickOn(const Library &library, ComputeCapability device) {
  fa_forward_params params = forwardParams();
  return library.kernel(pickKernel(library, checkProblem(&params), device))
      .name;
}

TEST(KernelChoice, PrefersTheHighestArchitectureThenCubins) {
  TestFolder folder(
      manifestJson({kernelFor("sm_80", "ptx"), kernelFor("sm_80", "cubin"),
                    kernelFor("sm_86", "cubin"), kernelFor("sm_90", "cubin"),
                    kernelFor("sm_90a", "ptx"), kernelFor("sm_90a", "cubin")}));
  Library library(folder.path());
  EXPECT_EQ(pickOn(library, {8, 0}), "sm_80_cubin");
  EXPECT_EQ(pickOn(library, {8, 9}), "sm_86_cubin");
  EXPECT_EQ(pickOn(library, {9, 0}), "sm_90a_cubin");
  EXPECT_EQ(pickOn(library, {10, 0}), "sm_80_ptx");
}

TEST(KernelChoice, PrefersTheFirstOfEqualOnes) {
  TestFolder folder(manifestJson({kernelJson("a"), kernelJson("b")}));
  EXPECT_EQ(pickOn(Library(folder.path()), {8, 0}), "a");
}

TEST(KernelChoice, PrefersTheFewestRowsThatHoldTheProblem) {
  auto upTo = [](const char *name, int rows) {
    json kernel = kernelJson(name);
    if (rows)
      kernel["max_rows"] = rows;
    return kernel;
  };
  TestFolder folder(
      manifestJson({upTo("any", 0), upTo("short", 1024), upTo("decode", 16)}));
  Library library(folder.path());
  fa_forward_params params = forwardParams();
  Problem problem = checkProblem(&params);
  auto pick = [&](int64_t rows) {
    problem.seqQ = rows;
    return library.kernel(pickKernel(library, problem, {8, 0})).name;
  };
  EXPECT_EQ(pick(16), "decode");
  EXPECT_EQ(pick(17), "short");
  EXPECT_EQ(pick(1024), "short");
  EXPECT_EQ(pick(1025), "any");
}

TEST(KernelChoice, SaysWhichArchitecturesThereAre) {
  TestFolder folder(
      manifestJson({kernelFor("sm_90a", "cubin"), kernelFor("sm_80", "cubin"),
                    kernelFor("sm_80", "ptx")}));
  Library library(folder.path());
  EXPECT_EQ(failureOf([&] {
              pickOn(library, {7, 5});
            }),
            "no kernel for fwd bf16, head_dim 128, head_dim_v 128, variant "
            "causal runs on this device (sm_75): " +
                folder.path() + " has sm_80, sm_80 (ptx), sm_90a");
}

TEST(KernelChoice, SaysWhichProblemIsMissing) {
  TestFolder folder(manifestJson({kernelJson("a")}));
  Library library(folder.path());
  fa_forward_params params = forwardParams();
  params.variant = nullptr;
  EXPECT_EQ(failureOf([&] {
              pickKernel(library, checkProblem(&params), {8, 0});
            }),
            folder.path() + " has no kernel for fwd bf16, head_dim 128, "
                            "head_dim_v 128, variant full");
}

TEST(KernelChoice, NeedsGqaForFewerKvHeads) {
  fa_forward_params params = forwardParams();
  params.k.sizes[1] = params.v.sizes[1] = 1;
  Problem problem = checkProblem(&params);
  json plain = kernelJson("plain"), grouped = kernelJson("grouped");
  grouped["gqa"] = true;
  TestFolder without(manifestJson({plain}));
  TestFolder with(manifestJson({plain, grouped}));
  EXPECT_EQ(pickKernel(Library(with.path()), problem, {8, 0}), 1u);
  EXPECT_EQ(failureOf([&] {
              pickKernel(Library(without.path()), problem, {8, 0});
            }),
            "the kernels of " + without.path() +
                " for fwd bf16, head_dim 128, head_dim_v 128, variant causal "
                "need as many kv_heads as heads (found heads 3, kv_heads 1)");
}

TEST(KernelChoice, AGivenKernelMustMatch) {
  TestFolder folder(manifestJson({kernelJson("a")}));
  Library library(folder.path());
  fa_forward_params params = forwardParams();
  Problem problem = checkProblem(&params);
  auto refusal = [&] {
    return failureOf([&] { requireMatch(library.kernel(0), problem); });
  };
  EXPECT_EQ(refusal(), "");
  problem.dtype = FA_F16;
  EXPECT_EQ(refusal(), "kernel a: dtype must be bf16 (found f16)");
  problem.dtype = FA_BF16;
  problem.headDim = 64;
  EXPECT_EQ(refusal(), "kernel a: head_dim must be 128 (found 64)");
  problem.headDim = 128;
  problem.headDimV = 64;
  EXPECT_EQ(refusal(), "kernel a: head_dim_v must be 128 (found 64)");
  problem.headDimV = 128;
  problem.variant = "full";
  EXPECT_EQ(refusal(), "kernel a: variant must be causal (found full)");
  problem.variant = "causal";
  problem.kvHeads = 1;
  EXPECT_EQ(refusal(), "kernel a: kv_heads must be 3 (found 1)");
}
