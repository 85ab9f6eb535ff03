//===- Describe.h - What --emit and --report ask for ------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_DESCRIBE_H
#define FA_TOOLS_FA_GEN_DESCRIBE_H

#include "Library.h"

namespace fa {

/// Where what is said of a library goes.
struct Descriptions {
  std::string folder; ///< of the library
  std::string report; ///< the page's file; empty: none
  std::string emit;   ///< the folder of the levels' files; empty: none
  unsigned jobs = 0;  ///< kernels at a time; 0: one a core
};

/// Writes the IR of the kernels of `library` at each level, and the page on
/// them, with links to it that hold where page and folder move together. Says
/// on stderr what cannot be written.
mlir::LogicalResult describeLibrary(mlir::MLIRContext &context,
                                    const mlir::DialectRegistry &registry,
                                    const Library &library,
                                    const Descriptions &descriptions);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_DESCRIBE_H
