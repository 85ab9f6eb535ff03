//===- LookupPatterns.cpp - Elements of captured tensors ------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads and stores of single elements. A load: each thread those of its part of
// the fragment, by the path for memory that nobody writes (ld.global.nc). A
// position is a sum of parts: what is the same for all elements, what depends
// on the row, on the column, on both. Each part is computed once, in 64 bits. A
// thread's columns are pairs of neighbours: where memory and strides turn out
// to be aligned for it, which is the same for the whole kernel, two elements
// are one load. Columns that are clamped to a last one are such pairs in a
// block that ends before it, which is the same for the whole block.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Lowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fa;

/// The elements of a pair.
static constexpr int64_t kPair = 2;

/// `index`, of type index or i32, in 64 bits.
static Value widen(ImplicitLocOpBuilder &b, Value index) {
  if (index.getType().isIndex())
    return b.createOrFold<arith::IndexCastOp>(b.getI64Type(), index);
  return b.createOrFold<arith::ExtSIOp>(b.getI64Type(), index);
}

/// The sum of `a` and `c` in 64 bits; a null value is 0.
static Value addParts(ImplicitLocOpBuilder &b, Value a, Value c) {
  if (!a || !c)
    return a ? a : c;
  return b.createOrFold<arith::AddIOp>(a, c);
}

/// Whether neighbours along the last dimension are neighbours in memory.
static bool isLastContiguous(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         !strides.empty() && strides.back() == 1;
}

namespace {
/// Neighbouring columns.
struct ColumnRun {
  SmallVector<Value> scalars; ///< i32, whose sum is the first column
  Value last;                 ///< i32, what none is above; null: no limit
};
} // namespace

/// The scalar, i32, that `value` has everywhere; null where it has none.
static Value getSplat(Value value) {
  auto splat = value.getDefiningOp<vector::BroadcastOp>();
  return splat && !isa<VectorType>(splat.getSource().getType())
             ? splat.getSource()
             : Value();
}

/// Reads `index` as a sum of scalars and each element's column, or as the
/// smaller of that and a scalar.
static std::optional<ColumnRun> matchColumns(Value index) {
  if (auto column = index.getDefiningOp<cta::ColOp>())
    return ColumnRun{{column.getBase()}, nullptr};
  Operation *op = index.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::MinSIOp>(op))
    return std::nullopt;
  for (auto [part, other] : {std::pair(op->getOperand(0), op->getOperand(1)),
                             std::pair(op->getOperand(1), op->getOperand(0))}) {
    Value scalar = getSplat(other);
    if (!scalar)
      continue;
    std::optional<ColumnRun> run = matchColumns(part);
    if (!run || run->last)
      return std::nullopt;
    if (isa<arith::AddIOp>(op))
      run->scalars.push_back(scalar);
    else
      run->last = scalar;
    return run;
  }
  return std::nullopt;
}

namespace {
/// A memref's memory, and where a thread's elements lie in it; with
/// `ofWholeBlock` in a block that no limit of its columns cuts.
class Positions {
public:
  Positions(ImplicitLocOpBuilder &b, Value memref, const Kernel &kernel,
            bool ofWholeBlock = false)
      : b(b), kernel(kernel), ofWholeBlock(ofWholeBlock),
        data(memref::ExtractStridedMetadataOp::create(b, memref)),
        type(cast<MemRefType>(memref.getType())) {
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, memref);
    begin = widen(b, address);
    base = LLVM::IntToPtrOp::create(
        b, LLVM::LLVMPointerType::get(b.getContext(), 1), begin);
    uniform = widen(b, data.getOffset());
    mustBeEven(uniform);
  }

  /// Adds the index of dimension `dim`: `original` in the fragment's program,
  /// `converted` as a thread holds it, with `layout` where it is a vector.
  void add(unsigned dim, Value original, Value converted,
           std::optional<FragmentLayout> layout);

  /// The element of row `row` (2 in each slab), column `column` (2 in each
  /// block) and, in a matrix, number `element` of what the thread holds.
  Value load(int64_t row, int64_t column, int64_t element);
  /// The address of the one element that scalars say.
  Value address() { return rowPointer(0); }

  Type elementType() const { return type.getElementType(); }
  /// Makes the pointers to all rows here, for loads in several branches.
  void preparePointers() {
    for (int64_t row = 0, e = std::max<size_t>(1, rows.size()); row < e; ++row)
      rowPointer(row);
  }

  /// Whether the columns come in pairs of neighbours.
  bool hasPairs() const { return isRun && columns.empty() && all.empty(); }
  /// Whether the block is whole and pairs are aligned, as an i1.
  Value buildHasAlignedPairs();
  /// The pair whose first column is `column`, where pairs are aligned.
  SmallVector<Value> loadPair(int64_t row, int64_t column);

private:
  /// Notes that pairs are aligned only if `count`, of elements, is even.
  void mustBeEven(Value count) {
    odd = odd ? b.createOrFold<arith::OrIOp>(odd, count) : count;
  }

  /// The stride of dimension `dim`; null: 1.
  Value stride(unsigned dim) {
    bool isOne = dim + 1 == type.getRank() && isLastContiguous(type);
    return isOne ? Value() : widen(b, data.getStrides()[dim]);
  }
  Value scale(Value index, Value stride) {
    Value wide = widen(b, index);
    return stride ? b.createOrFold<arith::MulIOp>(wide, stride) : wide;
  }
  Value advance(Value pointer, LLVM::GEPArg count) {
    return LLVM::GEPOp::create(b, pointer.getType(), type.getElementType(),
                               pointer, count);
  }
  Value rowPointer(int64_t row);

  void addRun(const ColumnRun &run, int64_t length);

  ImplicitLocOpBuilder &b;
  const Kernel &kernel;
  bool ofWholeBlock;
  memref::ExtractStridedMetadataOp data;
  MemRefType type;
  Value begin;   ///< the address of the memory
  Value base;    ///< the same as a pointer
  Value odd;     ///< the lowest bit: pairs are not aligned
  Value isCut;   ///< i1: a limit cuts the block; null: there is none
  Value uniform; ///< the part of all elements
  SmallVector<Value> rows, columns, all; ///< parts; empty: 0
  bool isRun = false; ///< the columns' offsets are constants: 0, 1, 8, 9, ...
  SmallVector<Value> pointers; ///< to rows, as they are asked for
};
} // namespace

/// Adds an index that is a run of `length` columns.
void Positions::addRun(const ColumnRun &run, int64_t length) {
  I32Builder i{b};
  Value first;
  for (Value scalar : run.scalars) {
    mustBeEven(widen(b, scalar));
    first = first ? i.add(first, scalar) : scalar;
  }
  if (run.last)
    isCut = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                  i.add(first, length - 1), run.last);
  first = i.add(first, i.mul(i.bitAnd(kernel.lane, kQuad - 1), 2));
  uniform = addParts(b, uniform, widen(b, first));
  isRun = true;
}

void Positions::add(unsigned dim, Value original, Value converted,
                    std::optional<FragmentLayout> layout) {
  Value step = stride(dim);
  if (!layout) {
    Value part = scale(converted, step);
    mustBeEven(part);
    uniform = addParts(b, uniform, part);
    return;
  }
  std::optional<ColumnRun> run;
  if (layout->kind == FragmentKind::Column && !step)
    run = matchColumns(original);
  if (run && (ofWholeBlock || !run->last)) {
    addRun(*run, layout->cols);
    return;
  }
  if (step)
    mustBeEven(step);
  SmallVector<Value> &parts = layout->kind == FragmentKind::Row      ? rows
                              : layout->kind == FragmentKind::Column ? columns
                                                                     : all;
  SmallVector<Value> elements = toElements(b, converted);
  parts.resize(elements.size());
  for (auto [part, element] : llvm::zip_equal(parts, elements))
    part = addParts(b, part, scale(element, step));
}

Value Positions::rowPointer(int64_t row) {
  if (pointers.empty())
    pointers.resize(std::max<size_t>(1, rows.size()));
  int64_t number = rows.empty() ? 0 : row;
  Value &pointer = pointers[number];
  if (!pointer) {
    pointer = advance(base, uniform);
    if (!rows.empty())
      pointer = advance(pointer, rows[number]);
  }
  return pointer;
}

Value Positions::load(int64_t row, int64_t column, int64_t element) {
  Value pointer = rowPointer(row);
  if (isRun)
    pointer = advance(pointer, static_cast<int32_t>(FragmentLayout::colOffset(
                                   column / 2, column % 2)));
  if (!columns.empty())
    pointer = advance(pointer, columns[column]);
  if (!all.empty())
    pointer = advance(pointer, all[element]);
  auto load = LLVM::LoadOp::create(b, type.getElementType(), pointer);
  load.setInvariant(true);
  return load;
}

Value Positions::buildHasAlignedPairs() {
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  auto mask = [&](Value value, int64_t bits) -> Value {
    return arith::AndIOp::create(
        b, value, arith::ConstantIntOp::create(b, b.getI64Type(), bits));
  };
  Value rest =
      arith::OrIOp::create(b, mask(begin, 2 * bytes - 1), mask(odd, 1));
  if (isCut)
    rest = arith::OrIOp::create(
        b, rest, arith::ExtUIOp::create(b, b.getI64Type(), isCut));
  return arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq, rest,
      arith::ConstantIntOp::create(b, b.getI64Type(), 0));
}

SmallVector<Value> Positions::loadPair(int64_t row, int64_t column) {
  Value pointer = advance(
      rowPointer(row),
      static_cast<int32_t>(FragmentLayout::colOffset(column / 2, column % 2)));
  Type element = type.getElementType();
  auto load =
      LLVM::LoadOp::create(b, VectorType::get(2, element), pointer,
                           /*alignment=*/element.getIntOrFloatBitWidth() / 4);
  load.setInvariant(true);
  return toElements(b, load);
}

namespace {
/// `cta.lookup`: the elements that the thread holds.
struct ConvertLookup : OpConversionPattern<cta::LookupOp> {
  ConvertLookup(const FragmentTypeConverter &converter, MLIRContext *context,
                const Kernel &kernel)
      : OpConversionPattern<cta::LookupOp>(converter, context),
        converter(converter), kernel(kernel) {}

  LogicalResult
  matchAndRewrite(cta::LookupOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<FragmentLayout> layout = converter.getLayout(op.getType());
    if (!layout)
      return rewriter.notifyMatchFailure(op, "result is no fragment");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto find = [&](bool ofWholeBlock) {
      Positions positions(b, op.getSource(), kernel, ofWholeBlock);
      for (auto [dim, original, converted] :
           llvm::enumerate(op.getIndices(), adaptor.getIndices()))
        positions.add(dim, original, converted,
                      converter.getLayout(original.getType()));
      return positions;
    };
    Positions any = find(/*ofWholeBlock=*/false);
    SmallVector<Value> elements;
    // Of a matrix that a limit cuts, each element by itself as it is used: all
    // of them at once, after a branch, would spill.
    if (layout->kind == FragmentKind::Column) {
      Positions whole = find(/*ofWholeBlock=*/true);
      elements = whole.hasPairs() ? loadByAlignment(b, whole, any, *layout)
                                  : loadAll(any, *layout);
    } else if (layout->kind == FragmentKind::Matrix && any.hasPairs()) {
      elements = loadByAlignment(b, any, any, *layout);
    } else {
      elements = loadAll(any, *layout);
    }
    rewriter.replaceOp(
        op, fromElements(b, converter.convertType(op.getType()), elements));
    return success();
  }

private:
  /// All elements, two at a time.
  static SmallVector<Value> loadPairs(Positions &positions,
                                      const FragmentLayout &layout) {
    SmallVector<Value> elements;
    if (layout.kind == FragmentKind::Column) {
      for (int64_t n = 0; n < layout.blocks(); ++n)
        llvm::append_range(elements, positions.loadPair(0, 2 * n));
      return elements;
    }
    for (int64_t s = 0; s < layout.slabs(); ++s)
      for (int64_t n = 0; n < layout.blocks(); ++n)
        for (int64_t half = 0; half < 2; ++half)
          llvm::append_range(elements, positions.loadPair(2 * s + half, 2 * n));
    return elements;
  }

  /// A branch: pairs at the places `whole` where they are aligned and the block
  /// is whole, else single elements at the places `any`.
  static SmallVector<Value> loadByAlignment(ImplicitLocOpBuilder &b,
                                            Positions &whole, Positions &any,
                                            const FragmentLayout &layout) {
    Value aligned = whole.buildHasAlignedPairs();
    whole.preparePointers();
    any.preparePointers();
    int64_t count = layout.blocks() * (layout.kind == FragmentKind::Column
                                           ? kPair
                                           : layout.slabs() * 2 * kPair);
    auto branch =
        scf::IfOp::create(b, SmallVector<Type>(count, whole.elementType()),
                          aligned, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loadPairs(whole, layout));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loadAll(any, layout));
    return SmallVector<Value>(branch.getResults());
  }

  static SmallVector<Value> loadAll(Positions &positions,
                                    const FragmentLayout &layout) {
    SmallVector<Value> elements;
    bool isMatrix = layout.kind == FragmentKind::Matrix;
    if (!isMatrix) {
      bool isRow = layout.kind == FragmentKind::Row;
      int64_t count = 2 * (isRow ? layout.slabs() : layout.blocks());
      for (int64_t n = 0; n < count; ++n)
        elements.push_back(
            positions.load(isRow ? n : 0, isRow ? 0 : n, /*element=*/0));
      return elements;
    }
    for (int64_t s = 0; s < layout.slabs(); ++s)
      for (int64_t n = 0; n < layout.blocks(); ++n)
        for (int64_t e = 0; e < 4; ++e)
          elements.push_back(positions.load(2 * s + e / 2, 2 * n + e % 2,
                                            layout.index(s, n, e)));
    return elements;
  }

  const FragmentTypeConverter &converter;
  const Kernel &kernel;
};

/// One element for all threads.
struct ConvertScalarLoad : OpConversionPattern<memref::LoadOp> {
  ConvertScalarLoad(const FragmentTypeConverter &converter,
                    MLIRContext *context, const Kernel &kernel)
      : OpConversionPattern<memref::LoadOp>(converter, context),
        kernel(kernel) {}

  LogicalResult
  matchAndRewrite(memref::LoadOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Positions positions(b, op.getMemref(), kernel);
    for (auto [dim, index] : llvm::enumerate(op.getIndices()))
      positions.add(dim, index, index, std::nullopt);
    rewriter.replaceOp(op, positions.load(0, 0, 0));
    return success();
  }

  const Kernel &kernel;
};

/// One element, which all threads store alike.
struct ConvertScalarStore : OpConversionPattern<memref::StoreOp> {
  ConvertScalarStore(const FragmentTypeConverter &converter,
                     MLIRContext *context, const Kernel &kernel)
      : OpConversionPattern<memref::StoreOp>(converter, context),
        kernel(kernel) {}

  LogicalResult
  matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Positions positions(b, op.getMemref(), kernel);
    for (auto [dim, index] : llvm::enumerate(op.getIndices()))
      positions.add(dim, index, index, std::nullopt);
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, adaptor.getValue(),
                                               positions.address());
    return success();
  }

  const Kernel &kernel;
};
} // namespace

void fa::populateLookupPatterns(const FragmentTypeConverter &converter,
                                const Kernel &kernel,
                                RewritePatternSet &patterns) {
  patterns.add<ConvertLookup, ConvertScalarLoad, ConvertScalarStore>(
      converter, patterns.getContext(), kernel);
}
