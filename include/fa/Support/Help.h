//===- Help.h - What --help shows -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The libraries of MLIR and LLVM bring more than a thousand options into every
// tool. `--help` is for a tool's own, `--help-hidden` for all.
//
//===----------------------------------------------------------------------===//

#ifndef FA_SUPPORT_HELP_H
#define FA_SUPPORT_HELP_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CommandLine.h"

namespace fa {

/// Leaves to `--help`, of the options that exist by now, those that `isShown`
/// accepts.
inline void
showOnly(llvm::function_ref<bool(const llvm::cl::Option &)> isShown) {
  for (auto &entry : llvm::cl::getRegisteredOptions()) {
    llvm::cl::Option &option = *entry.second;
    if (!isShown(option) && option.getOptionHiddenFlag() == llvm::cl::NotHidden)
      option.setHiddenFlag(llvm::cl::Hidden);
  }
}

} // namespace fa

#endif // FA_SUPPORT_HELP_H
