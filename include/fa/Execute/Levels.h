//===- Levels.h - Which passes the CPU can follow -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_LEVELS_H
#define FA_EXECUTE_LEVELS_H

#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace fa::execute {

/// The passes that leave level C: `--map-warps` and everything at level D and
/// lower. A new pass there must be added.
llvm::ArrayRef<llvm::StringLiteral> getPassesBelowLevelC();

/// The passes that leave level D, which the simulator runs.
llvm::ArrayRef<llvm::StringLiteral> getPassesBelowLevelD();

/// The first of `passes` in the textual pipeline `text`, or "".
llvm::StringRef findPass(llvm::StringRef text,
                         llvm::ArrayRef<llvm::StringLiteral> passes);

/// The textual pipeline `text` without its first pass that is one of `passes`
/// and everything after that; then also without the check of what the pipeline
/// makes kernels of, since there will be none.
std::string cutBelow(llvm::StringRef text,
                     llvm::ArrayRef<llvm::StringLiteral> passes);

} // namespace fa::execute

#endif // FA_EXECUTE_LEVELS_H
