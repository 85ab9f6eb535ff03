//===- Roles.cpp - Roles and the work that they do ------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace fa;

cta::RoleOp fa::putRoleAround(RewriterBase &rewriter, cta::WorkOp work,
                              cta::RoleOp role) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(work);
  Location loc = role.getLoc();
  auto outer =
      cta::RoleOp::create(rewriter, loc, role.getName(), role.getTeams(),
                          role.getWarps(), role.getRegsAttr());
  rewriter.createBlock(&outer.getBody(), {}, {rewriter.getIndexType()}, {loc});
  rewriter.setInsertionPoint(cta::YieldOp::create(rewriter, loc));
  rewriter.moveOpBefore(work, rewriter.getInsertionBlock(),
                        rewriter.getInsertionPoint());
  Block &program = role.getBody().front();
  rewriter.eraseOp(program.getTerminator());
  rewriter.inlineBlockBefore(&program, role, outer.getTeam());
  rewriter.eraseOp(role);
  return outer;
}
