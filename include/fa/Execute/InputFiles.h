//===- InputFiles.h - Arguments from files -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_INPUTFILES_H
#define FA_EXECUTE_INPUTFILES_H

#include "fa/Execute/AttentionFunction.h"
#include "fa/Execute/InputOptions.h"

namespace fa::execute {

/// A file for an argument, by its name (q, k, v, cu_seqlens_q, cu_seqlens_kv,
/// kv_lens) or number (4, arg4).
struct InputFile {
  std::string argument, file;
};

/// Reads `files` into `options`. Fails with a diagnostic where `problem` has no
/// such argument, it is no tensor or has two files, or the file cannot be read
/// or does not have the argument's rank and static sizes.
mlir::LogicalResult readInputFiles(const AttentionFunction &problem,
                                   llvm::ArrayRef<InputFile> files,
                                   InputOptions &options);

} // namespace fa::execute

#endif // FA_EXECUTE_INPUTFILES_H
