//===- RecentCallsTest.cpp - Calls that are like one before ---------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "flashloom/fa_runtime.h"

#include "FakeDriver.h"
#include "TestLibrary.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace fa;
using namespace fa::test;

namespace {

using Params = fa_forward_params &;

void *address(uintptr_t value) { return reinterpret_cast<void *>(value); }

/// Bytes of the parameters of kernelJson's kernel: 5 descriptors, the scale.
std::vector<size_t> paramSizes() {
  std::vector<size_t> sizes(4 * 11 + 9 + 1, 8);
  sizes[33] = 4;
  return sizes;
}

/// A kernel for sm_90a that maps q and v, and one that takes extras.
json library() {
  json maps = kernelJson("maps");
  maps["arch"] = "sm_90a";
  for (const char *name : {"q", "v"})
    maps["tensor_maps"].push_back(
        json{{"tensor", name}, {"rows", 64}, {"cols", 64}, {"swizzle", 128}});
  json extras = kernelJson("extras");
  extras["variant"] = "mine";
  extras["params"].push_back(json{{"kind", "tensor"},
                                  {"name", "ids"},
                                  {"dtype", "i32"},
                                  {"rank", 1},
                                  {"sizes", {{"batch"}}}});
  extras["params"].push_back(
      json{{"kind", "scalar"}, {"name", "cap"}, {"dtype", "f32"}});
  json decode = decodeJson("decode");
  decode["arch"] = "sm_90";
  return manifestJson({maps, kernelJson("plain"), extras, decode});
}

class Recent : public testing::Test {
protected:
  Recent() : folder(::library()) { open(); }
  ~Recent() override { fa_library_close(library); }

  void open() {
    EXPECT_EQ(fa_library_open(folder.path().c_str(), &library), FA_SUCCESS);
  }

  /// The number of calls that the driver saw during a launch.
  size_t forward(const fa_forward_params &params) {
    const size_t before = fake.calls.size();
    EXPECT_EQ(fa_forward(library, &params, nullptr), FA_SUCCESS)
        << fa_last_error();
    return fake.calls.size() - before;
  }

  /// What a call says after it was changed, which a call before it was not.
  std::string refusal(const std::function<void(Params)> &change) {
    fa_forward_params params = valid();
    forward(params);
    change(params);
    const size_t launches = fake.launches.size();
    EXPECT_NE(fa_forward(library, &params, nullptr), FA_SUCCESS);
    EXPECT_EQ(fake.launches.size(), launches);
    return fa_last_error();
  }

  virtual fa_forward_params valid() { return forwardParams(); }

  FakeDriver fake;
  TestFolder folder;
  fa_library *library = nullptr;
};

/// The word at an offset of a launch's parameters.
uint64_t wordAt(const RecordedLaunch &launch, size_t offset) {
  uint64_t word = 0;
  std::memcpy(&word, launch.buffer.data() + offset, sizeof(word));
  return word;
}

} // namespace

TEST_F(Recent, AskTheDriverForTheContextAndLaunch) {
  fa_forward_params params = forwardParams();
  EXPECT_GT(forward(params), 2u);
  fake.calls.clear();
  EXPECT_EQ(forward(params), 2u);
  EXPECT_EQ(fake.calls, (std::vector<std::string>{"ctxGetId", "launchKernel"}));
}

TEST_F(Recent, WriteTheirAddresses) {
  fake.paramSizes = paramSizes();
  fake.paramSizes.resize(56, 128);
  fa_forward_params params = forwardParams();
  forward(params);
  params.q.data = address(0x90000);
  params.lse.data = address(0xa0000);
  forward(params);
  ASSERT_EQ(fake.launches.size(), 2u);
  RecordedLaunch &first = fake.launches[0], &second = fake.launches[1];
  ASSERT_EQ(first.buffer.size(), 448u + 2 * 128);
  ASSERT_EQ(second.buffer.size(), first.buffer.size());
  for (size_t offset : {0, 8}) {
    EXPECT_EQ(wordAt(first, offset), 0x10000u) << "q";
    EXPECT_EQ(wordAt(second, offset), 0x90000u);
    EXPECT_EQ(wordAt(second, 45 * 8 + offset), 0xa0000u) << "lse";
  }
  EXPECT_EQ(wordAt(second, 16), 0u) << "q's offset";
  EXPECT_EQ(wordAt(second, 11 * 8), 0x20000u) << "k";
  EXPECT_EQ(second.grid[0], first.grid[0]);
  // The map of q is another, that of v the same.
  ASSERT_EQ(fake.maps.size(), 3u);
  EXPECT_EQ(fake.maps[2].address, address(0x90000));
  EXPECT_EQ(wordAt(first, 448), 0u);
  EXPECT_EQ(wordAt(second, 448), 2u);
  EXPECT_EQ(wordAt(second, 448 + 128), 1u);
}

TEST_F(Recent, WorkWithDriversThatTakeAddressesAlone) {
  fake.paramCount = 54;
  fa_forward_params params = forwardParams();
  forward(params);
  params.o.data = address(0x90000);
  forward(params);
  ASSERT_EQ(fake.launches.size(), 2u);
  std::vector<uint64_t> wanted = fake.launches[0].slots;
  EXPECT_EQ(wanted[34], 0x40000u);
  wanted[34] = wanted[35] = 0x90000;
  EXPECT_EQ(fake.launches[1].slots, wanted);
}

TEST_F(Recent, AreCheckedWhereTheirAddressesAreWrong) {
  EXPECT_EQ(refusal([](Params p) { p.q.data = address(0x10008); }),
            "q: data must be aligned to 16 bytes (found 0x10008)");
  EXPECT_EQ(refusal([](Params p) { p.o.data = address(0x10004); }),
            "o: data must be aligned to 16 bytes (found 0x10004)");
  EXPECT_EQ(refusal([](Params p) { p.v.data = nullptr; }),
            "v: data must not be NULL (found NULL)");
  EXPECT_EQ(refusal([](Params p) { p.k.data = nullptr; }),
            "k: data must not be NULL (found NULL)");
  EXPECT_EQ(refusal([](Params p) { p.lse.data = address(0x10002); }),
            "lse: data must be aligned to 4 bytes (found 0x10002)");
}

TEST_F(Recent, AreCheckedWhereAnythingElseDiffers) {
  EXPECT_EQ(refusal([](Params p) { p.k.strides[2] = 132; }),
            "k: stride of dimension 2 (seq_kv) must be a multiple of 8 "
            "elements (16 bytes) (found 132)");
  EXPECT_EQ(refusal([](Params p) { p.lse.dtype = FA_BF16; }),
            "lse: dtype must be f32 (found bf16)");
  EXPECT_EQ(refusal([](Params p) { p.scale = -1; }),
            "scale: must be finite and positive (found -1.000000)");
  EXPECT_EQ(refusal([](Params p) { p.splits = 2; }),
            "splits: must be 0 or 1: kernel maps does not split the keys "
            "(found 2)");
  EXPECT_EQ(refusal([](Params p) { p.flags = 2; }),
            "flags: must be bits of fa_forward_flag (found 2)");
  EXPECT_EQ(refusal([](Params p) { p.num_extras = 1; }),
            "extras: must not be NULL (found NULL)");
  EXPECT_NE(refusal([](Params p) { p.variant = "other"; }).find("no kernel"),
            std::string::npos);
  EXPECT_EQ(refusal([](Params p) { p.struct_size = 8; }),
            "params: struct_size must be " +
                std::to_string(sizeof(fa_forward_params)) + " (found 8)");
  EXPECT_EQ(fa_forward(library, nullptr, nullptr), FA_INVALID_ARGUMENT);
}

TEST_F(Recent, AreOfOneScaleAndSize) {
  fake.paramSizes = paramSizes();
  fake.paramSizes.resize(56, 128);
  fa_forward_params params = forwardParams();
  forward(params);
  params.scale = 0.5f;
  forward(params);
  EXPECT_EQ(wordAt(fake.launches[1], 33 * 8) & 0xffffffff, 0x3f000000u);
  params.q.sizes[2] = params.o.sizes[2] = params.lse.sizes[2] = 100;
  forward(params);
  EXPECT_EQ(wordAt(fake.launches[2], 5 * 8), 100u);
}

TEST_F(Recent, TakeTurns) {
  fa_forward_params causal = forwardParams(), longer = forwardParams();
  longer.k.sizes[2] = longer.v.sizes[2] = 190;
  fa_forward_params others = forwardParams();
  for (int i = 0; i < 3; ++i) {
    const bool isFirst = i == 0;
    EXPECT_EQ(forward(causal) == 2, !isFirst);
    EXPECT_EQ(forward(longer) == 2, !isFirst);
  }
  // More kinds than are kept: the first one was forgotten, and is right.
  for (int rows = 1; rows <= 20; ++rows) {
    others.k.sizes[2] = others.v.sizes[2] = rows;
    forward(others);
  }
  EXPECT_GT(forward(causal), 2u);
  EXPECT_EQ(forward(causal), 2u);
}

TEST_F(Recent, AreOfOneContext) {
  fa_forward_params params = forwardParams();
  forward(params);
  fake.context = 2;
  forward(params);
  EXPECT_EQ(fake.count("moduleLoadData"), 2u);
  EXPECT_NE(fake.launches[0].function, fake.launches[1].function);
  forward(params);
  EXPECT_EQ(fake.launches[1].function, fake.launches[2].function);
  fake.context = 1;
  EXPECT_EQ(forward(params), 2u);
  EXPECT_EQ(fake.launches[3].function, fake.launches[0].function);
  fake.context = 0;
  EXPECT_EQ(fa_forward(library, &params, nullptr), FA_NO_DRIVER);
  EXPECT_STREQ(fa_last_error(), "no CUDA context is current on this thread");
}

TEST_F(Recent, AreOfOneLibrary) {
  fa_forward_params params = forwardParams();
  forward(params);
  fa_library_close(library);
  open();
  forward(params);
  EXPECT_EQ(fake.count("moduleLoadData"), 2u);
}

TEST_F(Recent, AreOfTheKernelThatWasAskedFor) {
  fa_forward_params params = forwardParams();
  forward(params);
  ASSERT_EQ(fa_kernel_launch(library, 1, &params, nullptr), FA_SUCCESS);
  ASSERT_EQ(fa_kernel_launch(library, 1, &params, nullptr), FA_SUCCESS);
  forward(params);
  EXPECT_EQ(fake.images,
            (std::vector<std::string>{"image of maps", "image of plain"}));
  EXPECT_EQ(fake.launches[1].function, fake.launches[2].function);
  EXPECT_EQ(fake.launches[3].function, fake.launches[0].function);
  EXPECT_EQ(fa_kernel_launch(library, size_t(-1), &params, nullptr),
            FA_INVALID_ARGUMENT);
}

TEST_F(Recent, ReportAFailedLaunch) {
  fa_forward_params params = forwardParams();
  forward(params);
  fake.failures["launchKernel"] = 1;
  EXPECT_EQ(fa_forward(library, &params, nullptr), FA_DRIVER_ERROR);
  EXPECT_STREQ(fa_last_error(), "launching kernel maps failed: "
                                "CUDA_ERROR_FAKE: a fake error");
  EXPECT_EQ(fake.launches.size(), 2u) << "it is not tried twice";
}

TEST_F(Recent, ReportAMapThatTheDriverRefuses) {
  fa_forward_params params = forwardParams();
  forward(params);
  params.v.data = address(0x70000);
  fake.failures["tensorMapEncodeTiled"] = 1;
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(fa_forward(library, &params, nullptr), FA_DRIVER_ERROR);
  fake.failures.clear();
  forward(params);
  EXPECT_EQ(fake.maps.back().address, address(0x70000));
}

TEST_F(Recent, AreNotKeptForOldDrivers) {
  fake.table.ctxGetId = nullptr;
  fa_forward_params params = forwardParams();
  forward(params);
  EXPECT_GT(forward(params), 2u);
}

TEST_F(Recent, WithoutKeysAreNotKept) {
  fa_forward_params params = forwardParams();
  params.k.sizes[2] = params.v.sizes[2] = 0;
  params.k.data = params.v.data = nullptr;
  forward(params);
  EXPECT_GT(forward(params), 2u);
}

TEST_F(Recent, WorkspacesMove) {
  fa_forward_params params = forwardParams();
  for (fa_tensor *t : {&params.q, &params.o, &params.lse}) {
    t->sizes[2] = 1;
    makeDense(*t);
  }
  params.variant = "full";
  params.splits = 3;
  params.workspace = address(0x60000);
  params.workspace_bytes = 1 << 20;
  forward(params);
  fake.paramCount = 11 + 11 + 11 + 1 + 3;
  params.workspace = address(0x80000);
  // The second launch has fewer parameters than the fake would read.
  fake.paramCount = 13 + 3;
  EXPECT_EQ(forward(params), 3u);
  ASSERT_EQ(fake.launches.size(), 4u);
  EXPECT_EQ(fake.launches[3].slots[0], 0x80000u) << "acc of the merge";
  params.workspace = address(0x80008);
  EXPECT_EQ(fa_forward(library, &params, nullptr), FA_INVALID_ARGUMENT);
  EXPECT_STREQ(fa_last_error(), "workspace: address must be a multiple of 16 "
                                "bytes (found 524296)");
  params.workspace = nullptr;
  EXPECT_EQ(fa_forward(library, &params, nullptr), FA_INVALID_ARGUMENT);
  EXPECT_EQ(fake.launches.size(), 4u);
}

TEST_F(Recent, CountersMove) {
  json entry = kernelJson("a");
  entry["counter"] = true;
  entry["arch"] = "sm_90a";
  TestFolder counted(manifestJson({entry}));
  fa_library *opened = nullptr;
  ASSERT_EQ(fa_library_open(counted.path().c_str(), &opened), FA_SUCCESS);
  fa_forward_params params = forwardParams();
  params.workspace = address(0x60000);
  params.workspace_bytes = 256;
  for (uintptr_t place : {0x60000, 0x80000}) {
    params.workspace = address(place);
    EXPECT_EQ(fa_forward(opened, &params, nullptr), FA_SUCCESS)
        << fa_last_error();
    EXPECT_EQ(fake.memsets.back().address, place);
  }
  EXPECT_EQ(fake.memsets.size(), 2u);
  fa_library_close(opened);
}

namespace {
/// Calls with an extra tensor and an extra scalar.
class RecentExtras : public Recent {
protected:
  RecentExtras() {
    extras[0].name = "ids";
    extras[0].kind = FA_EXTRA_TENSOR;
    extras[0].tensor = {address(0x60004), FA_I32, 1, {2}, {1}};
    extras[1].name = "cap";
    extras[1].kind = FA_EXTRA_SCALAR;
    extras[1].dtype = FA_F32;
    extras[1].f32 = 2;
    fake.major = 8;
    fake.paramSizes = paramSizes();
    fake.paramSizes.resize(54 + 5, 8);
    fake.paramSizes.push_back(4);
  }

  fa_forward_params valid() override {
    fa_forward_params params = forwardParams();
    params.variant = "mine";
    params.extras = extras;
    params.num_extras = 2;
    return params;
  }

  fa_extra extras[2] = {};
};
} // namespace

TEST_F(RecentExtras, WriteTheirAddressesAndKeepTheirNumbers) {
  forward(valid());
  extras[0].tensor.data = address(0x70004);
  EXPECT_EQ(forward(valid()), 2u);
  EXPECT_EQ(wordAt(fake.launches[0], 54 * 8), 0x60004u);
  EXPECT_EQ(wordAt(fake.launches[1], 54 * 8), 0x70004u);
  EXPECT_EQ(wordAt(fake.launches[1], 55 * 8), 0x70004u);
  extras[1].f32 = 4;
  EXPECT_GT(forward(valid()), 2u);
  float cap = 0;
  std::memcpy(&cap, fake.launches[2].buffer.data() + 59 * 8, sizeof(cap));
  EXPECT_EQ(cap, 4.0f);
}

TEST_F(RecentExtras, AreCheckedWhereTheyAreLessAligned) {
  // What tensor maps ask for: other kernels may be content with less.
  extras[0].tensor.data = address(0x60010);
  forward(valid());
  extras[0].tensor.data = address(0x70020);
  EXPECT_EQ(forward(valid()), 2u);
  extras[0].tensor.data = address(0x70004);
  EXPECT_GT(forward(valid()), 2u);
}

TEST_F(RecentExtras, AreCheckedWhereTheyDiffer) {
  auto refusalAfter = [&](const std::function<void()> &change) {
    const fa_extra before[] = {extras[0], extras[1]};
    std::string text = refusal([&](Params) { change(); });
    std::copy(before, before + 2, extras);
    return text;
  };
  EXPECT_EQ(refusalAfter([&] { extras[0].tensor.data = address(0x60006); }),
            "ids: data must be aligned to 4 bytes (found 0x60006)");
  EXPECT_EQ(refusalAfter([&] { extras[0].tensor.data = nullptr; }),
            "ids: data must not be NULL (found NULL)");
  EXPECT_EQ(refusalAfter([&] { extras[0].tensor.sizes[0] = 3; }),
            "ids: size of dimension 0 must be 2 (batch) (found 3)");
  EXPECT_EQ(refusalAfter([&] { extras[1].name = "ids"; }),
            "extras[1]: name must not occur twice (found ids)");
  EXPECT_EQ(refusalAfter([&] { extras[1].name = nullptr; }),
            "extras[1]: name must not be NULL (found NULL)");
  EXPECT_EQ(refusalAfter([&] { extras[1].dtype = FA_I32; }),
            "cap: dtype must be f32 (found i32)");
}

TEST_F(Recent, RefuseAFileOfOtherParameters) {
  fa_forward_params params = forwardParams();
  auto refusalOf = [&](std::vector<size_t> sizes) {
    fake.paramSizes = std::move(sizes);
    fa_library_close(library);
    open();
    EXPECT_EQ(fa_kernel_launch(library, 1, &params, nullptr),
              FA_INVALID_LIBRARY);
    return std::string(fa_last_error());
  };
  fake.major = 8;
  std::vector<size_t> sizes = paramSizes();
  sizes.push_back(8);
  EXPECT_EQ(refusalOf(sizes), "kernel plain: the manifest has fewer parameters "
                              "(54) than the kernel's file (55)");
  sizes.resize(53);
  EXPECT_EQ(refusalOf(sizes), "kernel plain: the manifest has more parameters "
                              "than the kernel's file (53)");
  sizes = paramSizes();
  sizes[2] = 4;
  EXPECT_EQ(refusalOf(sizes),
            "kernel plain: parameter 2 is of 8 bytes in the manifest, but of 4 "
            "in the kernel's file");
  EXPECT_TRUE(fake.launches.empty());
}
