//===- Inputs.h - The arguments of a run -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_INPUTS_H
#define FA_EXECUTE_INPUTS_H

#include "fa/Execute/AttentionFunction.h"
#include "fa/Execute/Binding.h"
#include "fa/Execute/HostTensor.h"
#include "fa/Execute/InputOptions.h"
#include "fa/Execute/Sizes.h"

#include <deque>
#include <map>

namespace fa::execute {

/// The arguments of one call, in the form that compiled code takes them.
class Inputs {
public:
  /// Adds a tensor, of which the caller keeps nothing.
  void addTensor(HostTensor tensor);
  /// Adds a scalar by its bits.
  void addScalar(uint64_t bits);
  /// One pointer for each argument, to what the call takes by value.
  llvm::SmallVector<void *> getArguments();

private:
  /// An argument: a descriptor and its address, or a scalar.
  struct Argument {
    MemRefDescriptor descriptor;
    void *address = nullptr;
    uint64_t bits = 0;
  };
  // Both keep their elements in place, so that addresses stay valid.
  std::deque<HostTensor> tensors;
  std::deque<Argument> arguments;
};

/// Fails with a diagnostic where `scalars`, by argument number, has a value for
/// what is no scalar argument of `problem`, or one that the argument cannot
/// have.
mlir::LogicalResult checkScalars(const AttentionFunction &problem,
                                 const std::map<unsigned, double> &scalars);

/// Whether there are rows that no query may use: keys beyond kv_lens, and what
/// lies outside every packed sequence.
bool hasUnusedRows(const AttentionFunction &problem, const Sizes &sizes);

/// Makes the arguments of `problem`, for sizes from bindSizes. Those that the
/// options do not have are made so:
///
/// - tensors of floats are normal, q and k as the distribution says;
/// - cu_seqlens and kv_lens are what `sizes` has;
/// - other tensors of integers are ids: along the last dimension they begin at
///   0 and now and then grow by 1, up to 127; those of i1 are 0 or 1 at random.
///
/// Fails with a diagnostic where the type or the size of an argument says
/// nothing about what it should be.
mlir::LogicalResult makeInputs(const AttentionFunction &problem,
                               const Sizes &sizes, const InputOptions &options,
                               Inputs &inputs);

} // namespace fa::execute

#endif // FA_EXECUTE_INPUTS_H
