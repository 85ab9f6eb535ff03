//===- Mutation.h - Small mistakes in a kernel -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TEST_SIMULATOR_MUTANTS_MUTATION_H
#define FA_TEST_SIMULATOR_MUTANTS_MUTATION_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <string>
#include <vector>

namespace fa::mutants {

/// One mistake: what is done to which of a kernel's synchronising ops.
struct Mutation {
  enum class Kind {
    Drop,      ///< the op is left out
    Duplicate, ///< it is done twice
    MoveUp,    ///< before the synchronising op or product before it
    MoveDown,  ///< after the one after it
    MoveFirst, ///< to the first place in its block that SSA allows
    MoveLast   ///< to the last one
  } kind;
  unsigned op; ///< in the order of a walk
  /// "move up cta.wait past cta.release (related)". Mistakes of one name are of
  /// one nature.
  std::string name;
};

/// All mistakes that can be made in `kernel` so that its SSA form holds.
std::vector<Mutation> enumerate(mlir::gpu::GPUFuncOp kernel);

/// Makes the mistake in `kernel`, a copy of the one that was enumerated.
/// Returns false where no value can take the place of what is dropped.
bool apply(const Mutation &mutation, mlir::gpu::GPUFuncOp kernel);

} // namespace fa::mutants

#endif // FA_TEST_SIMULATOR_MUTANTS_MUTATION_H
