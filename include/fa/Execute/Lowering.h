//===- Lowering.h - From any level that the CPU runs to LLVM -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_LOWERING_H
#define FA_EXECUTE_LOWERING_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace fa::execute {

/// Lowers what is left of levels A and B in `module` to level C: `--tile` where
/// an attn.forward is left, `--online-softmax` where another attn op is.
mlir::LogicalResult lowerToLevelC(mlir::ModuleOp module);

/// Appends upstream's passes from level C to the LLVM dialect. Buffers come
/// from the functions in HostMemory.h. With `parallel` the tiles of an
/// `scf.forall` run on all cores; that changes no bit of the results.
void buildCPUPipeline(mlir::OpPassManager &manager, bool parallel);

} // namespace fa::execute

#endif // FA_EXECUTE_LOWERING_H
