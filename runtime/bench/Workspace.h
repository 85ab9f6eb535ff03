//===- Workspace.h - Memory between launches --------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_WORKSPACE_H
#define FLASHLOOM_BENCH_WORKSPACE_H

#include "Device.h"
#include "Library.h"
#include "Problem.h"

namespace fa::bench {

/// The workspace of one kernel on one problem, filled with NaN, for as long as
/// it lives the one that `params` names.
class Workspace {
public:
  Workspace(const Device &device, rt::Library &library, size_t index,
            const rt::Problem &problem, fa_forward_params &params);

private:
  size_t bytes;
  DeviceBuffer buffer;
};

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_WORKSPACE_H
