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

struct Target;

#define GEN_PASS_DECL
#include "fa/Conversion/CtaToNVVM/Passes.h.inc"

/// Rewrites the tile program in `func` as per-thread code in upstream dialects.
/// In the sm_90 form (wgmma, tensor maps, mbarriers) where `target` has it and
/// all teams are of 4 warps, else in the sm_80 form (mma.sync, cp.async).
/// Reports what has no such form.
mlir::LogicalResult lowerTiles(mlir::gpu::GPUFuncOp func, const Target &target);

#define GEN_PASS_REGISTRATION
#include "fa/Conversion/CtaToNVVM/Passes.h.inc"

} // namespace fa

#endif // FA_CONVERSION_CTATONVVM_PASSES_H
