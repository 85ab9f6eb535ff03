//===- ProgramTest.cpp - Kernels that are no attention --------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "FakeDriver.h"
#include "TestLibrary.h"

#include <gtest/gtest.h>

using namespace fa;
using namespace fa::rt;
using namespace fa::test;

/// Parameters of programJson: three descriptors of rank 2 and the bias.
static constexpr size_t kSlots = 3 * 7 + 1;

static fa_extra matrix(const char *name, uintptr_t address, int64_t rows,
                       int64_t cols) {
  fa_extra extra = {};
  extra.name = name;
  extra.kind = FA_EXTRA_TENSOR;
  extra.tensor.data = reinterpret_cast<void *>(address);
  extra.tensor.dtype = FA_BF16;
  extra.tensor.rank = 2;
  extra.tensor.sizes[0] = rows;
  extra.tensor.sizes[1] = cols;
  makeDense(extra.tensor);
  return extra;
}

/// The arguments of programJson with `rows` rows.
static std::vector<fa_extra> gemmArguments(int64_t rows) {
  fa_extra bias = {};
  bias.name = "bias";
  bias.kind = FA_EXTRA_SCALAR;
  bias.dtype = FA_F32;
  bias.f32 = 1;
  return {matrix("result", 0x30000, rows, 32), matrix("a", 0x10000, rows, 64),
          matrix("b", 0x20000, 64, 32), bias};
}

static void launchGemm(const json &program,
                       const std::vector<fa_extra> &arguments) {
  TestFolder folder(programManifest({program}));
  Library library(folder.path());
  launchProgram(library, findProgram(library, "gemm"), arguments.data(),
                arguments.size(), nullptr);
}

static std::string refusal(const std::vector<fa_extra> &arguments) {
  FakeDriver fake;
  fake.major = 8;
  return failureOf([&] { launchGemm(programJson("gemm_sm_80"), arguments); });
}

TEST(Program, PassesArgumentsInTheManifestsOrder) {
  FakeDriver fake;
  fake.major = 8;
  fake.paramCount = kSlots;
  launchGemm(programJson("gemm_sm_80"), gemmArguments(130));
  ASSERT_EQ(fake.launches.size(), 1u);
  const RecordedLaunch &launch = fake.launches[0];
  EXPECT_EQ(launch.grid[0], 3u * 2);
  EXPECT_EQ(launch.block[0], 64u);
  EXPECT_EQ(launch.sharedBytes, 24576u);
  std::vector<uint64_t> a(launch.slots.begin(), launch.slots.begin() + 7);
  EXPECT_EQ(a, (std::vector<uint64_t>{0x10000, 0x10000, 0, 130, 64, 64, 1}));
  EXPECT_EQ(launch.slots[14] & 0xffffffff, 0x3f800000u);
  EXPECT_EQ(launch.slots[15], 0x30000u);
}

TEST(Program, MapsMatricesAsOneHead) {
  FakeDriver fake;
  fake.paramCount = kSlots + 1;
  json program = programJson("gemm_sm_90a");
  program["arch"] = "sm_90a";
  program["tensor_maps"] = {
      {{"tensor", "a"}, {"rows", 64}, {"cols", 64}, {"swizzle", 128}}};
  launchGemm(program, gemmArguments(130));
  ASSERT_EQ(fake.maps.size(), 1u);
  EXPECT_EQ(fake.maps[0].dims, (std::vector<uint64_t>{64, 130, 1, 1, 1}));
  EXPECT_EQ(fake.maps[0].strides, (std::vector<uint64_t>{128, 16, 16, 16}));
  EXPECT_EQ(fake.maps[0].box, (std::vector<uint32_t>{64, 64, 1, 1, 1}));
}

TEST(Program, WithoutRowsLaunchesNothing) {
  FakeDriver fake;
  fake.major = 8;
  launchGemm(programJson("gemm_sm_80"), gemmArguments(0));
  EXPECT_TRUE(fake.launches.empty());
}

TEST(Program, RefusesWrongArguments) {
  std::vector<fa_extra> arguments = gemmArguments(130);
  EXPECT_EQ(refusal(arguments), "");
  arguments[0].tensor.sizes[0] = 129;
  EXPECT_EQ(refusal(arguments), "result: size of dimension 0 must be 130 (as "
                                "dimension 0 of a) (found 129)");
  arguments = gemmArguments(130);
  arguments[2].tensor.sizes[0] = 65;
  EXPECT_EQ(refusal(arguments), "b: size of dimension 0 must be 64 (found 65)");
  arguments = gemmArguments(130);
  arguments[1].tensor.strides[0] = 65;
  EXPECT_EQ(refusal(arguments), "a: stride of dimension 0 must be a multiple "
                                "of 8 elements (16 bytes) (found 65)");
  arguments = gemmArguments(130);
  arguments[0].tensor.strides[0] = 0;
  EXPECT_EQ(refusal(arguments), "result: stride of dimension 0 must not be 0, "
                                "since outputs would overlap (found 0)");
  arguments = gemmArguments(130);
  arguments[1].tensor.dtype = FA_F16;
  EXPECT_EQ(refusal(arguments), "a: dtype must be bf16 (found f16)");
  arguments = gemmArguments(130);
  arguments.pop_back();
  EXPECT_EQ(refusal(arguments), "extras: kernel gemm_sm_80 needs the scalar "
                                "bias of f32 (found none of that name)");
}

TEST(Program, IsFoundByNameOrEntry) {
  json higher = programJson("gemm_sm_90a");
  higher["arch"] = "sm_90a";
  TestFolder folder(programManifest({programJson("gemm_sm_80"), higher}));
  Library library(folder.path());
  FakeDriver fake;
  EXPECT_EQ(findProgram(library, "gemm"), 1u);
  EXPECT_EQ(findProgram(library, "gemm_sm_90a"), 1u);
  fake.context = 2, fake.major = 8;
  EXPECT_EQ(findProgram(library, "gemm"), 0u);
  EXPECT_EQ(failureOf([&] { findProgram(library, "gemm_sm_90a"); }),
            "the program gemm_sm_90a is for other devices than this one "
            "(sm_80)");
  EXPECT_EQ(failureOf([&] { findProgram(library, "conv"); }),
            "the library has no program conv (there is: gemm_sm_80, "
            "gemm_sm_90a)");
}

TEST(Program, CanBeLaunchedFromC) {
  FakeDriver fake;
  fake.major = 8;
  TestFolder folder(programManifest({programJson("gemm_sm_80")}));
  fa_library *library = nullptr;
  ASSERT_EQ(fa_library_open(folder.path().c_str(), &library), FA_SUCCESS);
  EXPECT_EQ(fa_library_kernel_count(library), 0u);
  std::vector<fa_extra> arguments = gemmArguments(64);
  EXPECT_EQ(fa_program_launch(library, "gemm", arguments.data(),
                              arguments.size(), nullptr),
            FA_SUCCESS)
      << fa_last_error();
  EXPECT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fa_program_launch(library, "conv", arguments.data(),
                              arguments.size(), nullptr),
            FA_NO_KERNEL);
  EXPECT_EQ(fa_program_launch(library, nullptr, nullptr, 0, nullptr),
            FA_INVALID_ARGUMENT);
  EXPECT_EQ(fa_program_launch(library, "gemm", nullptr, 1, nullptr),
            FA_INVALID_ARGUMENT);
  EXPECT_STREQ(fa_last_error(), "extras: must not be NULL (found NULL)");
  fa_library_close(library);
}

TEST(Program, ManifestErrorsNameTheField) {
  auto failure = [](const std::function<void(json &)> &change) {
    json program = programJson("gemm_sm_80");
    change(program);
    std::string text = failureOf(
        [&] { parseManifest(programManifest({program}).dump(), "m.json"); });
    return text.substr(text.find("programs"));
  };
  EXPECT_EQ(
      failure([](json &p) { p["params"][3]["sizes"][0]["tensor"] = "x"; }),
      "programs[0].params[3].sizes[0].tensor must name a tensor of "
      "params that has dimensions (found \"x\")");
  EXPECT_EQ(failure([](json &p) { p["params"][3]["sizes"][0]["dim"] = 2; }),
            "programs[0].params[3].sizes[0].dim must be an integer from 0 to 1 "
            "(found "
            "2)");
  EXPECT_EQ(failure([](json &p) { p["params"][1]["name"] = "a"; }),
            "programs[0].params[1].name must not occur twice (found \"a\")");
  EXPECT_NE(failure([](json &p) {
              p["params"].erase(3);
            }).find("must have a tensor that is an output"),
            std::string::npos);
  EXPECT_EQ(failure([](json &p) { p["grid"][0]["tensor"] = "bias"; }),
            "programs[0].grid[0].tensor must name a tensor of params that has "
            "dimensions (found \"bias\")");
  json map = {{"tensor", "a"}, {"rows", 64}, {"cols", 48}, {"swizzle", 128}};
  EXPECT_EQ(failure([&](json &p) { p["tensor_maps"] = {map}; }),
            "programs[0].tensor_maps[0].cols must be the row's size, or less "
            "and both multiples of the swizzle's 64 elements (found 48)");
}
