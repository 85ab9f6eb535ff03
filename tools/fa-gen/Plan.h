//===- Plan.h - Launch plans in the manifest --------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_PLAN_H
#define FA_TOOLS_FA_GEN_PLAN_H

#include "Spec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fa {

/// The plan of `spec` in `module` after the kernel pipeline; null where the
/// kernel is one launch.
mlir::func::FuncOp findPlan(mlir::ModuleOp module, const KernelSpec &spec);

/// Fills `entry` with the manifest's `launches`, `workspaces` and `splits` of
/// `plan`; `figures` are the launch figures of its kernels by name, and parts
/// are of at least `splitKeys` keys. Fails with a diagnostic where a value of
/// the plan has no name in a manifest.
mlir::LogicalResult describePlan(mlir::func::FuncOp plan,
                                 const KernelSpec &spec,
                                 mlir::DictionaryAttr figures,
                                 int64_t splitKeys, llvm::json::Object &entry);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_PLAN_H
