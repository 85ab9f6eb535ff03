//===- Kernels.h - What passes ask of a kernel ------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_CTA_TRANSFORMS_KERNELS_H
#define FA_LIB_DIALECT_CTA_TRANSFORMS_KERNELS_H

#include "fa/Dialect/Cta/IR/Cta.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace fa {

/// Whether `func` accesses global memory straight from registers alone, as
/// kernels without products do: it has no tiles that could be elsewhere.
inline bool readsNoTile(mlir::gpu::GPUFuncOp func) {
  bool hasAccess = false, hasTile = false;
  func.walk([&](mlir::Operation *op) {
    hasAccess |=
        mlir::isa<cta::FetchOp, cta::LookupOp, mlir::memref::StoreOp>(op);
    hasTile |= mlir::isa<cta::LoadOp, cta::RingOp>(op);
  });
  return hasAccess && !hasTile;
}

/// Moves `role`, which stands in `work` and is all that it does, around it.
/// Returns the role that holds the work then.
cta::RoleOp putRoleAround(mlir::RewriterBase &rewriter, cta::WorkOp work,
                          cta::RoleOp role);

} // namespace fa

#endif // FA_LIB_DIALECT_CTA_TRANSFORMS_KERNELS_H
