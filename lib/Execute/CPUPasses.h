//===- CPUPasses.h - Passes that make level C fast on a CPU -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_EXECUTE_CPUPASSES_H
#define FA_LIB_EXECUTE_CPUPASSES_H

#include "mlir/Pass/Pass.h"

namespace fa::execute {

/// Matrix products become loops that LLVM vectorises: each operand is first
/// copied into f32 with the columns of the result innermost, then the product
/// runs over rows, the summed dimension and columns, in this order.
std::unique_ptr<mlir::Pass> createProductsToLoopOrder();

/// `scf.forall` on buffers becomes loops; with `parallel` the innermost ones
/// become `scf.parallel`.
std::unique_ptr<mlir::Pass> createForallToLoops(bool parallel);

/// Empty tensors become as many as there are destinations in an op, which
/// bufferization would otherwise let share a buffer.
std::unique_ptr<mlir::Pass> createSeparateDestinations();

/// Copies between buffers become structured ops, and so loops: as calls they
/// would need a runtime library, and strided ones would be slow.
std::unique_ptr<mlir::Pass> createCopiesToLoops();

} // namespace fa::execute

#endif // FA_LIB_EXECUTE_CPUPASSES_H
