//===- LoopNest.h - Nests over slices of full-size state ------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `--interchange` and `--parallelize` have to know of a nest of scf.for
// over slices of full-size state tensors, and how they move slices of its state
// into other loops. It speaks of states, slices and loops, not of attention.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_ATTN_TRANSFORMS_LOOPNEST_H
#define FA_LIB_DIALECT_ATTN_TRANSFORMS_LOOPNEST_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace fa::attn {

/// A state tensor of the nest: read and written at one slice.
struct State {
  mlir::tensor::ExtractSliceOp extract;
  mlir::tensor::InsertSliceOp insert;
};

/// A perfect nest of loops around `body`, outermost first.
struct Nest {
  llvm::SmallVector<mlir::scf::ForOp> loops;
  llvm::SmallVector<State> states;    ///< one per iter_arg
  llvm::SmallVector<bool> isParallel; ///< per loop: its iv chooses the slices

  mlir::scf::ForOp outer() { return loops.front(); }
  mlir::scf::ForOp inner() { return loops.back(); }
};

/// The loops of `function` that stand in no other one, in order.
llvm::SmallVector<mlir::scf::ForOp>
findOuterLoops(mlir::FunctionOpInterface function);

/// The nest whose outermost loop is `outer`, in which different iterations of
/// the parallel loops touch disjoint slices of the state. On failure `reason`
/// says what does not hold.
mlir::FailureOr<Nest> matchNest(mlir::scf::ForOp outer, std::string &reason);

/// An op outside the nest that reads its final state and is tiled by the same
/// slices.
struct Consumer {
  mlir::TilingInterface op;
  llvm::SmallVector<unsigned> operands; ///< that are results of the nest
};

/// The one op that reads all results of the nest, where it can be tiled along
/// with it.
std::optional<Consumer> findConsumer(mlir::scf::ForOp outer);

/// `ofrs` with their values mapped.
llvm::SmallVector<mlir::OpFoldResult>
mapped(llvm::ArrayRef<mlir::OpFoldResult> ofrs, const mlir::IRMapping &mapping);

/// Clones what the offsets and sizes of `nest`'s slices need of its innermost
/// body, and takes the slice of each of `wholes` that the parallel loops'
/// mapped induction variables choose.
llvm::SmallVector<mlir::Value> buildTiles(mlir::RewriterBase &rewriter,
                                          Nest &nest, mlir::ValueRange wholes,
                                          mlir::IRMapping &mapping);

/// Replaces a slice of a whole initial state by the producer's tile, where the
/// producer is tiled to just that type. Returns what takes its place.
mlir::Value fuseProducer(mlir::RewriterBase &rewriter,
                         mlir::tensor::ExtractSliceOp slice);

/// A bound of a loop as a constant where it is one. The lists of constants of a
/// forall keep one number for what is none.
mlir::OpFoldResult getBound(mlir::Value bound);

/// Slices of an empty tensor or of a fill become empty tiles and fills, and
/// what was computed once per slice is computed once.
mlir::LogicalResult simplifySlices(mlir::RewriterBase &rewriter,
                                   mlir::FunctionOpInterface function);

} // namespace fa::attn

#endif // FA_LIB_DIALECT_ATTN_TRANSFORMS_LOOPNEST_H
