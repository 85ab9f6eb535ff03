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
#include <vector>

namespace fa::execute {

/// What the dynamic dimensions of a problem stand for. Tq and Tkv are the rows
/// of packed tensors, of all sequences together; Sq and Skv are then those of
/// the longest sequence.
enum class Dim { B, Hq, Hkv, Sq, Skv, Tq, Tkv };
inline constexpr unsigned kNumDims = 7;

/// The name of a dimension on the command line: "B", "Hq", ...
llvm::StringRef getName(Dim dim);

/// A value for each dimension, and which of them the user asked for.
struct Sizes {
  int64_t values[kNumDims] = {1, 2, 2, 113, 271};
  bool given[kNumDims] = {};
  /// Of packed tensors: the first row of each sequence of q and of k, and the
  /// end of the last one. Else empty.
  std::vector<int64_t> startsQ, startsKV;
  /// With kv_lens: how many keys each batch has. Else empty.
  std::vector<int64_t> keyLengths;

  int64_t operator[](Dim dim) const { return values[unsigned(dim)]; }
  int64_t &operator[](Dim dim) { return values[unsigned(dim)]; }
  bool isGiven(Dim dim) const { return given[unsigned(dim)]; }

  /// Parses "B=1,Hq=2"; what is left out keeps its default.
  static llvm::Expected<Sizes> parse(llvm::StringRef text);
  /// "B=1,Hq=2,Hkv=2,Sq=113,Skv=271", then the lengths where they differ, as
  /// options: " --q-lens=76,34,146 --kv-lens=1,1,1".
  std::string str() const;
};

/// Parses lengths, "76,34,146".
llvm::Expected<std::vector<int64_t>> parseLengths(llvm::StringRef text);

} // namespace fa::execute

#endif // FA_EXECUTE_SIZES_H
