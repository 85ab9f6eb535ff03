//===- MemoryPatterns.cpp - Tiles into shared memory ---------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads and copies by cp.async of 16 bytes a thread.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "GlobalMatrix.h"
#include "Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fa;

namespace {
/// The threads that share a copy, and this one's number among them.
struct Workers {
  Value thread;
  int64_t count;
};
} // namespace

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {
/// Copies a tile with 8 threads to each 128-byte row segment.
class TileCopy {
public:
  TileCopy(ImplicitLocOpBuilder &b, const GlobalMatrix &matrix, Value address,
           cta::TileType type, Workers workers);

  void run(ImplicitLocOpBuilder &b);

private:
  /// Segments from `first` on, up to `end`.
  struct Segments {
    int64_t first, end;
  };

  /// Copies this thread's chunks, checking that rows exist if `checked`.
  void copyChunks(ImplicitLocOpBuilder &b, bool checked);
  /// The same for some segments, in each of which the thread has a chunk.
  void copyRows(ImplicitLocOpBuilder &b, Segments segments, bool checked);
  /// Copies the segments of this thread's row in pass `pass` from `source`.
  void copyRow(ImplicitLocOpBuilder &b, Segments segments, int64_t pass,
               Value source, bool checked);

  GlobalMatrix matrix;
  SwizzledTile tile;
  int64_t rowsAtOnce;
  Value chunk;      ///< this thread's, of each segment
  Value row;        ///< this thread's, in the first pass
  Value address;    ///< in shared memory, of its first chunk
  Value oddAddress; ///< the same for odd passes, where they differ
  Value ownPointer; ///< its first chunk, if the tile began at row 0
};
} // namespace

/// The 16-byte chunks of a swizzled row segment.
static constexpr int64_t kChunks = kSegmentBytes / kChunkBytes;

TileCopy::TileCopy(ImplicitLocOpBuilder &b, const GlobalMatrix &matrix,
                   Value tileAddress, cta::TileType type, Workers workers)
    : matrix(matrix), tile{type.getRows(), type.getCols()},
      rowsAtOnce(workers.count / kChunks) {
  I32Builder i{b};
  chunk = i.bitAnd(workers.thread, kChunks - 1);
  row = i.shr(workers.thread, llvm::Log2_64(kChunks));
  Value swizzled = i.bitXor(chunk, i.bitAnd(row, 7));
  Value own = i.add(i.mul(row, kSegmentBytes), i.mul(swizzled, kChunkBytes));
  address = i.add(tileAddress, own);
  // A multiple of 4 rows that is none of 8 flips the swizzle's highest bit.
  oddAddress = rowsAtOnce % 8 ? i.bitXor(address, 4 * kChunkBytes) : address;
  Value column =
      arith::ExtUIOp::create(b, b.getI64Type(), i.mul(chunk, kChunkBytes / 2));
  ownPointer = moveRows(
      b, matrix, advance(b, matrix.pointer, column, matrix.elementType), row);
}

void TileCopy::copyRow(ImplicitLocOpBuilder &b, Segments segments, int64_t pass,
                       Value source, bool checked) {
  I32Builder i{b};
  Value size;
  if (checked) {
    // Nothing is read for a size of 0, wherever the address points.
    Value globalRow = i.add(i.add(matrix.firstRow, row), pass * rowsAtOnce);
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                         globalRow, matrix.rows);
    size = arith::SelectOp::create(b, inside, i.constant(kChunkBytes),
                                   i.constant(0));
  }
  for (int64_t segment = segments.first; segment < segments.end; ++segment) {
    int64_t offset =
        segment * tile.segmentStride() + pass * rowsAtOnce * kSegmentBytes;
    NVVM::CpAsyncOp::create(
        b, sharedPointer(b, pass % 2 ? oddAddress : address, offset),
        advance(b, source, segment * SwizzledTile::kSegmentCols,
                matrix.elementType),
        static_cast<uint32_t>(kChunkBytes), NVVM::LoadCacheModifierKind::CG,
        size);
  }
}

void TileCopy::copyRows(ImplicitLocOpBuilder &b, Segments segments,
                        bool checked) {
  I32Builder i{b};
  // One pointer walks down the rows: fewer registers than one for each pass.
  Value source = moveRows(b, matrix, ownPointer, matrix.firstRow);
  for (int64_t pass = 0; pass * rowsAtOnce < tile.rows; ++pass) {
    if (pass)
      source = moveRows(b, matrix, source, i.constant(rowsAtOnce));
    if ((pass + 1) * rowsAtOnce <= tile.rows) {
      copyRow(b, segments, pass, source, checked);
      continue;
    }
    Value some = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                       i.add(row, pass * rowsAtOnce),
                                       i.constant(tile.rows));
    auto guard = scf::IfOp::create(b, some, /*withElseRegion=*/false);
    auto inner =
        ImplicitLocOpBuilder::atBlockTerminator(b.getLoc(), guard.thenBlock());
    copyRow(inner, segments, pass, source, checked);
  }
}

void TileCopy::copyChunks(ImplicitLocOpBuilder &b, bool checked) {
  int64_t last = tile.segments() - 1, rest = tile.chunks(last);
  if (rest == kChunks) {
    copyRows(b, {0, last + 1}, checked);
    return;
  }
  // In the last segment there is nothing for some of the threads.
  if (last)
    copyRows(b, {0, last}, checked);
  Value some = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, chunk,
                                     I32Builder{b}.constant(rest));
  auto guard = scf::IfOp::create(b, some, /*withElseRegion=*/false);
  auto inner =
      ImplicitLocOpBuilder::atBlockTerminator(b.getLoc(), guard.thenBlock());
  copyRows(inner, {last, last + 1}, checked);
}

/// Only the last tiles of a tensor need their rows checked. The branch also
/// keeps ptxas from mixing what is before and after the copy, which would take
/// more registers than there are beside large fragments.
void TileCopy::run(ImplicitLocOpBuilder &b) {
  I32Builder i{b};
  Value whole =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                            i.add(matrix.firstRow, tile.rows), matrix.rows);
  auto branch = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
  for (bool checked : {false, true}) {
    auto inner = ImplicitLocOpBuilder::atBlockTerminator(
        b.getLoc(), checked ? branch.elseBlock() : branch.thenBlock());
    copyChunks(inner, checked);
  }
}

/// Copies the tile at `indices` of `memref` to `address`, as one group.
static void copyTile(ImplicitLocOpBuilder &b, Value memref, ValueRange indices,
                     Value rowEnd, Value address, cta::TileType tile,
                     Workers workers) {
  int64_t rowDim = cast<MemRefType>(memref.getType()).getRank() - 2;
  GlobalMatrix matrix = viewMatrix(b, memref, indices, rowDim);
  if (rowEnd)
    matrix.rows = I32Builder{b}.fromIndex(rowEnd);
  TileCopy(b, matrix, address, tile, workers).run(b);
  NVVM::CpAsyncCommitGroupOp::create(b);
}

namespace {
template <typename OpTy> struct KernelPattern : OpConversionPattern<OpTy> {
  KernelPattern(const FragmentTypeConverter &converter, MLIRContext *context,
                const Kernel &kernel)
      : OpConversionPattern<OpTy>(converter, context), converter(converter),
        kernel(kernel) {}

  const FragmentTypeConverter &converter;
  const Kernel &kernel;
};

struct ConvertCopy : KernelPattern<cta::CopyOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(cta::CopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!hasContiguousRows(cast<MemRefType>(op.getSource().getType())))
      return rewriter.notifyMatchFailure(op, "rows are not contiguous");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    copyTile(b, op.getSource(), op.getIndices(), op.getRowEnd(),
             adaptor.getTile(), op.getTile().getType(),
             {kernel.thread, kernel.threads()});
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertLoad : KernelPattern<cta::LoadOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(cta::LoadOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!hasContiguousRows(cast<MemRefType>(op.getSource().getType())))
      return rewriter.notifyMatchFailure(op, "rows are not contiguous");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    I32Builder i{b};
    cta::TileType tile = op.getTile().getType();
    Value address =
        i.add(kernel.shared, kernel.sharedOffset.lookup(op.getOperation()));
    Workers workers = {kernel.thread, kernel.threads()};
    bool each = op.getKind() == cta::LoadKind::Each;
    if (each) {
      int64_t bytes = llvm::alignTo(tile.getByteSize(), kTileAlignment);
      address = i.add(address, i.mul(kernel.team, bytes));
      workers = {kernel.teamThread, kernel.warps * kWarpThreads};
    }
    // In a loop, the tile may still be read from the time before.
    if (op->getParentOfType<LoopLikeOpInterface>())
      synchronize(b, each);
    copyTile(b, op.getSource(), op.getIndices(), op.getRowEnd(), address, tile,
             workers);
    NVVM::CpAsyncWaitGroupOp::create(b, 0u);
    synchronize(b, each);
    rewriter.replaceOp(op, address);
    return success();
  }

private:
  /// All threads of the team, or of the block, meet.
  void synchronize(ImplicitLocOpBuilder &b, bool each) const {
    I32Builder i{b};
    if (!each || kernel.teams == 1) {
      NVVM::BarrierOp::create(b);
    } else if (kernel.warps == 1) {
      NVVM::SyncWarpOp::create(b, i.constant(0xffffffff));
    } else {
      // Barrier 0 is the block's.
      NVVM::BarrierOp::create(b, TypeRange(), i.add(kernel.team, 1),
                              i.constant(kernel.warps * kWarpThreads),
                              NVVM::BarrierReductionAttr(), Value());
    }
  }
};

} // namespace

void fa::populateMemoryPatterns(const FragmentTypeConverter &converter,
                                const Kernel &kernel,
                                RewritePatternSet &patterns) {
  patterns.add<ConvertCopy, ConvertLoad>(converter, patterns.getContext(),
                                         kernel);
}
