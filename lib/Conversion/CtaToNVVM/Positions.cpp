//===- Positions.cpp - Where a thread's elements lie ----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Positions.h"
#include "Builders.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fa;

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

/// Neighbouring columns.
struct fa::ColumnRun {
  SmallVector<Value> scalars; ///< i32, whose sum is the first column
  Value last;                 ///< i32, what none is above; null: no limit
};

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

Positions::Positions(ImplicitLocOpBuilder &b, Value memref,
                     const Kernel &kernel, bool ofWholeBlock)
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

/// Notes that pairs are aligned only if `count`, of elements, is even.
void Positions::mustBeEven(Value count) {
  odd = odd ? b.createOrFold<arith::OrIOp>(odd, count) : count;
}

/// The stride of dimension `dim`; null: 1.
Value Positions::stride(unsigned dim) {
  bool isOne = dim + 1 == type.getRank() && isLastContiguous(type);
  return isOne ? Value() : widen(b, data.getStrides()[dim]);
}

Value Positions::scale(Value index, Value stride) {
  Value wide = widen(b, index);
  return stride ? b.createOrFold<arith::MulIOp>(wide, stride) : wide;
}

Value Positions::advance(Value pointer, LLVM::GEPArg count) {
  return LLVM::GEPOp::create(b, pointer.getType(), type.getElementType(),
                             pointer, count);
}

void Positions::preparePointers() {
  for (int64_t row = 0, e = std::max<size_t>(1, rows.size()); row < e; ++row)
    rowPointer(row);
}

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
