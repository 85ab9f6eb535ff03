//===- Passes.h - From the cta dialect to NVVM ------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the conversion passes from level D to level E.
//
//===----------------------------------------------------------------------===//

#ifndef FA_CONVERSION_CTATONVVM_PASSES_H
#define FA_CONVERSION_CTATONVVM_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace fa {

#define GEN_PASS_DECL
#include "fa/Conversion/CtaToNVVM/Passes.h.inc"

/// Rewrites the tile program in `func` as per-thread code in upstream dialects.
/// Reports what has no sm_80 form.
mlir::LogicalResult lowerTiles(mlir::gpu::GPUFuncOp func);

#define GEN_PASS_REGISTRATION
#include "fa/Conversion/CtaToNVVM/Passes.h.inc"

} // namespace fa

#endif // FA_CONVERSION_CTATONVVM_PASSES_H
