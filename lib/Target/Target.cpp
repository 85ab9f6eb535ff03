//===- Target.cpp - GPUs in numbers -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Target/Target.h"

using namespace fa;

/// The blocks' shared memory is the multiprocessor's less 1 KiB that the system
/// keeps for each block.
static constexpr Target kTargets[] = {
    // A100 SXM4
    {"sm_80", 8, 0, 163 << 10, 164 << 10, 65536, 255, 2048, 108, 40 << 20},
    // A10 (GA102)
    {"sm_86", 8, 6, 99 << 10, 100 << 10, 65536, 255, 1536, 72, 6 << 20},
    // L40S (AD102)
    {"sm_89", 8, 9, 99 << 10, 100 << 10, 65536, 255, 1536, 142, 96 << 20},
    // H100 and H200 SXM5
    {"sm_90", 9, 0, 227 << 10, 228 << 10, 65536, 255, 2048, 132, 50 << 20},
    {"sm_90a", 9, 0, 227 << 10, 228 << 10, 65536, 255, 2048, 132, 50 << 20},
};

const Target *Target::lookup(llvm::StringRef name) {
  for (const Target &target : kTargets)
    if (name == target.name)
      return &target;
  return nullptr;
}
