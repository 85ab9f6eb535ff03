//===- Report.h - A page on a library's kernels -----------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_REPORT_H
#define FA_TOOLS_FA_GEN_REPORT_H

#include "Levels.h"
#include "Library.h"

namespace fa {

/// One kernel on the page.
struct ReportedKernel {
  const Library::Job *job;
  std::vector<LevelText> levels; ///< may be empty
};

/// Where a library and its IR are.
struct ReportPlaces {
  std::string folder; ///< of the library
  /// Of the levels' files, as the page's links say it; empty: the page has the
  /// levels A to D itself.
  std::string levels;
};

/// Prints one HTML page that needs nothing else: what was made, by which
/// schedules, what they take of the GPU, how fast they were measured to be.
void printReport(llvm::raw_ostream &os, mlir::MLIRContext &context,
                 const std::vector<ReportedKernel> &kernels,
                 const ReportPlaces &places);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_REPORT_H
