//===- ManifestProgram.h - Reading a program's parameters -------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_MANIFESTPROGRAM_H
#define FLASHLOOM_RUNTIME_MANIFESTPROGRAM_H

#include "JsonField.h"
#include "Kernel.h"

namespace fa::rt {

/// Reads the parameters, the grid and the launch of `field`, one of a
/// manifest's programs, into `program`, whose format is read already. Throws
/// Failure(FA_INVALID_LIBRARY).
void readProgram(const JsonField &field, Kernel &program);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_MANIFESTPROGRAM_H
