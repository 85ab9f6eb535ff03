//===- Passes.h - Passes on the cta dialect ---------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the passes that change how tiles are staged in shared memory, and
// the transforms that they wrap.
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_CTA_TRANSFORMS_PASSES_H
#define FA_DIALECT_CTA_TRANSFORMS_PASSES_H

#include "fa/Dialect/Cta/IR/Cta.h"
#include "fa/Schedule/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace fa {

#define GEN_PASS_DECL
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"

/// Replaces `load` by an acquire, a copy and a consume of `ring`, and a release
/// after the last use; where the ring is each team's, of the own team's. Fails,
/// saying why in `reason`, without changes where a use of the tile does not end
/// in the load's block.
mlir::LogicalResult stageLoad(mlir::RewriterBase &rewriter,
                              fa::cta::LoadOp load, mlir::Value ring,
                              std::string &reason);

/// Skews the copies of a chain of loops by one block less than their rings have
/// stages. Fails, saying why in `reason`, without changes where that is not
/// legal. Returns the number of copies moved.
mlir::FailureOr<int64_t> prefetchChain(mlir::RewriterBase &rewriter,
                                       llvm::ArrayRef<mlir::scf::ForOp> chain,
                                       std::string &reason);

/// Takes the filling of rings out of `role`, which holds its work, into a role
/// in front of it, with all work items. Fails with a diagnostic where copies
/// depend on what is computed; what was staged until then stays.
mlir::LogicalResult splitRole(mlir::RewriterBase &rewriter,
                              fa::cta::RoleOp role, RegisterBudgets budgets);

/// Ends `loop`, over partly hidden blocks, for each of `teams` teams where its
/// own rows see no more, and gives back the stages of the blocks after that.
/// Returns whether there can be such blocks.
bool trimTeams(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop,
               int64_t teams);

/// Pipelines loops that follow one another, each with two products in its body:
/// the second runs one block late, through all of them. Fails, saying why in
/// `reason`, without changes where that is not legal. Returns the number of
/// loops.
mlir::FailureOr<int64_t> overlapProducts(mlir::RewriterBase &rewriter,
                                         llvm::ArrayRef<mlir::scf::ForOp> chain,
                                         std::string &reason);

/// Leaves the end of each item of `work`, which is persistent, to the next one:
/// its last second product goes out with that one's first product. Fails,
/// saying why in `reason`, without changes where that is not legal or the next
/// item's tiles would not be there. Returns the number of values that items
/// carry.
mlir::FailureOr<int64_t> overlapItems(mlir::RewriterBase &rewriter,
                                      fa::cta::WorkOp work,
                                      std::string &reason);

/// Lets the teams of `role` take turns with the products of loops. Fails,
/// saying why in `reason`, without changes where teams may have different
/// numbers of turns. Returns the number of places with turns.
mlir::FailureOr<int64_t> takeTurns(mlir::RewriterBase &rewriter,
                                   fa::cta::RoleOp role, std::string &reason);

/// Unrolls `loop` by `stages`, with a loop for the rest behind it.
mlir::LogicalResult unrollStages(mlir::scf::ForOp loop, int64_t stages);

#define GEN_PASS_REGISTRATION
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"

} // namespace fa

#endif // FA_DIALECT_CTA_TRANSFORMS_PASSES_H
