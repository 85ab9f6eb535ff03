//===- InputOptions.h - What inputs are made from -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_INPUTOPTIONS_H
#define FA_EXECUTE_INPUTOPTIONS_H

#include "fa/Execute/Distribution.h"
#include "fa/Execute/HostTensor.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fa::execute {

/// A tensor that a file holds.
struct GivenTensor {
  HostTensor tensor;
  std::string file;
};

/// What is done to rows that no query may use: keys beyond kv_lens, and what
/// lies outside every packed sequence.
enum class UnusedRows {
  /// They are drawn or read as all others are.
  Keep,
  Zero,
  /// They are NaN and infinities.
  Poison
};

/// What the inputs are made from.
struct InputOptions {
  uint64_t seed = 1;
  Distribution distribution;
  /// Values of scalar arguments, by argument number.
  std::map<unsigned, double> scalars;
  /// How long the sequences of q and of k are, where that is not drawn.
  std::optional<std::vector<int64_t>> queryLengths, keyLengths;
  /// Values of tensor arguments, by argument number.
  std::map<unsigned, GivenTensor> tensors;
  UnusedRows unusedRows = UnusedRows::Keep;
};

/// The stream of random numbers from which argument `number` is drawn.
inline uint64_t getStream(const InputOptions &options, unsigned number) {
  return (options.seed << 8) + number;
}

} // namespace fa::execute

#endif // FA_EXECUTE_INPUTOPTIONS_H
