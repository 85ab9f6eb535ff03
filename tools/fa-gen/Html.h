//===- Html.h - Parts of a page ---------------------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_HTML_H
#define FA_TOOLS_FA_GEN_HTML_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace fa {

/// The page's beginning, with its style; light or dark as the reader has it.
void beginPage(llvm::raw_ostream &os, llvm::StringRef title);
void endPage(llvm::raw_ostream &os);

/// `text` with what HTML reads as its own written out.
std::string escaped(llvm::StringRef text);

/// A bar that is full where `value` is `limit`, with its words for those who
/// cannot see it. `mark`, where it is not 0, is a line at that value.
std::string drawBar(double value, double limit, llvm::StringRef words,
                    double mark = 0);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_HTML_H
