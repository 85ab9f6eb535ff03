//===- Diagnostics.h - What went wrong, in the user's words -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_DIAGNOSTICS_H
#define FA_TOOLS_FA_GEN_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

#include <string>

namespace fa {

/// Prints a context's diagnostics to `os` as long as it lives: those at a place
/// in a file with that file's line, all others under `name`, which says what
/// was being made.
class DiagnosticPrinter {
public:
  DiagnosticPrinter(mlir::MLIRContext &context, llvm::StringRef name,
                    llvm::raw_ostream &os);

private:
  llvm::LogicalResult printUnderName(mlir::Diagnostic &diagnostic);

  std::string name;
  llvm::raw_ostream &os;
  /// Without buffers: the handler reads the user's file by its name.
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler atFiles;
  /// Asked first, as the later of the two.
  mlir::ScopedDiagnosticHandler withoutFile;
};

} // namespace fa

#endif // FA_TOOLS_FA_GEN_DIAGNOSTICS_H
