//===- GpuModules.h - What a kernel pass works on -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes on kernels run on a gpu.module, where a pipeline nests them, or on a
// whole module, where a command line names them. Nested by themselves they
// would say nothing about a module that has no gpu.module.
//
//===----------------------------------------------------------------------===//

#ifndef FA_SUPPORT_GPUMODULES_H
#define FA_SUPPORT_GPUMODULES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace fa {

/// The kernels of `root`, a gpu.module or what holds some. Warns where there
/// are none, in the name of `pass` ("--prefetch").
inline llvm::SmallVector<mlir::gpu::GPUFuncOp>
findKernels(mlir::Operation *root, llvm::StringRef pass) {
  bool hasModule = false;
  llvm::SmallVector<mlir::gpu::GPUFuncOp> kernels;
  root->walk([&](mlir::Operation *op) {
    hasModule |= llvm::isa<mlir::gpu::GPUModuleOp>(op);
    if (auto kernel = llvm::dyn_cast<mlir::gpu::GPUFuncOp>(op))
      kernels.push_back(kernel);
  });
  if (kernels.empty())
    root->emitWarning(pass)
        << " found no " << (hasModule ? "gpu.func" : "gpu.module");
  return kernels;
}

} // namespace fa

#endif // FA_SUPPORT_GPUMODULES_H
