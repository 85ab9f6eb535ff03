//===- StorePatterns.cpp - Fragments to global memory ---------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stores of fragments: 16-bit ones by way of shared memory where a tile is
// free, else in pieces of 16 bytes that the threads of a quad put together;
// others straight from registers.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "GlobalMatrix.h"
#include "Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fa;

namespace {
/// Stores a 16-bit fragment by way of a swizzled tile in shared memory, so that
/// a warp writes 128 bytes of a row at a time instead of 16 of eight rows. All
/// that a warp stores is its own.
class FragmentStore {
public:
  FragmentStore(ImplicitLocOpBuilder &b, const Kernel &kernel,
                const GlobalMatrix &global, const FragmentLayout &layout);

  void run(ImplicitLocOpBuilder &b, Kernel::Scratch scratch,
           ArrayRef<Value> elements);

private:
  void fillTile(ImplicitLocOpBuilder &b, ArrayRef<Value> elements);
  /// Stores the warp's rows, each only if it exists where `checked`.
  void storeRows(ImplicitLocOpBuilder &b, bool checked);
  void storeRow(ImplicitLocOpBuilder &b, int64_t row);

  const Kernel &kernel;
  GlobalMatrix global;
  FragmentLayout layout;
  SwizzledTile tile;
  Value firstRow; ///< of the warp's first slab, in the matrix
  Value address;  ///< of that row in the tile
  Value pointer;  ///< the lane's two columns of that row in the matrix
};
} // namespace

/// The elements that a lane moves at a time.
static constexpr int64_t kPair = 2;

FragmentStore::FragmentStore(ImplicitLocOpBuilder &b, const Kernel &kernel,
                             const GlobalMatrix &global,
                             const FragmentLayout &layout)
    : kernel(kernel), global(global),
      layout(layout), tile{layout.rows, layout.cols} {
  I32Builder i{b};
  firstRow = i.add(global.firstRow, i.mul(kernel.warp, kSlabRows));
  Value column =
      arith::ExtUIOp::create(b, b.getI64Type(), i.mul(kernel.lane, kPair));
  pointer = advance(b, moveRows(b, global, global.pointer, firstRow), column,
                    global.elementType);
}

void FragmentStore::fillTile(ImplicitLocOpBuilder &b,
                             ArrayRef<Value> elements) {
  I32Builder i{b};
  // Row lane / 4 of a slab: its chunk c lies at c xor (lane / 4).
  Value row = i.shr(kernel.lane, llvm::Log2_64(kQuad));
  Value inQuad = i.bitAnd(kernel.lane, kQuad - 1);
  Value own = i.add(address, i.add(i.mul(row, kSegmentBytes + kChunkBytes),
                                   i.mul(inQuad, 2 * kPair)));
  for (int64_t n = 0; n < layout.blocks(); ++n) {
    int64_t chunk = n % (kSegmentBytes / kChunkBytes);
    int64_t segment = n / (kSegmentBytes / kChunkBytes);
    Value chunkAddress = i.bitXor(own, chunk * kChunkBytes);
    for (int64_t s = 0; s < layout.slabs(); ++s)
      for (int64_t e = 0; e < 4; e += kPair) {
        int64_t first = layout.index(s, n, e);
        Value pair =
            fromElements(b, VectorType::get(kPair, elements[first].getType()),
                         elements.slice(first, kPair));
        int64_t offset = segment * tile.segmentStride() +
                         layout.rowOffset(s, e) * kSegmentBytes;
        LLVM::StoreOp::create(b,
                              LLVM::BitcastOp::create(b, b.getI32Type(), pair),
                              sharedPointer(b, chunkAddress, offset));
      }
  }
}

void FragmentStore::storeRow(ImplicitLocOpBuilder &b, int64_t row) {
  I32Builder i{b};
  int64_t chunks = kSegmentBytes / kChunkBytes;
  Value source = i.bitXor(i.add(address, i.mul(kernel.lane, 2 * kPair)),
                          row % chunks * kChunkBytes);
  Value target = moveRows(b, global, pointer, i.constant(row));
  auto storeSegment = [&](ImplicitLocOpBuilder &inner, int64_t segment) {
    int64_t offset = segment * tile.segmentStride() + row * kSegmentBytes;
    Value pair = LLVM::LoadOp::create(inner, inner.getI32Type(),
                                      sharedPointer(inner, source, offset));
    LLVM::StoreOp::create(inner, pair,
                          advance(inner, target,
                                  segment * SwizzledTile::kSegmentCols,
                                  global.elementType));
  };
  for (int64_t segment = 0; segment < tile.segments(); ++segment) {
    if (tile.chunks(segment) == chunks) {
      storeSegment(b, segment);
      continue;
    }
    int64_t lanes = tile.chunks(segment) * kChunkBytes / (2 * kPair);
    buildGuarded(
        b,
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, kernel.lane,
                              i.constant(lanes)),
        [&](ImplicitLocOpBuilder &inner) { storeSegment(inner, segment); });
  }
}

void FragmentStore::storeRows(ImplicitLocOpBuilder &b, bool checked) {
  I32Builder i{b};
  for (int64_t s = 0; s < layout.slabs(); ++s)
    for (int64_t r = 0; r < kSlabRows; ++r) {
      int64_t row = layout.rowOffset(s, 0) + r;
      if (!checked) {
        storeRow(b, row);
        continue;
      }
      Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                           i.add(firstRow, row), global.rows);
      buildGuarded(b, inside,
                   [&](ImplicitLocOpBuilder &inner) { storeRow(inner, row); });
    }
}

void FragmentStore::run(ImplicitLocOpBuilder &b, Kernel::Scratch scratch,
                        ArrayRef<Value> elements) {
  I32Builder i{b};
  // The team anew from the thread's number: kernel.team would take a register
  // as long as the kernel runs.
  Value team = i.shr(kernel.thread, llvm::Log2_64(kWarpThreads));
  if (kernel.warps > 1)
    team = arith::DivUIOp::create(b, team, i.constant(kernel.warps));
  address = i.add(i.add(kernel.shared, scratch.offset),
                  i.add(i.mul(team, scratch.teamBytes),
                        i.mul(kernel.warp, kSlabRows * kSegmentBytes)));
  auto meet = [&] { NVVM::SyncWarpOp::create(b, i.constant(0xffffffff)); };
  meet();
  fillTile(b, elements);
  meet();
  int64_t end = layout.rowOffset(layout.slabs() - 1, 0) + kSlabRows;
  // Not as the sum of the row, which a load of the same rows may have made and
  // would be kept from there on.
  Value whole = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, firstRow,
                                      i.add(global.rows, -end));
  auto branch = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
  for (bool checked : {false, true}) {
    auto inner = ImplicitLocOpBuilder::atBlockTerminator(
        b.getLoc(), checked ? branch.elseBlock() : branch.thenBlock());
    storeRows(inner, checked);
  }
}

namespace {
/// Transposes 4 words of each of a quad's threads: thread t has word t of all
/// four after it. In a fragment's row a thread has the pair t of each block of
/// 8 columns, and then all of block t: 16 bytes that lie together. Stores of 4
/// bytes are half a sector each, and four times as many: at head dimension 256
/// and length 512 they were a quarter of the kernel's time.
class QuadTranspose {
public:
  QuadTranspose(ImplicitLocOpBuilder &b, Value inQuad) {
    I32Builder i{b};
    for (int64_t bit = 1; bit < kQuad; bit *= 2)
      hasBit.push_back(arith::CmpIOp::create(
          b, arith::CmpIPredicate::ne, i.bitAnd(inQuad, bit), i.constant(0)));
  }

  /// The four words, i32, as one vector.
  Value run(ImplicitLocOpBuilder &b, ArrayRef<Value> words) const {
    SmallVector<Value> mine(words);
    for (auto [n, upper] : llvm::enumerate(hasBit)) {
      int64_t distance = int64_t(1) << n;
      for (int64_t low = 0; low < kQuad; ++low)
        if (!(low & distance))
          exchange(b, upper, distance, mine[low], mine[low + distance]);
    }
    return fromElements(b, VectorType::get(kQuad, b.getI32Type()), mine);
  }

private:
  /// Gives the thread at `distance` the word that it keeps, for the one that
  /// this thread keeps.
  static void exchange(ImplicitLocOpBuilder &b, Value upper, int64_t distance,
                       Value &low, Value &high) {
    I32Builder i{b};
    Value given = arith::SelectOp::create(b, upper, low, high);
    Value taken = NVVM::ShflOp::create(
        b, b.getI32Type(), i.constant(0xffffffff), given, i.constant(distance),
        i.constant(kWarpThreads - 1), NVVM::ShflKind::bfly,
        /*return_value_and_is_valid=*/UnitAttr());
    Value keptLow = arith::SelectOp::create(b, upper, taken, low);
    high = arith::SelectOp::create(b, upper, high, taken);
    low = keptLow;
  }

  SmallVector<Value, 2> hasBit; ///< of the thread's number in its quad
};

struct ConvertStore : OpConversionPattern<cta::StoreOp> {
  ConvertStore(const FragmentTypeConverter &converter, MLIRContext *context,
               const Kernel &kernel)
      : OpConversionPattern(converter, context), converter(converter),
        kernel(kernel) {}

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
    if (op.getRowEnd())
      global.rows = I32Builder{b}.fromIndex(op.getRowEnd());
    SmallVector<Value> elements = toElements(b, adaptor.getValue());
    auto scratch = kernel.storeScratch.find(op);
    if (scratch != kernel.storeScratch.end())
      FragmentStore(b, kernel, global, *layout)
          .run(b, scratch->second, elements);
    else
      storeRows(b, global, *layout, elements);
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
    Value firstInQuad = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                              inQuad, i.constant(0));
    Value pointer = moveRows(b, global, global.pointer, first);
    QuadTranspose transpose(b, inQuad);
    for (int64_t s = 0; s < layout.slabs(); ++s)
      for (int64_t half = 0; half < 2; ++half) {
        int64_t offset = layout.rowOffset(s, 2 * half);
        Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                             i.add(first, offset), global.rows);
        // One thread of four stores a row vector's element.
        if (!matrix)
          inside = arith::AndIOp::create(b, inside, firstInQuad);
        SmallVector<Piece> pieces =
            matrix ? getPieces(b, transpose, layout, elements, s, half)
                   : SmallVector<Piece>{{elements[2 * s + half], 0, 0}};
        buildGuarded(b, inside, [&](ImplicitLocOpBuilder &inner) {
          storePieces(inner,
                      moveRows(inner, global, pointer,
                               I32Builder{inner}.constant(offset)),
                      inQuad, pieces, global.elementType);
        });
      }
  }

  /// What a thread stores at once, `column + laneColumns * inQuad` elements
  /// from a row's first.
  struct Piece {
    Value value;
    int64_t column, laneColumns;
  };

  static void storePieces(ImplicitLocOpBuilder &b, Value row, Value inQuad,
                          ArrayRef<Piece> pieces, Type elementType) {
    llvm::SmallDenseMap<int64_t, Value> pointers{{0, row}};
    for (const Piece &piece : pieces) {
      Value &pointer = pointers[piece.laneColumns];
      if (!pointer)
        pointer = advance(b, row,
                          arith::ExtUIOp::create(
                              b, b.getI64Type(),
                              I32Builder{b}.mul(inQuad, piece.laneColumns)),
                          elementType);
      LLVM::StoreOp::create(b, piece.value,
                            advance(b, pointer, piece.column, elementType));
    }
  }

  /// One thread's part of a row: of 16-bit elements the chunks that it holds
  /// after an exchange in its quad, and the pairs of columns that fill none.
  static SmallVector<Piece> getPieces(ImplicitLocOpBuilder &b,
                                      const QuadTranspose &transpose,
                                      const FragmentLayout &layout,
                                      ArrayRef<Value> elements, int64_t s,
                                      int64_t half) {
    bool narrow = elements.front().getType().getIntOrFloatBitWidth() == 16;
    SmallVector<Value> pairs;
    for (int64_t n = 0; n < layout.blocks(); ++n) {
      int64_t first = layout.index(s, n, 2 * half);
      Value pair =
          fromElements(b, VectorType::get(kPair, elements[first].getType()),
                       elements.slice(first, kPair));
      pairs.push_back(narrow ? LLVM::BitcastOp::create(b, b.getI32Type(), pair)
                             : pair);
    }
    SmallVector<Piece> pieces;
    int64_t exchanged = narrow ? llvm::alignDown(layout.blocks(), kQuad) : 0;
    for (int64_t n = 0; n < exchanged; n += kQuad)
      pieces.push_back(
          {transpose.run(b, ArrayRef<Value>(pairs).slice(n, kQuad)),
           FragmentLayout::colOffset(n, 0), kBlockCols});
    for (int64_t n = exchanged; n < layout.blocks(); ++n)
      pieces.push_back({pairs[n], FragmentLayout::colOffset(n, 0), kPair});
    return pieces;
  }

  const FragmentTypeConverter &converter;
  const Kernel &kernel;
};
} // namespace

void fa::populateStorePatterns(const FragmentTypeConverter &converter,
                               const Kernel &kernel,
                               RewritePatternSet &patterns) {
  patterns.add<ConvertStore>(converter, patterns.getContext(), kernel);
}
