//===- TensorMapTest.cpp - The maps that a launch builds ------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"
#include "Launch.h"
#include "TestLibrary.h"

#include <gtest/gtest.h>
#include <thread>

using namespace fa;
using namespace fa::rt;
using namespace fa::test;

/// The parameters before the maps: 5 descriptors and the scale.
static constexpr size_t kSlots = 4 * 11 + 9 + 1;

static json mapJson(const char *tensor, int64_t rows) {
  return {{"tensor", tensor}, {"rows", rows}, {"cols", 128}, {"swizzle", 128}};
}

static json mappedKernel() {
  json entry = kernelJson("a");
  entry["tensor_maps"] = {mapJson("k", 128), mapJson("o", 64)};
  return entry;
}

static void launchWith(const json &entry, const fa_forward_params &params) {
  TestFolder folder(manifestJson({entry}));
  Library library(folder.path());
  launch(library, 0, checkProblem(&params), params, nullptr);
}

TEST(TensorMap, ComesAfterTheOtherParameters) {
  FakeDriver fake;
  fake.paramCount = kSlots + 2;
  launchWith(mappedKernel(), forwardParams());
  ASSERT_EQ(fake.maps.size(), 2u);
  EXPECT_EQ(fake.launches[0].slots[kSlots], 0u);
  EXPECT_EQ(fake.launches[0].slots[kSlots + 1], 1u);
}

TEST(TensorMap, IsMadeOnceForATensorAtAPlace) {
  FakeDriver fake;
  fake.paramCount = kSlots + 2;
  TestFolder folder(manifestJson({mappedKernel()}));
  Library library(folder.path());
  fa_forward_params params = forwardParams();
  auto encoded = [&] {
    launch(library, 0, checkProblem(&params), params, nullptr);
    return fake.maps.size();
  };
  EXPECT_EQ(encoded(), 2u);
  EXPECT_EQ(encoded(), 2u) << "nothing changed";
  EXPECT_EQ(fake.launches[0].slots, fake.launches[1].slots);
  params.k.data = reinterpret_cast<void *>(0x21000);
  EXPECT_EQ(encoded(), 3u) << "another place";
  params.k.strides[2] += 8;
  EXPECT_EQ(encoded(), 4u) << "other strides";
  params.k.sizes[2] = params.v.sizes[2] = 100;
  EXPECT_EQ(encoded(), 5u) << "other sizes";
  EXPECT_EQ(fake.launches.back().slots[kSlots], 4u);
  EXPECT_EQ(fake.launches.back().slots[kSlots + 1], 1u) << "o's";
  fake.context = 2, fake.device = 1;
  EXPECT_EQ(encoded(), 7u) << "another device";
  std::thread([&] { EXPECT_EQ(encoded(), 9u); }).join();
}

TEST(TensorMap, IsNotKeptWhereTheDriverRefusesIt) {
  FakeDriver fake;
  fake.failures["tensorMapEncodeTiled"] = 1;
  for (int i = 0; i < 2; ++i)
    EXPECT_NE(failureOf([] {
                launchWith(mappedKernel(), forwardParams());
              }).find("encoding the tensor map of k for kernel a"),
              std::string::npos);
  EXPECT_TRUE(fake.launches.empty());
}

TEST(TensorMap, CutsRowsIntoChunksOfTheSwizzle) {
  FakeDriver fake;
  fa_forward_params params = forwardParams(); // k: [2, 3, 200, 128]
  launchWith(mappedKernel(), params);
  ASSERT_EQ(fake.maps.size(), 2u);
  const RecordedMap &k = fake.maps[0];
  EXPECT_EQ(k.type, 9);
  EXPECT_EQ(k.swizzle, 3);
  EXPECT_EQ(k.address, params.k.data);
  EXPECT_EQ(k.dims, (std::vector<uint64_t>{64, 200, 2, 3, 2}));
  EXPECT_EQ(k.strides, (std::vector<uint64_t>{256, 128, 51200, 153600}));
  EXPECT_EQ(k.box, (std::vector<uint32_t>{64, 128, 2, 1, 1}));
  EXPECT_EQ(k.steps, (std::vector<uint32_t>{1, 1, 1, 1, 1}));
  EXPECT_EQ(fake.maps[1].box[1], 64u);
}

TEST(TensorMap, NarrowSwizzlesHaveNarrowChunks) {
  FakeDriver fake;
  json entry = mappedKernel();
  entry["tensor_maps"] = {mapJson("q", 64)};
  entry["tensor_maps"][0]["swizzle"] = 64;
  launchWith(entry, forwardParams());
  EXPECT_EQ(fake.maps[0].swizzle, 2);
  EXPECT_EQ(fake.maps[0].dims[0], 32u);
  EXPECT_EQ(fake.maps[0].dims[2], 4u);
  EXPECT_EQ(fake.maps[0].strides[1], 64u);
}

TEST(TensorMap, RowsOfPartChunksAreOneDimension) {
  FakeDriver fake;
  fa_forward_params params = forwardParams();
  for (fa_tensor *t : {&params.q, &params.k, &params.v, &params.o})
    t->sizes[3] = 96;
  json entry = mappedKernel();
  entry["head_dim"] = entry["head_dim_v"] = 96;
  for (json &map : entry["tensor_maps"])
    map["cols"] = 96;
  launchWith(entry, params);
  const RecordedMap &k = fake.maps[0];
  EXPECT_EQ(k.dims, (std::vector<uint64_t>{96, 200, 1, 3, 2}));
  EXPECT_EQ(k.strides, (std::vector<uint64_t>{256, 16, 51200, 153600}));
  EXPECT_EQ(k.box, (std::vector<uint32_t>{64, 128, 1, 1, 1}));
}

/// The kernel "a" with a bias [heads, seq_q, seq_kv] of f32, mapped by tiles of
/// 64 x 64.
static json biasKernel() {
  json entry = kernelJson("a");
  json bias = json::parse(R"({"kind": "tensor", "name": "bias", "dtype": "f32",
    "rank": 3, "sizes": [["heads"], ["seq_q"], ["seq_kv"]]})");
  json &params = entry["params"];
  params.insert(params.begin() + 4, bias);
  entry["tensor_maps"] = {mapJson("bias", 64)};
  entry["tensor_maps"][0]["cols"] = 64;
  return entry;
}

namespace {
/// Arguments for that kernel: 3 heads, 300 queries, 200 keys.
struct BiasArguments {
  BiasArguments() : params(forwardParams()) {
    bias.name = "bias";
    bias.kind = FA_EXTRA_TENSOR;
    bias.tensor = {reinterpret_cast<void *>(0x60010),
                   FA_F32,
                   3,
                   {3, 300, 200, 0},
                   {60000, 200, 1, 0}};
    params.extras = &bias;
    params.num_extras = 1;
  }
  BiasArguments(const BiasArguments &) = delete;

  fa_extra bias = {};
  fa_forward_params params;
};
} // namespace

TEST(TensorMap, ExtrasOfAnyLengthAreMappedByRows) {
  FakeDriver fake;
  BiasArguments arguments;
  launchWith(biasKernel(), arguments.params);
  ASSERT_EQ(fake.maps.size(), 1u);
  const RecordedMap &bias = fake.maps[0];
  EXPECT_EQ(bias.type, 7);
  EXPECT_EQ(bias.address, arguments.bias.tensor.data);
  EXPECT_EQ(bias.dims, (std::vector<uint64_t>{200, 300, 1, 3, 1}));
  EXPECT_EQ(bias.strides, (std::vector<uint64_t>{800, 16, 240000, 16}));
  EXPECT_EQ(bias.box, (std::vector<uint32_t>{32, 64, 1, 1, 1}));

  // A length that happens to be of whole chunks makes no difference, and
  // neither does a bias that all heads share.
  arguments.bias.tensor.strides[0] = 0;
  arguments.params.k.sizes[2] = arguments.params.v.sizes[2] = 192;
  arguments.bias.tensor.sizes[2] = 192;
  launchWith(biasKernel(), arguments.params);
  EXPECT_EQ(fake.maps[1].dims, (std::vector<uint64_t>{192, 300, 1, 3, 1}));
  EXPECT_EQ(fake.maps[1].strides[2], 0u);
}

TEST(TensorMap, ExtrasOfAKnownLengthAreMappedByChunks) {
  FakeDriver fake;
  json entry = biasKernel();
  entry["params"][4]["sizes"][2] = {"seq_kv", 192};
  BiasArguments arguments;
  arguments.params.k.sizes[2] = arguments.params.v.sizes[2] = 192;
  arguments.bias.tensor.sizes[2] = 192;
  launchWith(entry, arguments.params);
  EXPECT_EQ(fake.maps[0].dims, (std::vector<uint64_t>{32, 300, 6, 3, 1}));
  EXPECT_EQ(fake.maps[0].box, (std::vector<uint32_t>{32, 64, 2, 1, 1}));
}

TEST(TensorMap, ExtrasMustLieAsMapsWantThem) {
  FakeDriver fake;
  BiasArguments arguments;
  arguments.bias.tensor.data = reinterpret_cast<void *>(0x60004);
  EXPECT_EQ(failureOf([&] { launchWith(biasKernel(), arguments.params); }),
            "bias: data must be aligned to 16 bytes (found 0x60004)");
  arguments.bias.tensor.data = reinterpret_cast<void *>(0x60000);
  arguments.bias.tensor.strides[1] = 201;
  EXPECT_EQ(failureOf([&] { launchWith(biasKernel(), arguments.params); }),
            "bias: stride of dimension 1 must be a multiple of 4 elements (16 "
            "bytes) (found 201)");
  EXPECT_TRUE(fake.launches.empty());
}

TEST(TensorMap, WithoutKeysItMapsSomethingElseThanAnExtra) {
  FakeDriver fake;
  BiasArguments arguments;
  fa_forward_params &params = arguments.params;
  params.k.sizes[2] = params.v.sizes[2] = arguments.bias.tensor.sizes[2] = 0;
  params.k.data = params.v.data = arguments.bias.tensor.data = nullptr;
  launchWith(biasKernel(), params);
  EXPECT_EQ(fake.maps[0].address, params.q.data);
  EXPECT_EQ(fake.maps[0].dims, (std::vector<uint64_t>{1, 1, 1, 1, 1}));
}

TEST(TensorMap, StridesAlongSize1AreAnything) {
  FakeDriver fake;
  fa_forward_params params = forwardParams();
  for (fa_tensor *t : {&params.q, &params.k, &params.v, &params.o, &params.lse})
    t->sizes[0] = 1;
  params.k.strides[0] = 13;
  launchWith(mappedKernel(), params);
  EXPECT_EQ(fake.maps[0].strides[3], 16u);
}

TEST(TensorMap, WithoutKeysItMapsSomethingElse) {
  FakeDriver fake;
  fa_forward_params params = forwardParams();
  params.k.sizes[2] = params.v.sizes[2] = 0;
  params.k.data = params.v.data = nullptr;
  launchWith(mappedKernel(), params);
  EXPECT_EQ(fake.maps[0].address, params.q.data);
  EXPECT_EQ(fake.maps[0].dims[1], 1u);
}

TEST(TensorMap, RefusesWhatCannotBeMapped) {
  FakeDriver fake;
  fa_forward_params params = forwardParams();
  params.o.data = reinterpret_cast<void *>(0x40004);
  EXPECT_EQ(failureOf([&] { launchWith(mappedKernel(), params); }),
            "o: data must be aligned to 16 bytes (found 0x40004)");
  params = forwardParams();
  params.o.strides[2] = 132;
  EXPECT_EQ(failureOf([&] { launchWith(mappedKernel(), params); }),
            "o: stride of dimension 2 (seq_q) must be a multiple of 8 elements "
            "(16 bytes) (found 132)");
  EXPECT_TRUE(fake.launches.empty());
}

TEST(TensorMap, ReportsOldDrivers) {
  FakeDriver fake;
  fake.table.tensorMapEncodeTiled = nullptr;
  EXPECT_EQ(failureOf([&] { launchWith(mappedKernel(), forwardParams()); }),
            "the CUDA driver is too old: it has no cuTensorMapEncodeTiled");
}

TEST(TensorMap, ReportsTheDriversRefusal) {
  FakeDriver fake;
  fake.failures["tensorMapEncodeTiled"] = 1;
  EXPECT_EQ(failureOf([&] { launchWith(mappedKernel(), forwardParams()); }),
            "encoding the tensor map of k for kernel a failed: "
            "CUDA_ERROR_FAKE: a fake error");
}

TEST(TensorMap, ManifestsAreChecked) {
  auto refusal = [](const char *field, const json &value) {
    json entry = mappedKernel();
    entry["tensor_maps"][0][field] = value;
    return failureOf([&] { parseManifest(manifestJson({entry}).dump(), "m"); });
  };
  for (const char *name : {"lse", "scale", "bias"})
    EXPECT_NE(refusal("tensor", name)
                  .find("tensor_maps[0].tensor must be q, k, v or o, or name "
                        "an extra tensor of params of at least two dimensions"),
              std::string::npos);
  EXPECT_NE(refusal("rows", 257).find("tensor_maps[0].rows"),
            std::string::npos);
  EXPECT_NE(refusal("swizzle", 48).find("must be 0, 32, 64 or 128"),
            std::string::npos);
  EXPECT_NE(refusal("cols", 96).find("must be the head dimension, or less"),
            std::string::npos);
}

TEST(PersistentGrid, HasAtMostWhatTheDeviceHolds) {
  FakeDriver fake;
  json entry = kernelJson("a"); // 3 * 3 * 2 tiles
  entry["blocks_per_sm"] = 2;
  launchWith(entry, forwardParams());
  EXPECT_EQ(fake.launches[0].grid[0], 8u);
  fake.context = 2, fake.device = 1;
  fake.multiprocessors = 100;
  launchWith(entry, forwardParams());
  EXPECT_EQ(fake.launches[1].grid[0], 18u);
}
