//===- Tune.h - Measuring schedules on this machine's GPU -------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_TUNE_H
#define FA_TOOLS_FA_GEN_TUNE_H

#include "Compile.h"

#include "mlir/IR/DialectRegistry.h"

namespace fa {

/// Times the candidates of `specs` on this machine's GPU, whose architecture
/// must be the only one of `archs`, and writes the fastest into the user's
/// table: makes their library in the user's cache and runs `fa-bench tune` on
/// it. Says on stderr what is missing.
mlir::LogicalResult tuneHere(const mlir::DialectRegistry &registry,
                             const std::vector<KernelSpec> &specs,
                             const std::vector<std::string> &archs,
                             unsigned jobs);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_TUNE_H
