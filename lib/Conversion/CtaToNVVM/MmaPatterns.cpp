//===- MmaPatterns.cpp - Products to mma.sync and ldmatrix ----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product is cut into steps of 16 along its depth. Each step reads the warp's
// slabs of A (from registers, or from the tile by ldmatrix) and blocks of 16
// columns of B by ldmatrix, and multiplies them by mma.sync m16n8k16. A product
// is done when it is issued, so that waiting for it does nothing.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Lowering.h"

using namespace mlir;
using namespace fa;

namespace {
/// Reads 16x16 blocks of a swizzled tile with ldmatrix.x4. The lanes' own part
/// of the address is made once; a block's place is a constant, but for its
/// chunk, which is xored in.
class BlockReader {
public:
  /// `rowFirst`: lanes 0-15 name the rows, lane / 16 the chunk (A operands, and
  /// B stored [K, N]); otherwise lane bit 4 names the upper 8 rows and bit 3
  /// the chunk (B stored [N, K]).
  BlockReader(ImplicitLocOpBuilder &b, const Kernel &kernel, Value tile,
              cta::TileType type, Value firstRow, bool rowFirst);

  /// The four registers of the block at (row, col), `transposed` as B stored
  /// [K, N] needs it.
  SmallVector<Value> read(int64_t row, int64_t col, bool transposed);

private:
  ImplicitLocOpBuilder &b;
  SwizzledTile tile;
  /// The lanes' addresses for each of the 4 blocks of a 64-column segment.
  SmallVector<Value> addresses;
};
} // namespace

BlockReader::BlockReader(ImplicitLocOpBuilder &b, const Kernel &kernel,
                         Value address, cta::TileType type, Value firstRow,
                         bool rowFirst)
    : b(b), tile{type.getRows(), type.getCols()} {
  I32Builder i{b};
  Value offset = rowFirst ? kernel.rowFirstOffset : kernel.columnFirstOffset;
  if (firstRow)
    offset = i.add(offset, i.mul(firstRow, kSegmentBytes));
  Value first = i.add(address, offset);
  for (int64_t block = 0; block < 4; ++block)
    addresses.push_back(i.bitXor(first, block * 2 * kChunkBytes));
}

SmallVector<Value> BlockReader::read(int64_t row, int64_t col,
                                     bool transposed) {
  int64_t offset = col / SwizzledTile::kSegmentCols * tile.segmentStride() +
                   row * kSegmentBytes;
  Value address = addresses[col % SwizzledTile::kSegmentCols / 16];
  auto i32 = b.getI32Type();
  auto type =
      LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32, i32, i32});
  Value matrix = NVVM::LdMatrixOp::create(
      b, type, sharedPointer(b, address, offset), /*num=*/4,
      transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> registers;
  for (int64_t n = 0; n < 4; ++n)
    registers.push_back(LLVM::ExtractValueOp::create(b, matrix, n));
  return registers;
}

namespace {
/// Gives the A registers of each (slab, step).
class LeftOperand {
public:
  LeftOperand(ImplicitLocOpBuilder &b, const Kernel &kernel, cta::MmaOp op,
              Value converted, const FragmentLayout &product);

  /// The four registers of A for one mma.sync.
  SmallVector<Value> read(int64_t slab, int64_t step);

private:
  ImplicitLocOpBuilder &b;
  int64_t warps;
  std::optional<BlockReader> reader;
  SmallVector<Value> elements;
  std::optional<FragmentLayout> layout;
};
} // namespace

LeftOperand::LeftOperand(ImplicitLocOpBuilder &b, const Kernel &kernel,
                         cta::MmaOp op, Value converted,
                         const FragmentLayout &product)
    : b(b), warps(kernel.warps) {
  if (auto tile = dyn_cast<cta::TileType>(op.getA().getType())) {
    Value firstRow = I32Builder{b}.mul(kernel.warp, kSlabRows);
    reader.emplace(b, kernel, converted, tile, firstRow, /*rowFirst=*/true);
    return;
  }
  elements = toElements(b, converted);
  layout = FragmentLayout::get({product.rows, op.getDepth()}, warps);
}

SmallVector<Value> LeftOperand::read(int64_t slab, int64_t step) {
  if (reader)
    return reader->read(slab * kSlabRows * warps, step * kStepDepth,
                        /*transposed=*/false);
  SmallVector<Value> registers;
  for (int64_t block = 2 * step; block < 2 * step + 2; ++block)
    for (int64_t e = 0; e < 4; e += 2)
      registers.push_back(pack(b, elements[layout->index(slab, block, e)],
                               elements[layout->index(slab, block, e + 1)]));
  return registers;
}

/// The operands of mma.sync in the type that it wants: i32 for bf16, pairs for
/// f16.
static SmallVector<Value> castOperands(ImplicitLocOpBuilder &b,
                                       ArrayRef<Value> registers,
                                       Type elementType) {
  if (elementType.isBF16())
    return SmallVector<Value>(registers);
  SmallVector<Value> pairs;
  for (Value value : registers)
    pairs.push_back(
        LLVM::BitcastOp::create(b, VectorType::get(2, elementType), value));
  return pairs;
}

/// One m16n8k16 step, added to the four accumulators in place.
static void multiply(ImplicitLocOpBuilder &b, Type elementType,
                     ArrayRef<Value> left, ArrayRef<Value> right,
                     MutableArrayRef<Value> acc) {
  auto f32 = b.getF32Type();
  auto type =
      LLVM::LLVMStructType::getLiteral(b.getContext(), {f32, f32, f32, f32});
  NVVM::MMATypes kind =
      elementType.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  Value result =
      NVVM::MmaOp::create(b, type, castOperands(b, left, elementType),
                          castOperands(b, right, elementType), ValueRange(acc),
                          ArrayRef<int64_t>{kSlabRows, kBlockCols, kStepDepth},
                          /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
                          std::array<NVVM::MMATypes, 2>{kind, kind},
                          std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                                         NVVM::MMALayout::col});
  for (int64_t n = 0; n < 4; ++n)
    acc[n] = LLVM::ExtractValueOp::create(b, result, n);
}

namespace {
struct ConvertMma : OpConversionPattern<cta::MmaOp> {
  ConvertMma(const FragmentTypeConverter &converter, MLIRContext *context,
             const Kernel &kernel)
      : OpConversionPattern(converter, context), converter(converter),
        kernel(kernel) {}

  LogicalResult
  matchAndRewrite(cta::MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = op.getFlight().getType();
    std::optional<FragmentLayout> layout = converter.getLayout(type);
    if (!layout || layout->kind != FragmentKind::Matrix ||
        layout->cols % (2 * kBlockCols) || op.getDepth() % kStepDepth)
      return rewriter.notifyMatchFailure(op, "shape has no mma.sync form");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> acc = getAccumulator(b, adaptor, *layout);
    multiplySteps(b, op, adaptor, *layout, acc);
    rewriter.replaceOp(op, fromElements(b, converter.convertType(type), acc));
    return success();
  }

private:
  static SmallVector<Value> getAccumulator(ImplicitLocOpBuilder &b,
                                           OpAdaptor adaptor,
                                           const FragmentLayout &layout) {
    if (adaptor.getAcc())
      return toElements(b, adaptor.getAcc());
    Value zero =
        arith::ConstantFloatOp::create(b, b.getF32Type(), APFloat(0.f));
    return SmallVector<Value>(layout.slabs() * layout.blocks() * 4, zero);
  }

  void multiplySteps(ImplicitLocOpBuilder &b, cta::MmaOp op, OpAdaptor adaptor,
                     const FragmentLayout &layout,
                     SmallVectorImpl<Value> &acc) const {
    cta::TileType right = op.getB().getType();
    bool kMajor = op.getTranspose();
    LeftOperand a(b, kernel, op, adaptor.getA(), layout);
    BlockReader reader(b, kernel, adaptor.getB(), right, /*firstRow=*/Value(),
                       /*rowFirst=*/!kMajor);
    int64_t steps = op.getDepth() / kStepDepth;
    auto multiplyBlock = [&](ArrayRef<SmallVector<Value>> left, int64_t step,
                             int64_t n) {
      int64_t depth = step * kStepDepth, col = n * kBlockCols;
      SmallVector<Value> block = kMajor ? reader.read(col, depth, false)
                                        : reader.read(depth, col, true);
      for (int64_t s = 0; s < layout.slabs(); ++s)
        for (int64_t half = 0; half < 2; ++half)
          multiply(b, right.getElementType(), left[s],
                   ArrayRef<Value>(block).slice(2 * half, 2),
                   MutableArrayRef<Value>(acc).slice(
                       layout.index(s, n + half, 0), 4));
    };
    // One step after another: A passes through few registers, or leaves those
    // that it is in, and as many products as there are accumulators stand
    // between two that wait for one another.
    for (int64_t step = 0; step < steps; ++step) {
      SmallVector<SmallVector<Value>> left;
      for (int64_t s = 0; s < layout.slabs(); ++s)
        left.push_back(a.read(s, step));
      for (int64_t n = 0; n < layout.blocks(); n += 2)
        multiplyBlock(left, step, n);
    }
  }

  const FragmentTypeConverter &converter;
  const Kernel &kernel;
};

/// mma.sync is done when it is issued.
struct ConvertWait : OpConversionPattern<cta::WaitOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(cta::WaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getFlight());
    return success();
  }
};

/// Reads a swizzled tile of 32-bit elements, of which a lane has pairs of
/// neighbours: row lane / 4 and columns 2 (lane mod 4) of each block of 8. Rows
/// 2 r and 2 r + 1 have a block's chunks in the same banks, so where half a
/// warp reads one block, lanes of odd rows read the block two further on, and
/// what they have read for another is exchanged in their registers.
class PairReader {
public:
  PairReader(ImplicitLocOpBuilder &b, const Kernel &kernel, Value address,
             cta::TileType type);

  /// The elements of all of a warp's slabs and blocks, as `layout` has them.
  SmallVector<Value> readAll(const FragmentLayout &layout);

private:
  static constexpr int64_t kBytes = 4, kPairBytes = 2 * kBytes;
  /// The blocks of a segment, and how far apart those are that lanes exchange.
  static constexpr int64_t kBlocks = kSegmentBytes / kBytes / kBlockCols;
  static constexpr int64_t kDistance = kBlocks / 2;
  static constexpr int64_t kBlockBytes = kBlockCols * kBytes;

  using Pair = SmallVector<Value>;

  /// The lane's pair of the block `n` of the segment that is `offset` bytes
  /// from the first; of the one that odd rows read for it if `exchanged`.
  Pair load(int64_t n, int64_t offset, bool exchanged);
  /// Adds the pairs of `count` blocks of a segment and of one row.
  void readRow(int64_t count, int64_t offset, SmallVectorImpl<Pair> &pairs);

  ImplicitLocOpBuilder &b;
  SwizzledTile tile;
  Value first;      ///< the address of the lane's first pair
  Value isOddRow;   ///< i1
  Value firstOfOdd; ///< the same as `first`, with odd rows at their own block
};
} // namespace

PairReader::PairReader(ImplicitLocOpBuilder &b, const Kernel &kernel,
                       Value address, cta::TileType type)
    : b(b), tile{type.getRows(), type.getCols(), kBytes} {
  I32Builder i{b};
  Value row = i.shr(kernel.lane, 2);
  Value chunk = i.bitXor(i.bitAnd(i.shr(kernel.lane, 1), 1), row);
  Value rowBytes =
      i.mul(i.add(i.mul(kernel.warp, kSlabRows), row), kSegmentBytes);
  Value inRow = i.add(i.mul(chunk, kChunkBytes),
                      i.mul(i.bitAnd(kernel.lane, 1), kPairBytes));
  first = i.add(address, i.add(rowBytes, inRow));
  Value odd = i.bitAnd(row, 1);
  firstOfOdd = i.bitXor(first, i.mul(odd, kDistance * kBlockBytes));
  isOddRow =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, odd, i.constant(0));
}

PairReader::Pair PairReader::load(int64_t n, int64_t offset, bool exchanged) {
  // The tile begins at a multiple of the swizzle's period: a block's chunks are
  // xored in.
  Value address =
      I32Builder{b}.bitXor(exchanged ? firstOfOdd : first, n * kBlockBytes);
  auto type = VectorType::get(2, b.getF32Type());
  return toElements(b, LLVM::LoadOp::create(b, type,
                                            sharedPointer(b, address, offset),
                                            kPairBytes));
}

void PairReader::readRow(int64_t count, int64_t offset,
                         SmallVectorImpl<Pair> &pairs) {
  // 1. Of a part of a segment each block by itself.
  bool exchanged = count == kBlocks;
  SmallVector<Pair> loaded;
  for (int64_t n = 0; n < count; ++n)
    loaded.push_back(load(n, offset, exchanged));
  // 2. What odd rows have read for one another.
  for (int64_t n = 0; n < count; ++n) {
    Pair pair = loaded[n];
    for (int64_t e = 0; exchanged && e < 2; ++e)
      pair[e] = arith::SelectOp::create(b, isOddRow, loaded[n ^ kDistance][e],
                                        loaded[n][e]);
    pairs.push_back(pair);
  }
}

SmallVector<Value> PairReader::readAll(const FragmentLayout &layout) {
  SmallVector<Value> elements;
  for (int64_t slab = 0; slab < layout.slabs(); ++slab)
    for (int64_t begin = 0; begin < layout.blocks(); begin += kBlocks) {
      // Both rows of a lane, which its elements take turns with.
      int64_t count = std::min(kBlocks, layout.blocks() - begin);
      SmallVector<Pair> rows[2];
      for (int64_t half = 0; half < 2; ++half)
        readRow(count,
                begin / kBlocks * tile.segmentStride() +
                    layout.rowOffset(slab, 2 * half) * kSegmentBytes,
                rows[half]);
      for (int64_t n = 0; n < count; ++n)
        for (const SmallVector<Pair> &row : rows)
          llvm::append_range(elements, row[n]);
    }
  return elements;
}

namespace {
/// A tile into a fragment: the A registers, taken apart.
struct ConvertRead : OpConversionPattern<cta::ReadOp> {
  ConvertRead(const FragmentTypeConverter &converter, MLIRContext *context,
              const Kernel &kernel)
      : OpConversionPattern(converter, context), converter(converter),
        kernel(kernel) {}

  LogicalResult
  matchAndRewrite(cta::ReadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = op.getFragment().getType();
    std::optional<FragmentLayout> layout = converter.getLayout(type);
    if (!layout || layout->cols % kStepDepth)
      return rewriter.notifyMatchFailure(op, "shape has no ldmatrix form");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    cta::TileType tile = op.getTile().getType();
    if (tile.getElementType().isF32()) {
      PairReader reader(b, kernel, adaptor.getTile(), tile);
      rewriter.replaceOp(op, fromElements(b, converter.convertType(type),
                                          reader.readAll(*layout)));
      return success();
    }
    Value firstRow = I32Builder{b}.mul(kernel.warp, kSlabRows);
    BlockReader reader(b, kernel, adaptor.getTile(), tile, firstRow,
                       /*rowFirst=*/true);
    auto pair = VectorType::get(2, tile.getElementType());
    SmallVector<Value> elements;
    for (int64_t s = 0; s < layout->slabs(); ++s)
      for (int64_t step = 0; step < layout->cols / kStepDepth; ++step)
        for (Value value : reader.read(s * kSlabRows * kernel.warps,
                                       step * kStepDepth, false))
          llvm::append_range(
              elements, toElements(b, LLVM::BitcastOp::create(b, pair, value)));
    rewriter.replaceOp(op,
                       fromElements(b, converter.convertType(type), elements));
    return success();
  }

  const FragmentTypeConverter &converter;
  const Kernel &kernel;
};
} // namespace

void fa::populateMmaPatterns(const FragmentTypeConverter &converter,
                             const Kernel &kernel,
                             RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ConvertMma>(converter, context, kernel);
  patterns.add<ConvertWait>(converter, context);
}

void fa::populateReadPatterns(const FragmentTypeConverter &converter,
                              const Kernel &kernel,
                              RewritePatternSet &patterns) {
  patterns.add<ConvertRead>(converter, patterns.getContext(), kernel);
}
