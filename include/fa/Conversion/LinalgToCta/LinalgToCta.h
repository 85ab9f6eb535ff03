//===- LinalgToCta.h - From tiles to a thread block ----------- -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_CONVERSION_LINALGTOCTA_LINALGTOCTA_H
#define FA_CONVERSION_LINALGTOCTA_LINALGTOCTA_H

#include "fa/Schedule/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace fa {

#define GEN_PASS_DECL
#include "fa/Conversion/LinalgToCta/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fa/Conversion/LinalgToCta/Passes.h.inc"

/// Makes a function of each outermost forall of `host`, which calls them; see
/// the pass. Fails with a diagnostic where the plan would be no straight line.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
outlineKernels(mlir::RewriterBase &rewriter, mlir::func::FuncOp host);

/// How a thread block is divided.
struct TeamShape {
  int64_t teams = 1; ///< teams in a block
  int64_t warps = 1; ///< warps in a team
};

/// Makes a kernel of `function`; see the pass. The function stays as it is.
/// Fails with a diagnostic where the function has no such form.
mlir::FailureOr<mlir::gpu::GPUFuncOp>
mapToThreadBlock(mlir::OpBuilder &builder, mlir::func::FuncOp function,
                 TeamShape shape, Partition partition = Partition::SplitQ);

} // namespace fa

#endif // FA_CONVERSION_LINALGTOCTA_LINALGTOCTA_H
