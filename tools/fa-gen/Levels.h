//===- Levels.h - A kernel's IR at each level -------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_LEVELS_H
#define FA_TOOLS_FA_GEN_LEVELS_H

#include "Compile.h"

namespace fa {

/// One level of a kernel in text.
struct LevelText {
  std::string file;  ///< "b-blocks.mlir"
  std::string title; ///< "B: attention on blocks"
  std::string text;
};

/// Levels A to E of what `request` asks for, made anew level by level. Fails
/// where the passes do; `compileKernel` says why.
mlir::FailureOr<std::vector<LevelText>>
printLevels(const mlir::DialectRegistry &registry,
            const KernelRequest &request);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_LEVELS_H
