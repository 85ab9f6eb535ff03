//===- ManifestPlan.h - Reading launch plans --------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_MANIFESTPLAN_H
#define FLASHLOOM_RUNTIME_MANIFESTPLAN_H

#include "JsonField.h"
#include "Kernel.h"

namespace fa::rt {

/// Reads `launches`, `workspaces` and `splits` of a kernel's entry, whose
/// params are read already. Throws Failure(FA_INVALID_LIBRARY).
void readPlan(const JsonField &field, Kernel &kernel);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_MANIFESTPLAN_H
