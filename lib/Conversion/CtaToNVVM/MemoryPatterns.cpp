//===- MemoryPatterns.cpp - Tiles in, fragments out -----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads and copies by cp.async of 16 bytes a thread, and stores of fragments
// straight from registers.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Lowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fa;

namespace {
/// A matrix in global memory from some place on.
struct GlobalMatrix {
  Value pointer;   ///< its element at (row 0, the given column), ptr<1>
  Value rowStride; ///< elements from row to row, i32
  Value firstRow;  ///< the given row, i32
  Value rows;      ///< the rows there are, i32
  Type elementType;
};

/// The threads that share a copy, and this one's number among them.
struct Workers {
  Value thread;
  int64_t count;
};
} // namespace

static Value toI64(ImplicitLocOpBuilder &b, Value index) {
  return b.createOrFold<arith::IndexCastOp>(b.getI64Type(), index);
}

/// `pointer` plus `count` elements.
static Value advance(ImplicitLocOpBuilder &b, Value pointer, Value count,
                     Type elementType) {
  return LLVM::GEPOp::create(b, pointer.getType(), elementType, pointer,
                             ArrayRef<LLVM::GEPArg>{count});
}
static Value advance(ImplicitLocOpBuilder &b, Value pointer, int64_t count,
                     Type elementType) {
  if (!count)
    return pointer;
  return LLVM::GEPOp::create(
      b, pointer.getType(), elementType, pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(count)});
}

/// Sees the dimension `rowDim` of `memref` as rows, from `indices` on.
static GlobalMatrix viewMatrix(ImplicitLocOpBuilder &b, Value memref,
                               ValueRange indices, int64_t rowDim) {
  auto type = cast<MemRefType>(memref.getType());
  auto data = memref::ExtractStridedMetadataOp::create(b, memref);
  // Everything but the row is the same in all iterations of a loop over rows.
  Value offset = data.getOffset();
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (static_cast<int64_t>(dim) == rowDim)
      continue;
    Value part = b.createOrFold<arith::MulIOp>(index, data.getStrides()[dim]);
    offset = b.createOrFold<arith::AddIOp>(offset, part);
  }
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, memref);
  Value pointer = LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), 1), toI64(b, base));
  I32Builder i{b};
  return {advance(b, pointer, toI64(b, offset), type.getElementType()),
          i.fromIndex(data.getStrides()[rowDim]), i.fromIndex(indices[rowDim]),
          i.fromIndex(data.getSizes()[rowDim]), type.getElementType()};
}

/// `pointer` moved down by `rows` (i32) rows: one wide multiply.
static Value moveRows(ImplicitLocOpBuilder &b, const GlobalMatrix &matrix,
                      Value pointer, Value rows) {
  Value wide = arith::ExtSIOp::create(b, b.getI64Type(), rows);
  Value stride = arith::ExtSIOp::create(b, b.getI64Type(), matrix.rowStride);
  return advance(b, pointer, arith::MulIOp::create(b, wide, stride),
                 matrix.elementType);
}

/// Whether rows of 16-byte chunks can be read: the last dimension is
/// contiguous.
static bool hasContiguousRows(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         !strides.empty() && strides.back() == 1;
}

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
  /// Copies this thread's chunks, checking that rows exist if `checked`.
  void copyRows(ImplicitLocOpBuilder &b, bool checked);
  /// Copies the segments of this thread's row in pass `pass`.
  void copyRow(ImplicitLocOpBuilder &b, int64_t pass, bool checked);

  GlobalMatrix matrix;
  SwizzledTile tile;
  int64_t rowsAtOnce;
  Value row;           ///< this thread's, in the first pass
  Value address;       ///< in shared memory, of its first chunk
  Value oddAddress;    ///< the same for odd passes, where they differ
  Value columnPointer; ///< its chunk in row 0
};
} // namespace

/// The 16-byte chunks of a swizzled row segment.
static constexpr int64_t kChunks = kSegmentBytes / kChunkBytes;

TileCopy::TileCopy(ImplicitLocOpBuilder &b, const GlobalMatrix &matrix,
                   Value tileAddress, cta::TileType type, Workers workers)
    : matrix(matrix), tile{type.getRows(), type.getCols()},
      rowsAtOnce(workers.count / kChunks) {
  I32Builder i{b};
  Value chunk = i.bitAnd(workers.thread, kChunks - 1);
  row = i.shr(workers.thread, llvm::Log2_64(kChunks));
  Value swizzled = i.bitXor(chunk, i.bitAnd(row, 7));
  Value own = i.add(i.mul(row, kSegmentBytes), i.mul(swizzled, kChunkBytes));
  address = i.add(tileAddress, own);
  // A multiple of 4 rows that is none of 8 flips the swizzle's highest bit.
  oddAddress = rowsAtOnce % 8 ? i.bitXor(address, 4 * kChunkBytes) : address;
  Value column =
      arith::ExtUIOp::create(b, b.getI64Type(), i.mul(chunk, kChunkBytes / 2));
  columnPointer = advance(b, matrix.pointer, column, matrix.elementType);
}

void TileCopy::copyRow(ImplicitLocOpBuilder &b, int64_t pass, bool checked) {
  I32Builder i{b};
  Value globalRow = i.add(i.add(matrix.firstRow, row), pass * rowsAtOnce);
  Value size;
  if (checked) {
    // Nothing is read for a size of 0; the address then names row 0.
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                         globalRow, matrix.rows);
    size = arith::SelectOp::create(b, inside, i.constant(kChunkBytes),
                                   i.constant(0));
    globalRow = arith::SelectOp::create(b, inside, globalRow, i.constant(0));
  }
  Value source = moveRows(b, matrix, columnPointer, globalRow);
  for (int64_t segment = 0; segment < tile.segments(); ++segment) {
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

void TileCopy::copyRows(ImplicitLocOpBuilder &b, bool checked) {
  I32Builder i{b};
  for (int64_t pass = 0; pass * rowsAtOnce < tile.rows; ++pass) {
    if ((pass + 1) * rowsAtOnce <= tile.rows) {
      copyRow(b, pass, checked);
      continue;
    }
    Value some = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                       i.add(row, pass * rowsAtOnce),
                                       i.constant(tile.rows));
    auto guard = scf::IfOp::create(b, some, /*withElseRegion=*/false);
    auto inner =
        ImplicitLocOpBuilder::atBlockTerminator(b.getLoc(), guard.thenBlock());
    copyRow(inner, pass, checked);
  }
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
    copyRows(inner, checked);
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

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Calls `build` under the condition `inside`.
static void buildGuarded(ImplicitLocOpBuilder &b, Value inside,
                         function_ref<void(ImplicitLocOpBuilder &)> build) {
  auto guard = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
  auto inner =
      ImplicitLocOpBuilder::atBlockTerminator(b.getLoc(), guard.thenBlock());
  build(inner);
}

struct ConvertStore : KernelPattern<cta::StoreOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(cta::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<VectorType>(op.getValue().getType());
    std::optional<FragmentLayout> layout = converter.getLayout(type);
    auto memref = cast<MemRefType>(op.getDestination().getType());
    if (!layout || layout->kind == FragmentKind::Column)
      return rewriter.notifyMatchFailure(op, "not a fragment or row vector");
    bool matrix = layout->kind == FragmentKind::Matrix;
    if (matrix && !hasContiguousRows(memref))
      return rewriter.notifyMatchFailure(op, "rows are not contiguous");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    GlobalMatrix global = viewMatrix(b, op.getDestination(), op.getIndices(),
                                     memref.getRank() - type.getRank());
    storeRows(b, global, *layout, toElements(b, adaptor.getValue()));
    rewriter.eraseOp(op);
    return success();
  }

private:
  void storeRows(ImplicitLocOpBuilder &b, const GlobalMatrix &global,
                 const FragmentLayout &layout, ArrayRef<Value> elements) const {
    I32Builder i{b};
    bool matrix = layout.kind == FragmentKind::Matrix;
    Value first = i.add(i.add(global.firstRow, i.mul(kernel.warp, kSlabRows)),
                        i.shr(kernel.lane, llvm::Log2_64(kQuad)));
    Value inQuad = i.bitAnd(kernel.lane, kQuad - 1);
    Value pointer = moveRows(b, global, global.pointer, first);
    if (matrix)
      pointer =
          advance(b, pointer,
                  arith::ExtUIOp::create(b, b.getI64Type(), i.mul(inQuad, 2)),
                  global.elementType);
    for (int64_t s = 0; s < layout.slabs(); ++s)
      for (int64_t half = 0; half < 2; ++half) {
        int64_t offset = layout.rowOffset(s, 2 * half);
        Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                             i.add(first, offset), global.rows);
        if (!matrix)
          inside = arith::AndIOp::create(
              b, inside,
              arith::CmpIOp::create(b, arith::CmpIPredicate::eq, inQuad,
                                    i.constant(0)));
        SmallVector<Value> values = getRow(b, layout, elements, s, half);
        buildGuarded(b, inside, [&](ImplicitLocOpBuilder &inner) {
          Value row = moveRows(inner, global, pointer,
                               I32Builder{inner}.constant(offset));
          for (auto [n, value] : llvm::enumerate(values))
            LLVM::StoreOp::create(inner, value,
                                  advance(inner, row,
                                          FragmentLayout::colOffset(n, 0),
                                          global.elementType));
        });
      }
  }

  /// One thread's part of a row: pairs of columns, those of 16 bits in one
  /// register; or a row vector's one element.
  static SmallVector<Value> getRow(ImplicitLocOpBuilder &b,
                                   const FragmentLayout &layout,
                                   ArrayRef<Value> elements, int64_t s,
                                   int64_t half) {
    if (layout.kind == FragmentKind::Row)
      return {elements[2 * s + half]};
    SmallVector<Value> values;
    for (int64_t n = 0; n < layout.blocks(); ++n) {
      int64_t first = layout.index(s, n, 2 * half);
      Value low = elements[first], high = elements[first + 1];
      auto pair = VectorType::get(2, low.getType());
      Value value = fromElements(b, pair, {low, high});
      if (low.getType().getIntOrFloatBitWidth() == 16)
        value = LLVM::BitcastOp::create(b, b.getI32Type(), value);
      values.push_back(value);
    }
    return values;
  }
};
} // namespace

void fa::populateMemoryPatterns(const FragmentTypeConverter &converter,
                                const Kernel &kernel,
                                RewritePatternSet &patterns) {
  patterns.add<ConvertCopy, ConvertLoad, ConvertStore>(
      converter, patterns.getContext(), kernel);
}
