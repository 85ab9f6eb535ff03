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
      rewriter.replaceOp(
          op, fromElements(b, converter.convertType(type),
                           readPairs(b, adaptor.getTile(), tile, *layout)));
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

private:
  /// Elements of 32 bits, each lane's pairs of neighbours by themselves. The
  /// lane's own part of the address is made once for each place of a block of 8
  /// columns in a segment: the block's chunks are xored in.
  SmallVector<Value> readPairs(ImplicitLocOpBuilder &b, Value address,
                               cta::TileType tile,
                               const FragmentLayout &layout) const {
    constexpr int64_t kBytes = 4, kPairBytes = 2 * kBytes;
    SwizzledTile swizzled{tile.getRows(), tile.getCols(), kBytes};
    const int64_t blocks = swizzled.segmentCols() / kBlockCols;
    // 1. Of the warp's first slab: row lane / 4, and columns 2 (lane mod 4) and
    // the next, which are half a chunk.
    I32Builder i{b};
    Value row = i.shr(kernel.lane, 2);
    Value chunk = i.bitXor(i.bitAnd(i.shr(kernel.lane, 1), 1), row);
    Value own =
        i.add(i.mul(i.add(i.mul(kernel.warp, kSlabRows), row), kSegmentBytes),
              i.add(i.mul(chunk, kChunkBytes),
                    i.mul(i.bitAnd(kernel.lane, 1), kPairBytes)));
    Value first = i.add(address, own);
    SmallVector<Value> addresses;
    for (int64_t n = 0; n < blocks; ++n)
      addresses.push_back(i.bitXor(first, n * 2 * kChunkBytes));
    // 2. The pairs.
    auto pair = VectorType::get(2, b.getF32Type());
    SmallVector<Value> elements;
    for (int64_t s = 0; s < layout.slabs(); ++s)
      for (int64_t n = 0; n < layout.blocks(); ++n)
        for (int64_t e = 0; e < 4; e += 2) {
          int64_t offset = n / blocks * swizzled.segmentStride() +
                           layout.rowOffset(s, e) * kSegmentBytes;
          Value place = sharedPointer(b, addresses[n % blocks], offset);
          llvm::append_range(
              elements,
              toElements(b, LLVM::LoadOp::create(b, pair, place, kPairBytes)));
        }
    return elements;
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
