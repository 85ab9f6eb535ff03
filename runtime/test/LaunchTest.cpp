//===- LaunchTest.cpp - What reaches the driver ---------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include "FakeDriver.h"
#include "Plan.h"
#include "TestLibrary.h"

#include <gtest/gtest.h>

using namespace fa;
using namespace fa::rt;
using namespace fa::test;

/// The parameters of a kernel whose q, k, v, o have rank 4: 5 descriptors and
/// the scale.
static constexpr size_t kSlots = 4 * 11 + 9 + 1;

static Kernel makeKernel(const json &entry) {
  return parseManifest(manifestJson({entry}).dump(), "m").kernels[0];
}

/// The parameters' first 8 bytes.
static std::vector<uint64_t> packedWords(const json &entry,
                                         const fa_forward_params &params) {
  const Kernel kernel = makeKernel(entry);
  ParamList list(kernel, {});
  packParams(kernel, checkProblem(&params), params, list);
  std::vector<uint64_t> words;
  for (size_t i = 0; i != list.size(); ++i)
    words.push_back(*static_cast<const uint64_t *>(list.at(i)));
  return words;
}

TEST(Launch, PassesExactlyTheseParameters) {
  FakeDriver fake;
  fake.paramCount = kSlots;
  TestFolder folder(manifestJson({kernelJson("a")}));
  Library library(folder.path());
  fa_forward_params params = forwardParams();
  CuStream stream = reinterpret_cast<CuStream>(0x77);
  launch(library, 0, checkProblem(&params), params, stream);

  ASSERT_EQ(fake.launches.size(), 1u);
  const RecordedLaunch &seen = fake.launches[0];
  const uint64_t scale = 0x3e000000; // 0.125f
  std::vector<uint64_t> wanted = {
      0x10000, 0x10000, 0, 2, 3, 300, 128, 115200, 38400, 128, 1, // q
      0x20000, 0x20000, 0, 2, 3, 200, 128, 76800,  25600, 128, 1, // k
      0x30000, 0x30000, 0, 2, 3, 200, 128, 76800,  25600, 128, 1, // v
      scale,                                                      // scale
      0x40000, 0x40000, 0, 2, 3, 300, 128, 115200, 38400, 128, 1, // o
      0x50000, 0x50000, 0, 2, 3, 300, 900, 300,    1,             // lse
  };
  EXPECT_EQ(seen.slots, wanted);
  EXPECT_EQ(seen.stream, stream);
  EXPECT_EQ(seen.grid[0], 3u * 3 * 2);
  EXPECT_EQ(seen.grid[1], 1u);
  EXPECT_EQ(seen.grid[2], 1u);
  EXPECT_EQ(seen.block[0], 128u);
  EXPECT_EQ(seen.block[1], 1u);
  EXPECT_EQ(seen.block[2], 1u);
  EXPECT_EQ(seen.sharedBytes, 98304u);
}

TEST(Launch, PassesAClearedCounter) {
  FakeDriver fake;
  fake.paramCount = kSlots + 1;
  json entry = kernelJson("a");
  entry["counter"] = true;
  TestFolder folder(manifestJson({entry}));
  Library library(folder.path());
  fa_forward_params params = forwardParams();
  EXPECT_EQ(workspaceBytes(library, 0, checkProblem(&params), params), 256);
  auto start = [&] {
    launch(library, 0, checkProblem(&params), params, nullptr);
  };
  params.workspace = nullptr;
  EXPECT_EQ(failureOf(start),
            "workspace: must not be NULL: kernel a needs 256 bytes, as "
            "fa_forward_workspace says (found NULL)");
  params.workspace = reinterpret_cast<void *>(0x60000);
  params.workspace_bytes = 256;
  start();
  ASSERT_EQ(fake.memsets.size(), 1u);
  EXPECT_EQ(fake.memsets[0].address, 0x60000u);
  EXPECT_EQ(fake.memsets[0].count, 2u);
  // It has no lists that could be kept.
  params.flags = FA_REUSE_LISTS;
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].slots.back(), 0x60000u) << "behind lse";
  start();
  EXPECT_EQ(fake.memsets.size(), 2u);
  fake.failures["memsetD32Async"] = 1;
  EXPECT_NE(failureOf(start).find("clearing the counter of kernel a failed"),
            std::string::npos);
  EXPECT_EQ(fake.launches.size(), 2u);
}

TEST(Launch, AsksForADevicesFiguresOnce) {
  FakeDriver fake;
  TestFolder folder(manifestJson({kernelJson("a")}));
  fa_library *library = nullptr;
  ASSERT_EQ(fa_library_open(folder.path().c_str(), &library), FA_SUCCESS);
  fa_forward_params params = forwardParams();
  fake.major = 8;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(fa_forward(library, &params, nullptr), FA_SUCCESS);
  EXPECT_EQ(fake.count("deviceGetAttribute"), 3u);
  EXPECT_EQ(fake.count("ctxGetCurrent"), 1u);
  EXPECT_EQ(fake.count("ctxGetId"), 3u);
  EXPECT_EQ(fake.count("ctxGetDevice"), 1u);
  fake.context = 2;
  EXPECT_EQ(fa_forward(library, &params, nullptr), FA_SUCCESS);
  EXPECT_EQ(fake.count("deviceGetAttribute"), 6u);
  // An old driver does not tell contexts apart.
  fake.table.ctxGetId = nullptr;
  EXPECT_EQ(fa_forward(library, &params, nullptr), FA_SUCCESS);
  EXPECT_EQ(fa_forward(library, &params, nullptr), FA_SUCCESS);
  EXPECT_EQ(fake.count("ctxGetDevice"), 4u);
  fa_library_close(library);
}

TEST(Launch, RefusesMoreParametersThanThereIsRoomFor) {
  const Kernel kernel = makeKernel(kernelJson("a"));
  ParamList list(kernel, {});
  for (int i = 0; i < 512; ++i)
    list.add(uint64_t(i));
  EXPECT_EQ(list.size(), 512u);
  EXPECT_EQ(*static_cast<const uint64_t *>(list.at(511)), 511u);
  EXPECT_EQ(failureOf([&] { list.add(1.0f); }),
            "kernel a: it takes more parameters than a launch can pass");
}

TEST(Launch, PassesStride0AlongSize1) {
  fa_forward_params params = forwardParams();
  for (fa_tensor *t : {&params.q, &params.o, &params.lse}) {
    t->sizes[2] = 1;
    t->strides[2] = 13;
  }
  std::vector<uint64_t> slots = packedWords(kernelJson("a"), params);
  EXPECT_EQ(slots[9], 0u) << "q's third stride";
  EXPECT_EQ(slots[10], 1u) << "q's last stride";
  EXPECT_EQ(slots[kSlots - 1], 0u) << "lse's last stride";
}

TEST(Launch, PassesIndexesByName) {
  json entry = kernelJson("a");
  for (const char *name : {"batch", "heads", "kv_heads", "seq_q", "seq_kv"})
    entry["params"].push_back({{"kind", "index"}, {"name", name}});
  fa_forward_params params = forwardParams();
  params.k.sizes[1] = params.v.sizes[1] = 1;
  std::vector<uint64_t> slots = packedWords(entry, params);
  EXPECT_EQ(std::vector<uint64_t>(slots.begin() + kSlots, slots.end()),
            (std::vector<uint64_t>{2, 3, 1, 300, 200}));
}

/// The grid of a kernel with two factors: rows in tiles, and keys in tiles.
static unsigned gridFor(int64_t seqQ, int64_t seqKv) {
  json entry = kernelJson("a");
  entry["grid"] = {{{"tensor", "q"}, {"dim", 2}, {"tile", 128}},
                   {{"tensor", "k"}, {"dim", 2}, {"tile", 64}}};
  fa_forward_params params = forwardParams();
  params.q.sizes[2] = seqQ;
  params.k.sizes[2] = seqKv;
  return gridSize(makeKernel(entry), params);
}

TEST(Launch, RoundsTheGridUp) {
  EXPECT_EQ(gridFor(1, 1), 1u);
  EXPECT_EQ(gridFor(128, 64), 1u);
  EXPECT_EQ(gridFor(129, 64), 2u);
  EXPECT_EQ(gridFor(129, 65), 4u);
  EXPECT_EQ(gridFor(300, 0), 3u) << "without keys outputs are still written";
}

TEST(Launch, RefusesGridsOverTheLimit) {
  EXPECT_EQ(gridFor(128 * int64_t(0x7fffffff), 64), 0x7fffffffu);
  const std::string text = "the problem needs more blocks of kernel a than a "
                           "launch can have (2147483647)";
  EXPECT_EQ(failureOf([] { gridFor(128 * (int64_t(1) << 31), 64); }), text);
  EXPECT_EQ(failureOf([] { gridFor(int64_t(1) << 62, int64_t(1) << 62); }),
            text);
}

TEST(Launch, EmptyProblemsLaunchNothing) {
  FakeDriver fake;
  TestFolder folder(manifestJson({kernelJson("a")}));
  Library library(folder.path());
  for (int dim : {0, 1, 2}) {
    fa_forward_params params = forwardParams();
    for (fa_tensor *t :
         {&params.q, &params.k, &params.v, &params.o, &params.lse})
      if (dim != 2 || t->sizes[2] == 300)
        t->sizes[dim] = 0;
    launch(library, 0, checkProblem(&params), params, nullptr);
  }
  EXPECT_TRUE(fake.calls.empty());
}

TEST(Launch, WithoutKeysItLaunches) {
  FakeDriver fake;
  TestFolder folder(manifestJson({kernelJson("a")}));
  Library library(folder.path());
  fa_forward_params params = forwardParams();
  params.k.sizes[2] = params.v.sizes[2] = 0;
  launch(library, 0, checkProblem(&params), params, nullptr);
  EXPECT_EQ(fake.launches.size(), 1u);
}

TEST(Launch, RefusesRowsOfLseThatAreNoNeighbours) {
  FakeDriver fake;
  TestFolder folder(manifestJson({kernelJson("a")}));
  Library library(folder.path());
  fa_forward_params params = forwardParams();
  params.lse.strides[2] = 3;
  EXPECT_EQ(failureOf([&] {
              launch(library, 0, checkProblem(&params), params, nullptr);
            }),
            "lse: stride of dimension 2 (seq_q) must be 1 (found 3)");
  EXPECT_TRUE(fake.launches.empty());
}
