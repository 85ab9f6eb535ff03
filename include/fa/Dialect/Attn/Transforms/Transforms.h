//===- Transforms.h - Transformations, callable without a pass ------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_ATTN_TRANSFORMS_TRANSFORMS_H
#define FA_DIALECT_ATTN_TRANSFORMS_TRANSFORMS_H

#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Dialect/Attn/Transforms/PassOrder.h"
#include "fa/Schedule/Schedule.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace fa::attn {

/// The schedule that hangs on `function`, if any.
std::optional<Schedule> getSchedule(mlir::FunctionOpInterface function);
/// What an attribute says.
Schedule toSchedule(ScheduleAttr attr);
/// `schedule` as an attribute.
ScheduleAttr makeScheduleAttr(mlir::MLIRContext *context,
                              const Schedule &schedule);
/// Hangs `schedule` on `function`.
void setSchedule(mlir::FunctionOpInterface function, const Schedule &schedule);

/// The problem that a schedule is chosen for, from the types of `op`.
ScheduleProblem getProblem(ForwardOp op);

/// The rescaling policy that suits the scores of `op`: first maxima where that
/// of a row's first block is likely to be near that of all, else always.
fa::Rescale chooseRescale(ForwardOp op);

/// Whether the result of `score`, a region or none, depends on the row or the
/// key.
bool dependsOnPlace(mlir::Region &score);

/// Writes the variants of `op` into its regions. Returns how many there were.
unsigned expandVariants(mlir::RewriterBase &rewriter, ForwardOp op);

/// How many queries and keys a sequence has, as indexes.
using SequenceLengths = std::pair<mlir::Value, mlir::Value>;
/// The lengths of sequence `batch` of `op`, read at the builder's place.
SequenceLengths buildSequenceLengths(mlir::OpBuilder &builder,
                                     mlir::Location loc, ForwardOp op,
                                     mlir::Value batch);

/// Replaces `op`, whose sequences may differ in length, by a loop over its
/// sequences; see the pass. Returns the op in the loop.
ForwardOp splitSequences(mlir::RewriterBase &rewriter, ForwardOp op);

/// Replaces `op` by init, update and finalize on whole tensors. The update is
/// normalised. Variants must have been expanded and sequences split.
UpdateOp expandForward(mlir::RewriterBase &rewriter, ForwardOp op);

/// Tiles a whole-tensor update by one batch, one head, br and bc with the KV
/// loop outside the Q loop; replaces `op`.
mlir::LogicalResult tileUpdate(mlir::RewriterBase &rewriter, UpdateOp op,
                               int64_t br, int64_t bc);

/// Turns the perfect loop nest whose outermost loop is `outer` inside out; see
/// the pass. On failure `reason` says why and the IR is unchanged.
mlir::FailureOr<mlir::scf::ForallOp>
interchangeNest(mlir::RewriterBase &rewriter, mlir::scf::ForOp outer,
                std::string &reason);

/// Merges the loop `outer` over sequences and the loop `inner` over the blocks
/// of one of them, in slots that alternate the last blocks and the first with
/// `pairs`; see the pass. On failure `reason` says why, and the program means
/// the same.
mlir::FailureOr<mlir::scf::ForallOp>
flattenSequences(mlir::RewriterBase &rewriter, mlir::scf::ForallOp outer,
                 mlir::scf::ForallOp inner, std::string &reason,
                 bool pairs = false);

/// Makes a scf.forall of the loops of the perfect nest `outer` that stand
/// outside of its first sequential loop; see the pass. On failure `reason` says
/// why, and the program means the same.
mlir::FailureOr<mlir::scf::ForallOp>
parallelizeNest(mlir::RewriterBase &rewriter, mlir::scf::ForOp outer,
                std::string &reason);

/// One fold: the updates whose state reaches `finalize`, from the last to the
/// first, and the init it began with (null where it began with something else).
struct Fold {
  FinalizeOp finalize;
  llvm::SmallVector<UpdateOp> updates;
  InitOp init;
};
/// Follows the state of `finalize` backwards through loops and slices. Fails
/// where it comes from an op that is none of these.
mlir::FailureOr<Fold> traceFold(FinalizeOp finalize);

/// Splits the KV loop around `update` by its mask; see the pass. Where that
/// leaves no full block known, a list of blocks takes the loop's place if
/// `blockLists` is set. On failure `obstacle` says why, and the program means
/// the same.
mlir::LogicalResult skipMaskedBlocks(mlir::RewriterBase &rewriter,
                                     UpdateOp update, bool blockLists,
                                     Obstacle &obstacle);

/// The largest number of parts that keys are split into.
inline constexpr int64_t kMaxSplits = 128;

/// How `splitKV` splits.
struct SplitOptions {
  int64_t splits = 0;   ///< parts; 0: as many as occupancy asks for
  int64_t capacity = 0; ///< thread blocks that run at a time, for `splits` = 0
};

/// Splits the keys of the fold that ends in `finalize` into independent parts
/// and merges them; see the pass. On failure `obstacle` says why and the IR is
/// unchanged.
mlir::LogicalResult splitKV(mlir::RewriterBase &rewriter, FinalizeOp finalize,
                            const SplitOptions &options, Obstacle &obstacle);

/// Makes the tiles of the attention ops under `root` static. Returns how many
/// operands were padded, or failure (with a diagnostic) where a tile has no
/// constant bound.
mlir::FailureOr<unsigned> padTiles(mlir::RewriterBase &rewriter,
                                   mlir::Operation *root);

} // namespace fa::attn

#endif // FA_DIALECT_ATTN_TRANSFORMS_TRANSFORMS_H
