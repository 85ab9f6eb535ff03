//===- LaunchPlan.h - What marks launch plans and kernels -------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch plan is a function on whole tensors that calls kernels one after
// another. Its `tensor.empty`s are the outputs and the workspaces.
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_CTA_IR_LAUNCHPLAN_H
#define FA_DIALECT_CTA_IR_LAUNCHPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fa::cta {

/// Of a function that is a kernel of a launch plan: the plan's name.
constexpr llvm::StringLiteral kPlanAttr = "cta.plan";
/// Of a declared function that a launch plan calls: the symbol of the kernel
/// that it stands for, whose arguments are the call's operands.
constexpr llvm::StringLiteral kKernelAttr = "cta.kernel";

/// Of a kernel of a plan: it is launched right behind the one before it in its
/// module, or right before the one behind it. Where the GPU can begin a launch
/// before the one before it has ended, it waits for that by itself.
constexpr llvm::StringLiteral kFollowsAttr = "cta.follows";
constexpr llvm::StringLiteral kFollowedAttr = "cta.followed";

/// Of a kernel of a plan: what it writes depends on nothing but the problem's
/// sizes and what its mask reads, and no other kernel of the plan writes it. A
/// launch that finds it from an earlier one may leave this kernel out.
constexpr llvm::StringLiteral kPreparesAttr = "cta.prepares";

/// The operand of a plan's call that `result` is, written: the last operands
/// are what a kernel writes to, one for each result.
inline mlir::Value getDestination(mlir::OpResult result) {
  auto call = llvm::cast<mlir::func::CallOp>(result.getOwner());
  unsigned fromBack = call.getNumResults() - result.getResultNumber();
  return call.getOperand(call.getNumOperands() - fromBack);
}

} // namespace fa::cta

#endif // FA_DIALECT_CTA_IR_LAUNCHPLAN_H
