//===- PlanTest.cpp - Kernels of several launches -------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include "FakeDriver.h"
#include "Launch.h"
#include "TestLibrary.h"

#include <cstddef>
#include <gtest/gtest.h>

using namespace fa;
using namespace fa::rt;
using namespace fa::test;

namespace {

/// One query, 8 heads of which 4 share one of k and v, 200 keys, batch 2.
fa_forward_params decodeParams() {
  fa_forward_params params = forwardParams();
  for (fa_tensor *t : {&params.q, &params.o, &params.lse}) {
    t->sizes[1] = 8;
    t->sizes[2] = 1;
    makeDense(*t);
  }
  for (fa_tensor *t : {&params.k, &params.v}) {
    t->sizes[1] = 2;
    makeDense(*t);
  }
  params.variant = "full";
  params.workspace = reinterpret_cast<void *>(0x60000);
  params.workspace_bytes = 1 << 20;
  return params;
}

class Plan : public testing::Test {
protected:
  Plan()
      : folder(manifestJson({decodeJson("a"), kernelJson("b")})),
        library(folder.path()) {}

  void start(const fa_forward_params &params, size_t index = 0) {
    launch(library, index, checkProblem(&params), params, nullptr);
  }
  int64_t choose(const fa_forward_params &params) {
    PackedHeads packed =
        packHeads(library.kernel(0), checkProblem(&params), params);
    return chooseSplits(library, 0, packed.problem, packed.params);
  }

  FakeDriver fake;
  TestFolder folder;
  Library library;
};

/// The parameters of one launch of `fake`, of which the fake reads so many.
std::vector<uint64_t> slotsOf(FakeDriver &fake, size_t launch, size_t first,
                              size_t count) {
  const std::vector<uint64_t> &slots = fake.launches[launch].slots;
  return {slots.begin() + first, slots.begin() + first + count};
}

} // namespace

TEST_F(Plan, StartsAllLaunchesInOrder) {
  fa_forward_params params = decodeParams();
  params.splits = 3;
  start(params);
  ASSERT_EQ(fake.launches.size(), 2u);
  EXPECT_EQ(fake.count("moduleLoadData"), 1u);
  EXPECT_EQ(fake.count("moduleGetFunction parts"), 1u);
  EXPECT_EQ(fake.count("moduleGetFunction merge"), 1u);
  EXPECT_EQ(fake.launches[0].grid[0], 3u * 1 * 2 * 2);
  EXPECT_EQ(fake.launches[0].block[0], 32u);
  EXPECT_EQ(fake.launches[0].sharedBytes, 65536u);
  EXPECT_EQ(fake.launches[1].grid[0], 1u * 2 * 2);
  EXPECT_EQ(fake.launches[1].sharedBytes, 0u);
  ASSERT_EQ(fake.functionAttributes.size(), 1u);
  EXPECT_EQ(fake.functionAttributes[0].second, 65536);
}

TEST_F(Plan, PassesPackedHeadsAndWorkspaces) {
  fake.paramCount = 11 + 11 + 11 + 1 + 13 + 11;
  // The second launch has fewer parameters than the fake reads.
  json entry = decodeJson("c");
  entry["launches"].erase(1);
  TestFolder one(manifestJson({entry}));
  Library single(one.path());
  fa_forward_params params = decodeParams();
  params.splits = 3;
  launch(single, 0, checkProblem(&params), params, nullptr);
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(slotsOf(fake, 0, 0, 11),
            (std::vector<uint64_t>{0x10000, 0x10000, 0, 2, 2, 4, 128, 1024, 512,
                                   128, 1}))
      << "q as [batch, kv_heads, heads that share one, head_dim]";
  EXPECT_EQ(slotsOf(fake, 0, 34, 13),
            (std::vector<uint64_t>{0x60000, 0x60000, 0, 3, 2, 2, 4, 128, 2048,
                                   1024, 512, 128, 1}))
      << "acc";
  // acc takes 3 * 2 * 2 * 4 * 128 * 4 = 24576 bytes.
  EXPECT_EQ(
      slotsOf(fake, 0, 47, 11),
      (std::vector<uint64_t>{0x66000, 0x66000, 0, 3, 2, 2, 4, 16, 8, 4, 1}))
      << "max";
}

/// The q that a kernel gets of problems of 3 queries.
static fa_tensor
packedQuery(const std::function<void(fa_forward_params &)> &change) {
  fa_forward_params params = decodeParams();
  for (fa_tensor *t : {&params.q, &params.o, &params.lse}) {
    t->sizes[2] = 3;
    makeDense(*t);
  }
  change(params);
  Kernel kernel =
      parseManifest(manifestJson({decodeJson("a")}).dump(), "m").kernels[0];
  return packHeads(kernel, checkProblem(&params), params).params.q;
}

TEST_F(Plan, PacksHeadsThatFollowOneAnother) {
  // [batch, heads, seq, dim]: rows (head, query).
  fa_tensor dense = packedQuery([](fa_forward_params &) {});
  EXPECT_EQ(dense.sizes[1], 2);
  EXPECT_EQ(dense.sizes[2], 12);
  EXPECT_EQ(dense.strides[1], 12 * 128);
  EXPECT_EQ(dense.strides[2], 128);
  // [batch, seq, heads, dim]: no one stride for the rows of 4 of 8 heads.
  fa_tensor mixed = packedQuery([](fa_forward_params &params) {
    for (fa_tensor *t : {&params.q, &params.o}) {
      t->strides[1] = 128;
      t->strides[2] = 8 * 128;
    }
  });
  EXPECT_EQ(mixed.sizes[1], 8);
  EXPECT_EQ(mixed.sizes[2], 3);
  // Rows of lse are neighbours, in memory too.
  fa_tensor padded = packedQuery([](fa_forward_params &params) {
    for (fa_tensor *t : {&params.q, &params.o, &params.lse})
      t->sizes[2] = 1;
    params.lse.strides[1] = 4;
  });
  EXPECT_EQ(padded.sizes[1], 8);
  EXPECT_EQ(padded.sizes[2], 1);
  // One head of k and v: rows (query, head) in all three.
  fa_tensor mqa = packedQuery([](fa_forward_params &params) {
    params.k.sizes[1] = params.v.sizes[1] = 1;
    for (fa_tensor *t : {&params.q, &params.o}) {
      t->strides[1] = 128;
      t->strides[2] = 8 * 128;
    }
    params.lse.strides[1] = 1;
    params.lse.strides[2] = 8;
  });
  EXPECT_EQ(mqa.sizes[1], 1);
  EXPECT_EQ(mqa.sizes[2], 24);
  EXPECT_EQ(mqa.strides[2], 128);
}

TEST_F(Plan, FillsTheDevice) {
  fa_forward_params params = decodeParams();
  // 4 tiles on 4 multiprocessors of 2 places each.
  EXPECT_EQ(choose(params), 2);
  fake.residentBlocks = 5;
  // 20 places would take 5 parts, but 200 keys are 4 blocks of 64.
  EXPECT_EQ(choose(params), 4);
  fake.context = 2, fake.device = 1;
  fake.multiprocessors = 1;
  fake.residentBlocks = 4;
  EXPECT_EQ(choose(params), 1);
  params.k.sizes[2] = params.v.sizes[2] = 0;
  EXPECT_EQ(choose(params), 1);
}

TEST_F(Plan, TakesTheCallersParts) {
  fa_forward_params params = decodeParams();
  params.splits = 7;
  EXPECT_EQ(choose(params), 7);
  EXPECT_TRUE(fake.calls.empty());
  params.splits = 129;
  EXPECT_EQ(failureOf([&] { choose(params); }),
            "splits: must be from 0 (the runtime's choice) to 128 for kernel a "
            "(found 129)");
  params.splits = -1;
  EXPECT_EQ(failureOf([&] { choose(params); }),
            "splits: must be from 0 (the runtime's choice) to 128 for kernel a "
            "(found -1)");
}

TEST_F(Plan, RefusesPartsWhereThereAreNone) {
  fa_forward_params params = forwardParams();
  params.splits = 2;
  EXPECT_EQ(failureOf([&] { start(params, 1); }),
            "splits: must be 0 or 1: kernel b does not split the keys (found "
            "2)");
  params.splits = 1;
  start(params, 1);
  EXPECT_EQ(fake.launches.size(), 1u);
}

/// A plan of two launches on tensors in blocks of 64 rows, the second of which
/// is persistent and maps k.
static json blockPlan() {
  json entry = decodeJson("a");
  entry.erase("splits");
  entry.erase("max_rows");
  entry["packs_heads"] = false;
  entry["workspaces"] = json::parse(R"([
    {"name": "list", "dtype": "i32",
     "sizes": ["batch", {"size": "seq_kv", "tile": 64, "plus": 1}]}])");
  entry["launches"] = json::parse(R"([
    {"entry": "list", "args": ["k", "list"],
     "grid": [{"arg": 0, "dim": 2, "tile": 64}],
     "block": 32, "shared_bytes": 0, "registers": 40, "spill_bytes": 0},
    {"entry": "follow", "args": ["q", "list"],
     "grid": [{"arg": 0, "dim": 2, "tile": 1}, {"arg": 0, "dim": 1, "tile": 1}],
     "tensor_maps": [{"tensor": "k", "rows": 64, "cols": 128, "swizzle": 128}],
     "blocks_per_sm": 1, "follows": true,
     "block": 384, "shared_bytes": 1024, "registers": 168, "spill_bytes": 0}
  ])");
  return entry;
}

TEST_F(Plan, LaunchesMayMapTensorsAndBePersistent) {
  TestFolder lists(manifestJson({blockPlan()}));
  Library opened(lists.path());
  fa_forward_params params = decodeParams();
  launch(opened, 0, checkProblem(&params), params, nullptr);
  ASSERT_EQ(fake.launches.size(), 2u);
  EXPECT_EQ(fake.launches[0].grid[0], 4u) << "200 keys in blocks of 64";
  EXPECT_EQ(fake.launches[1].grid[0], 4u) << "8 heads on 4 multiprocessors";
  EXPECT_EQ(fake.count("tensorMapEncodeTiled"), 1u);
  EXPECT_FALSE(fake.launches[0].follows);
  EXPECT_TRUE(fake.launches[1].follows) << "it waits by itself";
  // Two batches of ceil(200 / 64) + 1 entries.
  params.workspace_bytes = 39;
  EXPECT_NE(failureOf([&] {
              launch(opened, 0, checkProblem(&params), params, nullptr);
            }).find("workspace_bytes: must be at least"),
            std::string::npos);
}

/// The plan above, of which the first launch prepares.
static json listPlan() {
  json entry = blockPlan();
  entry["launches"][0]["prepares"] = true;
  return entry;
}

TEST_F(Plan, LeavesOutLaunchesThatPrepare) {
  TestFolder lists(manifestJson({listPlan()}));
  Library opened(lists.path());
  fa_forward_params params = decodeParams();
  auto start = [&] {
    fake.launches.clear();
    launch(opened, 0, checkProblem(&params), params, nullptr);
  };
  start();
  EXPECT_EQ(fake.launches.size(), 2u) << "without the flag all are started";
  params.flags = FA_REUSE_LISTS;
  start();
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].block[0], 384u);
  EXPECT_FALSE(fake.launches[0].follows)
      << "what is before it in the stream is not of its plan";
  params.flags = 0;
  start();
  EXPECT_EQ(fake.launches.size(), 2u);
  // The field is not there for callers of earlier versions.
  params.flags = FA_REUSE_LISTS;
  params.struct_size = offsetof(fa_forward_params, flags);
  start();
  EXPECT_EQ(fake.launches.size(), 2u);
}

TEST_F(Plan, ClearsCountersBeforeTheFirstLaunch) {
  json entry = listPlan();
  entry["launches"][1]["counter"] = true;
  TestFolder lists(manifestJson({entry}));
  Library opened(lists.path());
  fa_forward_params params = decodeParams();
  CuStream stream = reinterpret_cast<CuStream>(0x77);
  // Two batches of ceil(200 / 64) + 1 entries take one unit of 256 bytes, and
  // the counter the next.
  EXPECT_EQ(workspaceBytes(opened, 0, checkProblem(&params), params), 512);
  params.workspace_bytes = 512;
  launch(opened, 0, checkProblem(&params), params, stream);
  ASSERT_EQ(fake.memsets.size(), 1u);
  EXPECT_EQ(fake.memsets[0].address, 0x60100u);
  EXPECT_EQ(fake.memsets[0].value, 0u);
  EXPECT_EQ(fake.memsets[0].count, 2u);
  EXPECT_EQ(fake.memsets[0].stream, stream);
  EXPECT_EQ(fake.memsets[0].launches, 0u) << "before the list is made";
  EXPECT_TRUE(fake.launches[1].follows);
  // Where lists are kept, the launch before has left the counter as it was.
  params.flags = FA_REUSE_LISTS;
  launch(opened, 0, checkProblem(&params), params, stream);
  EXPECT_EQ(fake.memsets.size(), 1u);
  EXPECT_EQ(fake.launches.size(), 3u);
  params.workspace_bytes = 511;
  EXPECT_NE(failureOf([&] {
              launch(opened, 0, checkProblem(&params), params, nullptr);
            }).find("workspace_bytes: must be at least 512"),
            std::string::npos);
}

TEST_F(Plan, ListsThatAreKeptNeedTheirWorkspace) {
  TestFolder lists(manifestJson({listPlan()}));
  Library opened(lists.path());
  fa_forward_params params = decodeParams();
  params.flags = FA_REUSE_LISTS;
  params.workspace = nullptr;
  EXPECT_NE(failureOf([&] {
              launch(opened, 0, checkProblem(&params), params, nullptr);
            }).find("workspace: must not be NULL: kernel a needs"),
            std::string::npos);
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(Plan, KernelsWithoutListsIgnoreThatTheyAreKept) {
  fa_forward_params params = decodeParams();
  params.splits = 3;
  params.flags = FA_REUSE_LISTS;
  start(params);
  EXPECT_EQ(fake.launches.size(), 2u);
  params = forwardParams();
  params.flags = FA_REUSE_LISTS;
  start(params, 1);
  EXPECT_EQ(fake.launches.size(), 3u);
}

TEST_F(Plan, LeavesOutLaunchesWithoutBlocks) {
  TestFolder lists(manifestJson({blockPlan()}));
  Library opened(lists.path());
  fa_forward_params params = decodeParams();
  params.k.sizes[2] = params.v.sizes[2] = 0;
  launch(opened, 0, checkProblem(&params), params, nullptr);
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].block[0], 384u);
  EXPECT_FALSE(fake.launches[0].follows);
}

TEST_F(Plan, ChecksTensorsThatLaunchesMap) {
  TestFolder lists(manifestJson({blockPlan()}));
  Library opened(lists.path());
  fa_forward_params params = decodeParams();
  params.k.strides[2] += 1;
  EXPECT_NE(failureOf([&] {
              launch(opened, 0, checkProblem(&params), params, nullptr);
            }).find("k"),
            std::string::npos);
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(Plan, ChecksTheWorkspace) {
  fa_forward_params params = decodeParams();
  params.splits = 3;
  const std::string bytes = "24832"; // 24576 + 3 * 2 * 2 * 4 * 4, in 256s
  params.workspace = nullptr;
  EXPECT_EQ(failureOf([&] { start(params); }),
            "workspace: must not be NULL: kernel a needs " + bytes +
                " bytes, as fa_forward_workspace says (found NULL)");
  params = decodeParams();
  params.splits = 3;
  params.workspace_bytes = 24831;
  EXPECT_EQ(failureOf([&] { start(params); }),
            "workspace_bytes: must be at least " + bytes +
                ", as fa_forward_workspace says (found 24831)");
  params.workspace_bytes = 24832;
  params.workspace = reinterpret_cast<void *>(0x60008);
  EXPECT_EQ(failureOf([&] { start(params); }),
            "workspace: address must be a multiple of 16 bytes (found 393224)");
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(Plan, CallersOfOlderVersionsHaveNoWorkspace) {
  fa_forward_params params = decodeParams();
  params.struct_size = offsetof(fa_forward_params, workspace);
  EXPECT_NE(
      failureOf([&] { start(params); }).find("workspace: must not be NULL"),
      std::string::npos);
}

TEST_F(Plan, EmptyProblemsNeedNothing) {
  fa_forward_params params = decodeParams();
  for (fa_tensor *t : {&params.q, &params.o, &params.lse})
    t->sizes[2] = 0;
  params.workspace = nullptr;
  start(params);
  EXPECT_TRUE(fake.calls.empty());
}

TEST_F(Plan, AnswersWhatItNeeds) {
  fake.major = 8;
  fa_library *opened = nullptr;
  ASSERT_EQ(fa_library_open(folder.path().c_str(), &opened), FA_SUCCESS);
  fa_forward_params params = decodeParams();
  params.workspace = nullptr;
  params.workspace_bytes = 0;
  size_t bytes = 1;
  ASSERT_EQ(fa_forward_workspace(opened, &params, &bytes), FA_SUCCESS)
      << fa_last_error();
  EXPECT_EQ(bytes, 16384u + 256u) << "two parts";
  params.splits = 3;
  ASSERT_EQ(fa_kernel_workspace(opened, 0, &params, &bytes), FA_SUCCESS);
  EXPECT_EQ(bytes, 24832u);
  fa_forward_params other = forwardParams();
  ASSERT_EQ(fa_kernel_workspace(opened, 1, &other, &bytes), FA_SUCCESS);
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(fa_forward_workspace(opened, &params, nullptr),
            FA_INVALID_ARGUMENT);
  EXPECT_STREQ(fa_last_error(), "bytes: must not be NULL (found NULL)");
  EXPECT_TRUE(fake.launches.empty());
  fa_library_close(opened);
}

TEST_F(Plan, IsPickedForFewRows) {
  fa_library *opened = nullptr;
  json general = kernelJson("b");
  general["variant"] = "full";
  general["arch"] = "sm_90a";
  general["gqa"] = true;
  json decode = decodeJson("a");
  decode["arch"] = "sm_90";
  TestFolder both(manifestJson({general, decode}));
  ASSERT_EQ(fa_library_open(both.path().c_str(), &opened), FA_SUCCESS);
  fa_forward_params params = decodeParams();
  size_t index = 0;
  ASSERT_EQ(fa_forward_pick(opened, &params, &index), FA_SUCCESS);
  EXPECT_EQ(index, 1u);
  params.variant = "causal";
  ASSERT_EQ(fa_forward_pick(opened, &params, &index), FA_SUCCESS)
      << "one query sees all keys";
  EXPECT_EQ(index, 1u);
  params.variant = "full";
  for (fa_tensor *t : {&params.q, &params.o, &params.lse}) {
    t->sizes[2] = 5; // 20 rows for each head of k and v
    makeDense(*t);
  }
  ASSERT_EQ(fa_forward_pick(opened, &params, &index), FA_SUCCESS);
  EXPECT_EQ(index, 0u);
  fa_library_close(opened);
}

/// What the manifest says of an entry changed by `change`.
template <typename Change> static std::string refusal(Change change) {
  json entry = decodeJson("a");
  change(entry);
  return failureOf([&] { parseManifest(manifestJson({entry}).dump(), "m"); });
}

TEST_F(Plan, RefusesMalformedPlans) {
  EXPECT_EQ(refusal([](json &) {}), "");
  EXPECT_EQ(refusal([](json &e) { e.erase("splits"); }),
            "m: kernels[0].workspaces[0].sizes[0] needs the kernel's field "
            "splits (found \"splits\")");
  EXPECT_EQ(refusal([](json &e) { e["launches"] = json::array(); }),
            "m: kernels[0].launches must not be empty (found [])");
  EXPECT_EQ(refusal([](json &e) { e["launches"][0]["args"][4] = "x"; }),
            "m: kernels[0].launches[0].args[4] must be the name of a parameter "
            "or workspace (found \"x\")");
  EXPECT_EQ(refusal([](json &e) { e["launches"][0]["grid"][0]["arg"] = 3; }),
            "m: kernels[0].launches[0].grid[0].arg must be the number of a "
            "tensor of args (found 3)");
  EXPECT_EQ(refusal([](json &e) { e["workspaces"][0]["name"] = "q"; }),
            "m: kernels[0].workspaces[0].name must not be that of a parameter "
            "or workspace (found \"q\")");
  EXPECT_EQ(refusal([](json &e) { e["launches"][1]["prepares"] = true; }),
            "m: kernels[0].launches[1].prepares must not be true of the last "
            "launch (found true)");
}
