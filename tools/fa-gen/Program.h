//===- Program.h - Kernels that are no attention ----------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_PROGRAM_H
#define FA_TOOLS_FA_GEN_PROGRAM_H

#include "Spec.h"

namespace fa {

/// Whether `function` is a program at level C: it has a schedule of its own.
bool isProgram(mlir::func::FuncOp function);

/// The spec of a program: one `scf.forall` over tiles of tensors with at most 4
/// dimensions, whose results the function returns. Fails with a diagnostic
/// where a kernel cannot take an argument, or nobody could know a result's
/// size.
mlir::FailureOr<KernelSpec> makeProgramSpec(mlir::func::FuncOp function);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_PROGRAM_H
