//===- Traffic.h - Bytes between tensors and tiles -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_TRAFFIC_H
#define FA_EXECUTE_TRAFFIC_H

#include "fa/Execute/AttentionFunction.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fa::execute {

/// The bytes that one tensor of an attention moves.
struct TensorTraffic {
  /// q, k, v, o, lse, acc, max, sum, s, p or "other"; "q=k" where one tensor is
  /// both.
  std::string tensor;
  int64_t loads = 0, stores = 0;
};

/// Counters that instrumented code adds to.
namespace traffic {

void reset();
/// The tensors that were loaded or stored since the last reset.
std::vector<TensorTraffic> get();
/// The function that compiled code calls, by name.
std::pair<llvm::StringLiteral, void *> getSymbol();

} // namespace traffic

/// Registers `--count-traffic`, which makes a module count the bytes of
///
/// - each slice of a whole tensor that an op reads, when it is cut out. A slice
///   that is only cut further or written over is not read;
/// - each tile that is inserted into a whole tensor;
/// - each whole tensor that an attention or linalg op reads or writes.
///
/// Whole tensors have a dimension of heads: of three dimensions and more, max,
/// sum and lse of two and more. What is inserted into a whole tensor of which
/// it is a sequence is not a tile. Elements that score and mask regions read
/// are not counted.
void registerCountTraffic();

/// The textual pipeline `text` with `--count-traffic` before its first
/// `--online-softmax`, or at its end.
std::string addTrafficCounters(llvm::StringRef text,
                               const AttentionFunction &problem);

} // namespace fa::execute

#endif // FA_EXECUTE_TRAFFIC_H
