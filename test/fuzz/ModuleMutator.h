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

/// Makes one to three changes that keep types as they are, so that far more of
/// the results are valid than of changed texts: operands exchanged for other
/// values of their type, operations repeated, erased and moved, numbers in
/// attributes changed, attributes dropped, schedules set. The result may break
/// rules of the verifiers.
void mutateModule(mlir::ModuleOp module, Random &random);

} // namespace fa::fuzz

#endif // FA_TEST_FUZZ_MODULEMUTATOR_H
