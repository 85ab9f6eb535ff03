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
#include <vector>

namespace fa::execute {

/// What the inputs are made from.
struct InputOptions {
  uint64_t seed = 1;
  Distribution distribution;
  /// Values of scalar arguments, by argument number.
  std::map<unsigned, double> scalars;
  /// How long the sequences of q and of k are, where that is not drawn.
  std::optional<std::vector<int64_t>> queryLengths, keyLengths;
  /// Whether the rows of k and v that no query may use (and those of packed q
  /// outside every sequence) are NaN and infinities. They are 0 otherwise.
  bool poisonUnused = false;
};

/// The stream of random numbers from which argument `number` is drawn.
inline uint64_t getStream(const InputOptions &options, unsigned number) {
  return (options.seed << 8) + number;
}

} // namespace fa::execute

#endif // FA_EXECUTE_INPUTOPTIONS_H
