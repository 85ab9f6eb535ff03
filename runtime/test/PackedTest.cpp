//===- PackedTest.cpp - Sequences packed one after the other --------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extras.h"
#include "FakeDriver.h"
#include "Launch.h"
#include "Manifest.h"
#include "TestLibrary.h"

#include <gtest/gtest.h>

using namespace fa;
using namespace fa::rt;
using namespace fa::test;

/// The kernel "a" on tensors without a batch, with the sequences' starts behind
/// its other parameters: one block for each 128 rows, and one for each start.
static json packedJson() {
  json kernel = kernelJson("a");
  for (json &param : kernel["params"])
    if (param["kind"] == "tensor")
      param["rank"] = int(param["rank"]) - 1;
  for (const char *name : {"cu_seqlens_q", "cu_seqlens_kv"})
    kernel["params"].push_back({{"kind", "tensor"},
                                {"name", name},
                                {"dtype", "i32"},
                                {"rank", 1},
                                {"sizes", {{"sequence_starts"}}}});
  kernel["grid"] = json::parse(R"([{"tensor": "o", "dim": 0, "tile": 1},
                      {"tensor": "q", "dim": 1, "tile": 128,
                       "plus": {"tensor": "cu_seqlens_q", "dim": 0}}])");
  return kernel;
}

static Kernel makeKernel(const json &entry) {
  return parseManifest(manifestJson({entry}).dump(), "m").kernels[0];
}

namespace {
/// Valid arguments for that kernel: 6 sequences.
struct Arguments {
  Arguments() : params(forwardParams()) {
    for (fa_tensor *tensor :
         {&params.q, &params.k, &params.v, &params.o, &params.lse})
      tensor->sizes[0] = 1;
    const char *names[] = {"cu_seqlens_kv", "cu_seqlens_q"};
    for (int n : {0, 1}) {
      extras[n] = {};
      extras[n].name = names[n];
      extras[n].kind = FA_EXTRA_TENSOR;
      extras[n].tensor = {reinterpret_cast<void *>(0x60000 + 0x10000 * n),
                          FA_I32,
                          1,
                          {7, 0, 0, 0},
                          {1, 0, 0, 0}};
    }
    params.extras = extras;
    params.num_extras = 2;
  }

  fa_extra extras[2];
  fa_forward_params params;
};
} // namespace

TEST(Packed, ReachesTheDriverWithoutABatch) {
  FakeDriver fake;
  fake.paramCount = 4 * 9 + 7 + 1 + 2 * 5;
  TestFolder folder(manifestJson({packedJson()}));
  Library library(folder.path());
  Arguments arguments;
  launch(library, 0, checkProblem(&arguments.params), arguments.params,
         nullptr);
  ASSERT_EQ(fake.launches.size(), 1u);
  const std::vector<uint64_t> &slots = fake.launches[0].slots;
  EXPECT_EQ(
      std::vector<uint64_t>(slots.begin(), slots.begin() + 9),
      (std::vector<uint64_t>{0x10000, 0x10000, 0, 3, 300, 128, 38400, 128, 1}));
  EXPECT_EQ(std::vector<uint64_t>(slots.end() - 10, slots.end()),
            (std::vector<uint64_t>{0x70000, 0x70000, 0, 7, 1, 0x60000, 0x60000,
                                   0, 7, 1}));
  EXPECT_EQ(fake.launches[0].grid[0], 3u * (3 + 7));
}

TEST(Packed, RefusesAnotherBatchThanOne) {
  FakeDriver fake;
  TestFolder folder(manifestJson({packedJson()}));
  Library library(folder.path());
  Arguments arguments;
  fa_forward_params params = forwardParams();
  params.extras = arguments.extras;
  params.num_extras = 2;
  EXPECT_EQ(failureOf([&] {
              launch(library, 0, checkProblem(&params), params, nullptr);
            }),
            "q: size of dimension 0 (batch) must be 1 for the packed sequences "
            "of kernel a (found 2)");
}

TEST(Packed, HasAsManyStartsOfKeysAsOfQueries) {
  Kernel kernel = makeKernel(packedJson());
  Arguments arguments;
  Problem problem = checkProblem(&arguments.params);
  checkExtras(kernel, problem, arguments.params);
  arguments.extras[0].tensor.sizes[0] = 6;
  EXPECT_EQ(failureOf([&] { checkExtras(kernel, problem, arguments.params); }),
            "cu_seqlens_kv: size of dimension 0 must be 7 (sequence_starts, as "
            "of the tensor before it) (found 6)");
  for (fa_extra &extra : arguments.extras)
    extra.tensor.sizes[0] = 0;
  EXPECT_EQ(failureOf([&] { checkExtras(kernel, problem, arguments.params); }),
            "cu_seqlens_q: size of dimension 0 must be 1 (sequence_starts, as "
            "of the tensor before it) (found 0)");
}

TEST(Packed, IsCheckedInTheManifest) {
  auto refusalWith = [](const char *pointer, const json &value) {
    json kernel = packedJson();
    kernel[json::json_pointer(pointer)] = value;
    return failureOf([&] { makeKernel(kernel); });
  };
  EXPECT_EQ(refusalWith("/params/1/rank", 4),
            "m: kernels[0].params[1].rank must be 3 for k (found 4)");
  EXPECT_EQ(refusalWith("/grid/1/plus/tensor", "q"),
            "m: kernels[0].grid[1].plus.tensor must name an extra tensor of "
            "params with dimensions (found \"q\")");
  EXPECT_EQ(refusalWith("/grid/1/plus/dim", 1),
            "m: kernels[0].grid[1].plus.dim must be 0 (found 1)");
}
