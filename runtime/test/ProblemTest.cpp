//===- ProblemTest.cpp - Every rule of the arguments ----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include "Failure.h"
#include "TestLibrary.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace fa;
using namespace fa::rt;
using namespace fa::test;

/// The refusal of forwardParams after a change; "" where they are accepted.
static std::string
refusalAfter(const std::function<void(fa_forward_params &)> &change) {
  fa_forward_params params = forwardParams();
  change(params);
  return failureOf([&] { checkProblem(&params); });
}

using Params = fa_forward_params &;

static void *address(uintptr_t value) {
  return reinterpret_cast<void *>(value);
}

TEST(Problem, TakesItsSizesFromTheTensors) {
  fa_forward_params params = forwardParams();
  Problem problem = checkProblem(&params);
  EXPECT_EQ(problem.dtype, FA_BF16);
  EXPECT_EQ(problem.variant, "causal");
  EXPECT_EQ(problem.batch, 2);
  EXPECT_EQ(problem.heads, 3);
  EXPECT_EQ(problem.kvHeads, 3);
  EXPECT_EQ(problem.seqQ, 300);
  EXPECT_EQ(problem.seqKv, 200);
  EXPECT_EQ(problem.headDim, 128);
  EXPECT_EQ(problem.headDimV, 128);
  EXPECT_FALSE(problem.empty());
}

TEST(Problem, RefusesWrongStructs) {
  EXPECT_EQ(failureOf([] { checkProblem(nullptr); }),
            "params: must not be NULL (found NULL)");
  EXPECT_EQ(refusalAfter([](Params p) { p.struct_size = 8; }),
            "params: struct_size must be " +
                std::to_string(sizeof(fa_forward_params)) + " (found 8)");
  EXPECT_EQ(refusalAfter([](Params p) { p.flags = 6; }),
            "flags: must be bits of fa_forward_flag (found 6)");
}

TEST(Problem, RefusesWrongKinds) {
  EXPECT_EQ(refusalAfter([](Params p) { p.q.rank = 3; }),
            "q: rank must be 4 (found 3)");
  EXPECT_EQ(refusalAfter([](Params p) { p.lse.rank = 4; }),
            "lse: rank must be 3 (found 4)");
  EXPECT_EQ(refusalAfter([](Params p) { p.q.dtype = fa_dtype(0); }),
            "q: dtype must be FA_BF16, FA_F16 or FA_F32 (found 0)");
  for (auto [name, member] : {std::pair("k", &fa_forward_params::k),
                              {"v", &fa_forward_params::v},
                              {"o", &fa_forward_params::o}})
    EXPECT_EQ(refusalAfter([m = member](Params p) { (p.*m).dtype = FA_F16; }),
              std::string(name) + ": dtype must be bf16, as of q (found f16)");
  EXPECT_EQ(refusalAfter([](Params p) { p.lse.dtype = FA_BF16; }),
            "lse: dtype must be f32 (found bf16)");
}

TEST(Problem, RefusesWrongSizes) {
  EXPECT_EQ(refusalAfter([](Params p) { p.q.sizes[2] = -1; }),
            "q: size of dimension 2 (seq_q) must not be negative (found -1)");
  EXPECT_EQ(refusalAfter([](Params p) { p.k.sizes[0] = 5; }),
            "k: size of dimension 0 (batch) must be 2, as of q (found 5)");
  EXPECT_EQ(refusalAfter([](Params p) { p.k.sizes[1] = 2; }),
            "k: size of dimension 1 (kv_heads) must divide q's 3 heads (found "
            "2)");
  EXPECT_EQ(refusalAfter([](Params p) { p.k.sizes[1] = 0; }),
            "k: size of dimension 1 (kv_heads) must divide q's 3 heads (found "
            "0)");
  EXPECT_EQ(refusalAfter([](Params p) { p.k.sizes[3] = 64; }),
            "k: size of dimension 3 (head_dim) must be 128, as of q (found "
            "64)");
  EXPECT_EQ(refusalAfter([](Params p) { p.v.sizes[2] = 201; }),
            "v: size of dimension 2 (seq_kv) must be 200, as of k (found 201)");
  EXPECT_EQ(refusalAfter([](Params p) { p.o.sizes[2] = 299; }),
            "o: size of dimension 2 (seq_q) must be 300, as of q (found 299)");
  EXPECT_EQ(refusalAfter([](Params p) { p.o.sizes[3] = 64; }),
            "o: size of dimension 3 (head_dim_v) must be 128, as of v (found "
            "64)");
  EXPECT_EQ(refusalAfter([](Params p) { p.lse.sizes[1] = 1; }),
            "lse: size of dimension 1 (heads) must be 3, as of q (found 1)");
  EXPECT_EQ(refusalAfter([](Params p) { p.q.sizes[3] = p.k.sizes[3] = 0; }),
            "q: size of dimension 3 (head_dim) must be at least 1 (found 0)");
}

TEST(Problem, RefusesWrongInputStrides) {
  EXPECT_EQ(refusalAfter([](Params p) { p.q.strides[3] = 2; }),
            "q: stride of dimension 3 (head_dim) must be 1 (found 2)");
  EXPECT_EQ(refusalAfter([](Params p) { p.k.strides[2] = 132; }),
            "k: stride of dimension 2 (seq_kv) must be a multiple of 8 "
            "elements (16 bytes) (found 132)");
  EXPECT_EQ(refusalAfter([](Params p) { p.v.strides[0] = -8; }),
            "v: stride of dimension 0 (batch) must not be negative (found -8)");
  EXPECT_EQ(refusalAfter([](Params p) {
              p.q.strides[0] = std::numeric_limits<int64_t>::max() & ~7;
            }),
            "q: stride of dimension 0 (batch) must keep the last element "
            "within 2^63 bytes (found 9223372036854775800)");
}

TEST(Problem, RefusesWrongOutputStrides) {
  EXPECT_EQ(refusalAfter([](Params p) { p.o.strides[3] = 2; }),
            "o: stride of dimension 3 (head_dim_v) must be 1 (found 2)");
  EXPECT_EQ(refusalAfter([](Params p) { p.o.strides[2] = 129; }),
            "o: stride of dimension 2 (seq_q) must be a multiple of 8 elements "
            "(16 bytes) (found 129)");
  EXPECT_EQ(refusalAfter([](Params p) { p.o.strides[1] = 0; }),
            "o: stride of dimension 1 (heads) must not be 0, since outputs "
            "would overlap (found 0)");
  EXPECT_EQ(refusalAfter([](Params p) { p.lse.strides[2] = 0; }),
            "lse: stride of dimension 2 (seq_q) must not be 0, since outputs "
            "would overlap (found 0)");
}

TEST(Problem, RefusesWrongAddresses) {
  EXPECT_EQ(refusalAfter([](Params p) { p.q.data = address(0x10002); }),
            "q: data must be aligned to 16 bytes (found 0x10002)");
  EXPECT_EQ(refusalAfter([](Params p) { p.v.data = nullptr; }),
            "v: data must not be NULL (found NULL)");
  EXPECT_EQ(refusalAfter([](Params p) { p.o.data = address(0x40002); }),
            "o: data must be aligned to 16 bytes (found 0x40002)");
  EXPECT_EQ(refusalAfter([](Params p) { p.lse.data = address(0x50001); }),
            "lse: data must be aligned to 4 bytes (found 0x50001)");
}

TEST(Problem, RefusesWrongScales) {
  EXPECT_EQ(refusalAfter([](Params p) { p.scale = -0.5f; }),
            "scale: must be finite and positive (found -0.500000)");
  EXPECT_EQ(refusalAfter([](Params p) { p.scale = INFINITY; }),
            "scale: must be finite and positive (found inf)");
  EXPECT_NE(refusalAfter([](Params p) { p.scale = NAN; }), "");
  EXPECT_EQ(refusalAfter([](Params p) { p.scale = 0; }),
            "scale: must be finite and positive (found 0.000000)");
}

TEST(Problem, AcceptsOddLayouts) {
  EXPECT_EQ(refusalAfter([](Params p) { p.k.strides[1] = 0; }), "")
      << "heads repeated";
  EXPECT_EQ(refusalAfter([](Params p) { p.o.data = address(0x40010); }), "");
  EXPECT_EQ(refusalAfter([](Params p) {
              for (fa_tensor *t : {&p.q, &p.k, &p.v, &p.o, &p.lse}) {
                t->sizes[0] = 1;
                t->strides[0] = 7;
              }
            }),
            "")
      << "the stride of a dimension of size 1";
  EXPECT_EQ(refusalAfter([](Params p) { p.q.strides[0] = (int64_t(1) << 33); }),
            "")
      << "offsets over 2^32";
}

TEST(Problem, TensorsWithoutElementsNeedNoMemory) {
  EXPECT_EQ(refusalAfter([](Params p) {
              p.k.sizes[2] = p.v.sizes[2] = 0;
              p.k.data = p.v.data = nullptr;
              p.k.strides[0] = 3;
            }),
            "");
  fa_forward_params params = forwardParams();
  params.q.sizes[2] = params.o.sizes[2] = params.lse.sizes[2] = 0;
  params.q.data = params.o.data = params.lse.data = nullptr;
  EXPECT_TRUE(checkProblem(&params).empty());
}

TEST(Problem, CountsF32InItsOwnElements) {
  auto makeF32 = [](Params p) {
    for (fa_tensor *t : {&p.q, &p.k, &p.v, &p.o})
      t->dtype = FA_F32;
  };
  EXPECT_EQ(refusalAfter([&](Params p) {
              makeF32(p);
              p.q.strides[2] = 132;
              p.o.strides[2] = 132;
            }),
            "");
  EXPECT_EQ(refusalAfter([&](Params p) {
              makeF32(p);
              p.q.strides[2] = 130;
            }),
            "q: stride of dimension 2 (seq_q) must be a multiple of 4 elements "
            "(16 bytes) (found 130)");
}
