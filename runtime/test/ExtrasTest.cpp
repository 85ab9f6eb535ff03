//===- ExtrasTest.cpp - What variants read beside q, k and v --------------===//
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

#include <cstddef>
#include <gtest/gtest.h>

using namespace fa;
using namespace fa::rt;
using namespace fa::test;

/// The kernel "a" with a bias [heads, seq_q, seq_kv] before o, ids
/// [batch, seq_q and seq_kv], a table [8, any], and two scalars.
static json extrasJson() {
  json kernel = kernelJson("a");
  json extras = json::parse(R"([
    {"kind": "tensor", "name": "bias", "dtype": "f32", "rank": 3,
     "sizes": [["heads"], ["seq_q"], ["seq_kv"]]},
    {"kind": "tensor", "name": "table", "dtype": "i32", "rank": 2,
     "sizes": [[8], []]},
    {"kind": "scalar", "name": "cap", "dtype": "f32"},
    {"kind": "scalar", "name": "skip", "dtype": "i32"},
    {"kind": "scalar", "name": "width", "dtype": "index"}])");
  json &params = kernel["params"];
  params.insert(params.begin() + 4, extras.begin(), extras.end());
  return kernel;
}

namespace {

/// Valid arguments for that kernel.
struct Arguments {
  Arguments() : params(forwardParams()) {
    fa_extra bias = {}, table = {}, cap = {}, skip = {}, width = {};
    bias.name = "bias";
    bias.kind = FA_EXTRA_TENSOR;
    bias.tensor = {reinterpret_cast<void *>(0x60004),
                   FA_F32,
                   3,
                   {3, 300, 200, 0},
                   {0, 201, 1, 0}};
    table.name = "table";
    table.kind = FA_EXTRA_TENSOR;
    table.tensor = {reinterpret_cast<void *>(0x70000),
                    FA_I32,
                    2,
                    {8, 5, 0, 0},
                    {5, 1, 0, 0}};
    cap.name = "cap";
    skip.name = "skip";
    width.name = "width";
    cap.kind = skip.kind = width.kind = FA_EXTRA_SCALAR;
    cap.dtype = FA_F32;
    cap.f32 = 0.125f;
    skip.dtype = width.dtype = FA_I32;
    skip.i32 = width.i32 = -2;
    // Another order than the kernel's.
    extras = {width, skip, cap, table, bias};
    params.extras = extras.data();
    params.num_extras = extras.size();
  }

  fa_extra &operator[](const std::string &name) {
    for (fa_extra &extra : extras)
      if (extra.name == name)
        return extra;
    throw std::out_of_range(name);
  }

  std::vector<fa_extra> extras;
  fa_forward_params params;
};

} // namespace

static Kernel makeKernel(const json &entry) {
  return parseManifest(manifestJson({entry}).dump(), "m").kernels[0];
}

/// The refusal of the arguments after a change; "" where they are accepted.
static std::string
refusalAfter(const std::function<void(Arguments &)> &change) {
  Kernel kernel = makeKernel(extrasJson());
  Arguments arguments;
  change(arguments);
  return failureOf([&] {
    checkExtras(kernel, checkProblem(&arguments.params), arguments.params);
  });
}

TEST(Extras, ReachTheDriverInTheKernelsOrder) {
  FakeDriver fake;
  fake.paramCount = 33 + 9 + 7 + 1 + 3 + 11 + 9;
  TestFolder folder(manifestJson({extrasJson()}));
  Library library(folder.path());
  Arguments arguments;
  launch(library, 0, checkProblem(&arguments.params), arguments.params,
         nullptr);
  ASSERT_EQ(fake.launches.size(), 1u);
  const std::vector<uint64_t> &slots = fake.launches[0].slots;
  EXPECT_EQ(slots[33], 0x3e000000u) << "scale";
  std::vector<uint64_t> wanted = {
      0x60004,    0x60004,    0,           3, 300, 200, 0, 201, 1, // bias
      0x70000,    0x70000,    0,           8, 5,   5,   1,         // table
      0x3e000000, 0xfffffffe, uint64_t(-2)};                       // scalars
  EXPECT_EQ(std::vector<uint64_t>(slots.begin() + 34,
                                  slots.begin() + 34 + wanted.size()),
            wanted);
  EXPECT_EQ(slots[34 + wanted.size()], 0x40000u) << "o";
}

TEST(Extras, AreExactlyTheKernels) {
  EXPECT_EQ(refusalAfter([](Arguments &) {}), "");
  EXPECT_EQ(refusalAfter([](Arguments &a) { a.params.num_extras = 4; }),
            "extras: kernel a needs the tensor bias of f32 (found none of that "
            "name)");
  EXPECT_EQ(refusalAfter([](Arguments &a) {
              ++a.params.extras;
              --a.params.num_extras;
            }),
            "extras: kernel a needs the scalar width of i32 (found none of "
            "that name)");
  EXPECT_EQ(refusalAfter([](Arguments &a) { a["cap"].name = "cup"; }),
            "extras[2]: name must be an extra argument of kernel a, which "
            "takes bias, table, cap, skip, width (found cup)");
  EXPECT_EQ(refusalAfter([](Arguments &a) { a["cap"].name = "bias"; }),
            "extras[4]: name must not occur twice (found bias)");
  EXPECT_EQ(refusalAfter([](Arguments &a) { a["cap"].name = nullptr; }),
            "extras[2]: name must not be NULL (found NULL)");
  EXPECT_EQ(refusalAfter([](Arguments &a) { a.params.extras = nullptr; }),
            "extras: must not be NULL (found NULL)");

  Kernel plain = makeKernel(kernelJson("a"));
  Arguments arguments;
  EXPECT_EQ(failureOf([&] {
              checkExtras(plain, checkProblem(&arguments.params),
                          arguments.params);
            }),
            "extras[0]: name must be an extra argument of kernel a, which "
            "takes none (found width)");
}

TEST(Extras, AreUnknownToOlderCallers) {
  Kernel plain = makeKernel(kernelJson("a")), full = makeKernel(extrasJson());
  fa_forward_params params = forwardParams();
  params.struct_size = offsetof(fa_forward_params, extras);
  // Memory behind the caller's struct.
  params.extras = reinterpret_cast<const fa_extra *>(0x1);
  params.num_extras = 77;
  Problem problem = checkProblem(&params);
  checkExtras(plain, problem, params);
  EXPECT_EQ(failureOf([&] { checkExtras(full, problem, params); }),
            "extras: kernel a needs the tensor bias of f32 (found none of that "
            "name)");
}

TEST(Extras, HaveTheirKindTypeRankAndSizes) {
  EXPECT_EQ(
      refusalAfter([](Arguments &a) { a["bias"].kind = FA_EXTRA_SCALAR; }),
      "bias: kind must be FA_EXTRA_TENSOR (found 2)");
  EXPECT_EQ(refusalAfter([](Arguments &a) { a["cap"].kind = FA_EXTRA_TENSOR; }),
            "cap: kind must be FA_EXTRA_SCALAR (found 1)");
  EXPECT_EQ(
      refusalAfter([](Arguments &a) { a["bias"].tensor.dtype = FA_BF16; }),
      "bias: dtype must be f32 (found bf16)");
  EXPECT_EQ(refusalAfter([](Arguments &a) { a["width"].dtype = FA_F32; }),
            "width: dtype must be i32 (found f32)");
  EXPECT_EQ(refusalAfter([](Arguments &a) { a["bias"].tensor.rank = 2; }),
            "bias: rank must be 3 (found 2)");
  EXPECT_EQ(refusalAfter([](Arguments &a) { a["bias"].tensor.sizes[1] = 299; }),
            "bias: size of dimension 1 must be 300 (seq_q) (found 299)");
  EXPECT_EQ(refusalAfter([](Arguments &a) { a["table"].tensor.sizes[0] = 9; }),
            "table: size of dimension 0 must be 8 (found 9)");
  EXPECT_EQ(refusalAfter([](Arguments &a) { a["table"].tensor.sizes[1] = 9; }),
            "");
  EXPECT_EQ(refusalAfter([](Arguments &a) { a["table"].tensor.sizes[1] = -1; }),
            "table: size of dimension 1 must not be negative (found -1)");
}

TEST(Extras, HaveALayoutThatKernelsRead) {
  EXPECT_EQ(refusalAfter([](Arguments &a) { a["bias"].tensor.strides[2] = 2; }),
            "bias: stride of dimension 2 must be 1 (found 2)");
  EXPECT_EQ(
      refusalAfter([](Arguments &a) { a["bias"].tensor.strides[1] = -1; }),
      "bias: stride of dimension 1 must not be negative (found -1)");
  EXPECT_EQ(refusalAfter([](Arguments &a) {
              a["bias"].tensor.data = reinterpret_cast<void *>(0x60002);
            }),
            "bias: data must be aligned to 4 bytes (found 0x60002)");
  EXPECT_EQ(refusalAfter([](Arguments &a) { a["bias"].tensor.data = nullptr; }),
            "bias: data must not be NULL (found NULL)");
}

/// The refusal of a manifest whose bias was changed.
static std::string refusalWith(const std::string &place, const json &value) {
  json kernel = extrasJson();
  kernel[json::json_pointer("/params/4" + place)] = value;
  return failureOf([&] { makeKernel(kernel); });
}

TEST(Extras, AreCheckedInTheManifest) {
  const std::string at = "m: kernels[0].params[4]";
  EXPECT_EQ(refusalWith("/kind", "f32"),
            at + ".kind must be one of tensor, scalar (found \"f32\")");
  EXPECT_EQ(refusalWith("/dtype", "i64"),
            at + ".dtype must be one of bf16, f16, f32, i32 (found \"i64\")");
  EXPECT_EQ(refusalWith("/rank", 2),
            at + ".sizes must have one entry for each dimension (found "
                 "[[\"heads\"],[\"seq_q\"],[\"seq_kv\"]])");
  EXPECT_EQ(refusalWith("/sizes/0/0", "width"),
            at + ".sizes[0][0] must be one of batch, heads, kv_heads, seq_q, "
                 "seq_kv, sequence_starts (found \"width\")");
  EXPECT_EQ(refusalWith("/sizes/0/0", -1),
            at + ".sizes[0][0] must be an integer from 0 to "
                 "9223372036854775807 (found -1)");
}
