//===- ModuleMutator.h - One module into another -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TEST_FUZZ_MODULEMUTATOR_H
#define FA_TEST_FUZZ_MODULEMUTATOR_H

#include "Random.h"

#include "mlir/IR/BuiltinOps.h"

namespace fa::fuzz {

/// Makes a change that keeps types as they are, so that far more of the results
/// are valid than of changed texts: an operand exchanged for another value of
/// its type, an operation repeated, erased or moved, a number in an attribute
/// changed, an attribute dropped, a schedule set. `module` must be valid; the
/// result may break rules of the verifiers.
void changeModule(mlir::ModuleOp module, Random &random);

} // namespace fa::fuzz

#endif // FA_TEST_FUZZ_MODULEMUTATOR_H
