//===- HeaderTest.cpp - The header in C and C++ ---------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "flashloom/fa_runtime.h"

#include <gtest/gtest.h>

extern "C" size_t fa_test_c_sizes(size_t *params, size_t *info);

TEST(Header, IsTheSameInC) {
  size_t params = 0, info = 0;
  EXPECT_EQ(fa_test_c_sizes(&params, &info), sizeof(fa_tensor));
  EXPECT_EQ(params, sizeof(fa_forward_params));
  EXPECT_EQ(info, sizeof(fa_kernel_info));
}

TEST(Header, HasTheLibrarysVersion) { EXPECT_EQ(fa_version(), FA_VERSION); }
