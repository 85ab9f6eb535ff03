//===- Sizes.h - The sizes of a problem -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_SIZES_H
#define FA_EXECUTE_SIZES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace fa::execute {

/// What the dynamic dimensions of a problem stand for.
enum class Dim { B, Hq, Hkv, Sq, Skv };
inline constexpr unsigned kNumDims = 5;

/// The name of a dimension on the command line: "B", "Hq", ...
llvm::StringRef getName(Dim dim);

/// A value for each dimension, and which of them the user asked for.
struct Sizes {
  int64_t values[kNumDims] = {1, 2, 2, 113, 271};
  bool given[kNumDims] = {};

  int64_t operator[](Dim dim) const { return values[unsigned(dim)]; }
  int64_t &operator[](Dim dim) { return values[unsigned(dim)]; }

  /// Parses "B=1,Hq=2"; what is left out keeps its default.
  static llvm::Expected<Sizes> parse(llvm::StringRef text);
  /// "B=1,Hq=2,Hkv=2,Sq=113,Skv=271".
  std::string str() const;
};

} // namespace fa::execute

#endif // FA_EXECUTE_SIZES_H
