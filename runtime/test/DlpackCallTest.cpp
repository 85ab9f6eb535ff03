//===- DlpackCallTest.cpp - A framework's tensors for a repeated call -----===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DlpackCall.h"

#include "FakeDriver.h"
#include "TestLibrary.h"

#include <gtest/gtest.h>
#include <vector>

using namespace fa;
using namespace fa::test;

namespace {

/// DLTensor as dlpack.h has it, written down a second time.
struct DlTensor {
  void *data = nullptr;
  int32_t deviceType = 2;
  int32_t deviceId = 0;
  int32_t rank = 4;
  uint8_t code = 4;
  uint8_t bits = 16;
  uint16_t lanes = 1;
  int64_t *sizes = nullptr;
  int64_t *strides = nullptr;
  uint64_t byteOffset = 0;
};
static_assert(sizeof(DlTensor) == 48, "as in DLPack 1");

/// What stands for a framework's tensor object.
struct Object {
  explicit Object(uintptr_t address) {
    tensor.data = reinterpret_cast<void *>(address);
  }
  DlTensor tensor;
  std::vector<int64_t> sizes = {2, 1, 64, 32};
  std::vector<int64_t> strides = {2048, 7, 32, 1};
};

int read(void *object, void *out) {
  auto *source = static_cast<Object *>(object);
  source->tensor.sizes = source->sizes.data();
  if (!source->strides.empty())
    source->tensor.strides = source->strides.data();
  *static_cast<DlTensor *>(out) = source->tensor;
  return 0;
}

int fail(void *, void *) { return -1; }

class DlpackCall : public testing::Test {
protected:
  DlpackCall() {
    call.read = read;
    call.params = &params;
    Object *objects[4] = {&q, &k, &v, &o};
    for (int i = 0; i < 4; ++i) {
      call.objects[i] = objects[i];
      call.like[i] = {nullptr, FA_BF16, 4, {2, 1, 64, 32}, {2048, 7, 32, 1}};
    }
    for (fa_tensor *target : targets)
      target->data = this;
  }

  bool bind() { return rt::bindTensors(call); }

  /// Nothing fits, and no address was written.
  void expectRefusal() {
    EXPECT_FALSE(bind());
    for (const fa_tensor *target : targets)
      EXPECT_EQ(target->data, this);
  }

  fa_dlpack_call call{};
  fa_forward_params params{};
  fa_tensor *targets[4] = {&params.q, &params.k, &params.v, &params.o};
  Object q{0x1000}, k{0x2000}, v{0x3000}, o{0x4000};
};

} // namespace

TEST_F(DlpackCall, WritesAddresses) {
  k.tensor.byteOffset = 0x40;
  ASSERT_TRUE(bind());
  EXPECT_EQ(params.q.data, reinterpret_cast<void *>(0x1000));
  EXPECT_EQ(params.k.data, reinterpret_cast<void *>(0x2040));
  EXPECT_EQ(params.v.data, reinterpret_cast<void *>(0x3000));
  EXPECT_EQ(params.o.data, reinterpret_cast<void *>(0x4000));
}

TEST_F(DlpackCall, StrideOfASingleElementDoesNotMatter) {
  q.strides[1] = 2048;
  EXPECT_TRUE(bind());
}

TEST_F(DlpackCall, WithoutStridesATensorIsCompact) {
  v.strides.clear();
  EXPECT_TRUE(bind());
  for (fa_tensor &like : call.like)
    like.strides[2] = 64;
  EXPECT_FALSE(bind());
}

TEST_F(DlpackCall, RefusesAnotherLayout) {
  for (int dim = 0; dim < 4; ++dim) {
    ++o.sizes[dim];
    expectRefusal();
    --o.sizes[dim];
  }
  for (int dim : {0, 2, 3}) {
    ++v.strides[dim];
    expectRefusal();
    --v.strides[dim];
  }
  q.tensor.rank = 3;
  expectRefusal();
}

TEST_F(DlpackCall, RefusesAnotherType) {
  k.tensor.code = 2;
  expectRefusal();
  k.tensor.code = 4;
  k.tensor.bits = 32;
  expectRefusal();
  k.tensor.bits = 16;
  k.tensor.lanes = 2;
  expectRefusal();
}

TEST_F(DlpackCall, TellsTypesApart) {
  for (fa_tensor &like : call.like)
    like.dtype = FA_F16;
  expectRefusal();
  for (Object *object : {&q, &k, &v, &o})
    object->tensor.code = 2;
  EXPECT_TRUE(bind());
}

TEST_F(DlpackCall, RefusesAnotherDevice) {
  o.tensor.deviceId = 1;
  expectRefusal();
  o.tensor.deviceId = 0;
  o.tensor.deviceType = 1;
  expectRefusal();
  call.device = -1;
  expectRefusal();
  for (Object *object : {&q, &k, &v, &o})
    object->tensor.deviceType = 1;
  EXPECT_TRUE(bind());
}

TEST_F(DlpackCall, SaysWhyNothingWasLaunched) {
  call.device = 1;
  EXPECT_EQ(fa_dlpack_forward(&call), FA_OTHER_TENSORS);
  call.read = fail;
  EXPECT_EQ(fa_dlpack_forward(&call), FA_INVALID_ARGUMENT);
  EXPECT_STREQ(fa_last_error(),
               "the framework could not read an object as a tensor");
  EXPECT_EQ(fa_dlpack_forward(nullptr), FA_INVALID_ARGUMENT);
}
