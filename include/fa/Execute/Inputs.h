//===- Inputs.h - The arguments of a run -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_INPUTS_H
#define FA_EXECUTE_INPUTS_H

#include "fa/Execute/AttentionFunction.h"
#include "fa/Execute/Distribution.h"
#include "fa/Execute/HostTensor.h"
#include "fa/Execute/Sizes.h"

#include <deque>
#include <map>

namespace fa::execute {

/// What the inputs are made from.
struct InputOptions {
  uint64_t seed = 1;
  Distribution distribution;
  /// Values of scalar arguments, by argument number.
  std::map<unsigned, double> scalars;
};

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

/// The most bytes that the tensors of a run, its arguments and o and lse, may
/// take together. With its references a run needs a few times that.
inline constexpr int64_t kMaxTensorBytes = int64_t(4) << 30;

/// `sizes` with what the types of `problem` fix. Fails with a diagnostic where
/// the user asked for something else, the heads do not divide, the size of an
/// argument is unknown, or the tensors take more than kMaxTensorBytes.
mlir::FailureOr<Sizes> bindSizes(const AttentionFunction &problem, Sizes sizes);

/// Fails with a diagnostic where `scalars`, by argument number, has a value for
/// what is no scalar argument of `problem`, or one that the argument cannot
/// have.
mlir::LogicalResult checkScalars(const AttentionFunction &problem,
                                 const std::map<unsigned, double> &scalars);

/// Draws the arguments of `problem`. Fails with a diagnostic where the type or
/// the size of an argument says nothing about what it should be.
mlir::LogicalResult makeInputs(const AttentionFunction &problem,
                               const Sizes &sizes, const InputOptions &options,
                               Inputs &inputs);

} // namespace fa::execute

#endif // FA_EXECUTE_INPUTS_H
