//===- Program.h - Launching kernels that are no attention ------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_PROGRAM_H
#define FLASHLOOM_RUNTIME_PROGRAM_H

#include "Library.h"

namespace fa::rt {

/// The program of this name that the current device runs: the one whose name
/// it is, or of those whose entry it is the one for the highest architecture.
/// Throws Failure(FA_NO_KERNEL).
size_t findProgram(const Library &library, const std::string &name);

/// Checks the arguments and launches a program, unless an output's grid is
/// empty. Throws Failure.
void launchProgram(Library &library, size_t index, const fa_extra *arguments,
                   size_t count, CuStream stream);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_PROGRAM_H
