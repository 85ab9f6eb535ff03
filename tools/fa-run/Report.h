//===- Report.h - What fa-run prints about a run -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_RUN_REPORT_H
#define FA_TOOLS_FA_RUN_REPORT_H

#include "fa/Execute/Compare.h"
#include "fa/Execute/Sizes.h"
#include "fa/Execute/Traffic.h"

#include "llvm/ADT/StringRef.h"

namespace fa::run {

/// One line about a compared output.
void printComparison(llvm::StringRef name, const execute::Comparison &result);

/// A note where no row sees a key, by the reference's lse: then outputs are
/// zeros whatever the scores are.
void noteEmptyRows(const execute::HostTensor &lse);

/// One line about whether rows that no query may read were not.
void printUnusedRows(const execute::Comparison &result);

/// A table of what tensors moved, with a total.
void printTraffic(llvm::ArrayRef<execute::TensorTraffic> rows);

/// The first line of a file of what tensors moved, and the lines of one run.
void printTrafficHeader(llvm::raw_ostream &stream);
void printTrafficLines(llvm::raw_ostream &stream, const execute::Sizes &sizes,
                       llvm::ArrayRef<execute::TensorTraffic> rows);

/// One line about an output that was not compared: shape, sum, first values.
void printSummary(llvm::StringRef name, const execute::HostTensor &tensor);

} // namespace fa::run

#endif // FA_TOOLS_FA_RUN_REPORT_H
