//===- CApiTest.cpp - The C API -------------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "flashloom/fa_runtime.h"

#include "FakeDriver.h"
#include "TestLibrary.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace fa;
using namespace fa::test;

namespace {

class CApi : public testing::Test {
protected:
  CApi() : folder(manifestJson({kernelJson("a"), makeSm90()})) {
    EXPECT_EQ(fa_library_open(folder.path().c_str(), &library), FA_SUCCESS)
        << fa_last_error();
  }
  ~CApi() override { fa_library_close(library); }

  static json makeSm90() {
    json kernel = kernelJson("b");
    kernel["arch"] = "sm_90a";
    return kernel;
  }

  FakeDriver fake;
  TestFolder folder;
  fa_library *library = nullptr;
};

} // namespace

TEST_F(CApi, ListsKernels) {
  EXPECT_EQ(fa_library_kernel_count(library), 2u);
  EXPECT_EQ(fa_library_kernel_count(nullptr), 0u);
  fa_kernel_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(fa_library_kernel_info(library, 1, &info), FA_SUCCESS);
  EXPECT_STREQ(info.name, "b");
  EXPECT_STREQ(info.arch, "sm_90a");
  EXPECT_STREQ(info.format, "cubin");
  EXPECT_STREQ(info.variant, "causal");
  EXPECT_EQ(info.dtype, FA_BF16);
  EXPECT_EQ(info.head_dim, 128);
  EXPECT_EQ(info.registers, 255);
  EXPECT_TRUE(fake.calls.empty());
}

TEST_F(CApi, RefusesWrongInfoCalls) {
  fa_kernel_info info = {};
  EXPECT_EQ(fa_library_kernel_info(library, 0, &info), FA_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(fa_last_error()), "info: struct_size must be " +
                                              std::to_string(sizeof(info)) +
                                              " (found 0)");
  info.struct_size = sizeof(info);
  EXPECT_EQ(fa_library_kernel_info(library, 2, &info), FA_INVALID_ARGUMENT);
  EXPECT_EQ(fa_library_kernel_info(nullptr, 0, &info), FA_INVALID_ARGUMENT);
  EXPECT_STREQ(fa_last_error(), "library: must not be NULL (found NULL)");
}

TEST_F(CApi, ForwardLaunchesThePickedKernel) {
  fa_forward_params params = forwardParams();
  size_t index = 0;
  ASSERT_EQ(fa_forward_pick(library, &params, &index), FA_SUCCESS);
  EXPECT_EQ(index, 1u);
  ASSERT_EQ(fa_forward(library, &params, nullptr), FA_SUCCESS);
  fake.context = 2, fake.minor = 6, fake.major = 8;
  ASSERT_EQ(fa_forward(library, &params, nullptr), FA_SUCCESS);
  EXPECT_EQ(fake.images,
            (std::vector<std::string>{"image of b", "image of a"}));
  EXPECT_EQ(fake.launches.size(), 2u);
}

TEST_F(CApi, ForwardReportsWhatDoesNotFit) {
  fa_forward_params params = forwardParams();
  fake.major = 7;
  EXPECT_EQ(fa_forward(library, &params, nullptr), FA_NO_KERNEL);
  params.scale = -1;
  EXPECT_EQ(fa_forward(library, &params, nullptr), FA_INVALID_ARGUMENT);
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(CApi, EmptyForwardNeedsNoDriver) {
  fa_forward_params params = forwardParams();
  for (fa_tensor *t : {&params.q, &params.k, &params.v, &params.o, &params.lse})
    t->sizes[0] = 0;
  EXPECT_EQ(fa_forward(library, &params, nullptr), FA_SUCCESS);
  EXPECT_TRUE(fake.calls.empty());
}

TEST_F(CApi, LaunchesAGivenKernel) {
  fa_forward_params params = forwardParams();
  ASSERT_EQ(fa_kernel_launch(library, 0, &params, nullptr), FA_SUCCESS);
  EXPECT_EQ(fake.images, std::vector<std::string>{"image of a"});
  params.variant = "full";
  EXPECT_EQ(fa_kernel_launch(library, 0, &params, nullptr),
            FA_INVALID_ARGUMENT);
  EXPECT_EQ(fa_kernel_launch(library, 5, &params, nullptr),
            FA_INVALID_ARGUMENT);
}

TEST_F(CApi, LoadsAheadOfALaunch) {
  ASSERT_EQ(fa_kernel_load(library, 0), FA_SUCCESS);
  EXPECT_EQ(fake.count("moduleLoadData"), 1u);
  fa_forward_params params = forwardParams();
  ASSERT_EQ(fa_kernel_launch(library, 0, &params, nullptr), FA_SUCCESS);
  EXPECT_EQ(fake.count("moduleLoadData"), 1u);
}

TEST_F(CApi, SaysWhichKernelsFit) {
  int32_t fits = -1;
  ASSERT_EQ(fa_kernel_fits(library, 0, &fits), FA_SUCCESS);
  EXPECT_EQ(fits, 0);
  ASSERT_EQ(fa_kernel_fits(library, 1, &fits), FA_SUCCESS);
  EXPECT_EQ(fits, 1);
  fake.context = 0;
  EXPECT_EQ(fa_kernel_fits(library, 1, &fits), FA_NO_DRIVER);
}

TEST_F(CApi, ReportsAFailedLaunch) {
  fa_forward_params params = forwardParams();
  fake.failures["launchKernel"] = 1;
  EXPECT_EQ(fa_forward(library, &params, nullptr), FA_DRIVER_ERROR);
  EXPECT_STREQ(fa_last_error(), "launching kernel b failed: CUDA_ERROR_FAKE: a "
                                "fake error");
}

TEST_F(CApi, KeepsErrorsPerThread) {
  EXPECT_EQ(fa_kernel_load(library, 9), FA_INVALID_ARGUMENT);
  std::string other = "unset";
  std::thread([&] { other = fa_last_error(); }).join();
  EXPECT_EQ(other, "");
  EXPECT_STREQ(fa_last_error(), "kernel index must be below 2 (found 9)");
}

TEST(CApiOpen, FailsWithANullLibrary) {
  fa_library *library = reinterpret_cast<fa_library *>(1);
  EXPECT_EQ(fa_library_open("/nonexistent", &library), FA_INVALID_LIBRARY);
  EXPECT_EQ(library, nullptr);
  EXPECT_EQ(fa_library_open(nullptr, &library), FA_INVALID_ARGUMENT);
  EXPECT_EQ(fa_library_open("/nonexistent", nullptr), FA_INVALID_ARGUMENT);
  fa_library_close(nullptr);
}

TEST(CApiStatus, HasNames) {
  for (int status = FA_SUCCESS; status <= FA_INTERNAL_ERROR; ++status)
    EXPECT_EQ(std::strncmp(fa_status_name(fa_status(status)), "FA_", 3), 0);
  EXPECT_STREQ(fa_status_name(fa_status(99)), "unknown status");
}

/// The most that the library itself may take of a launch, in microseconds; on
/// an idle machine it is about one.
static constexpr double kMostMicroseconds = 5;

TEST_F(CApi, ALaunchCostsTheHostLittle) {
  fa_forward_params params = forwardParams();
  ASSERT_EQ(fa_forward(library, &params, nullptr), FA_SUCCESS)
      << fa_last_error();
  double least = 1e9;
  for (int batch = 0; batch < 50; ++batch) {
    const int calls = 100;
    fake.launches.clear();
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i)
      fa_forward(library, &params, nullptr);
    std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - start;
    least = std::min(least, elapsed.count() / calls);
  }
  RecordProperty("microseconds", std::to_string(least));
  EXPECT_LT(least, kMostMicroseconds);
}
