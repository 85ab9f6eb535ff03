//===- Workspace.cpp - Memory between launches ----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workspace.h"

#include "Plan.h"

using namespace fa;
using namespace fa::bench;

Workspace::Workspace(const Device &device, rt::Library &library, size_t index,
                     const rt::Problem &problem, fa_forward_params &params)
    : bytes(size_t(rt::workspaceBytes(library, index, problem, params))),
      buffer(device, bytes) {
  buffer.fillBytes(0xff);
  params.workspace = buffer.data();
  params.workspace_bytes = bytes;
}
