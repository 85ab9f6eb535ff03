//===- FetchPatterns.cpp - Global memory to fragments ---------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The counterpart of stores straight from registers: each thread reads what it
// holds, pairs of columns or a row's one element.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "GlobalMatrix.h"
#include "Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fa;

namespace {
struct ConvertFetch : OpConversionPattern<cta::FetchOp> {
  ConvertFetch(const FragmentTypeConverter &converter, MLIRContext *context,
               const Kernel &kernel)
      : OpConversionPattern(converter, context), converter(converter),
        kernel(kernel) {}

  LogicalResult
  matchAndRewrite(cta::FetchOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<VectorType>(op.getValue().getType());
    std::optional<FragmentLayout> layout = converter.getLayout(type);
    auto memref = cast<MemRefType>(op.getSource().getType());
    if (!layout || layout->kind == FragmentKind::Column)
      return rewriter.notifyMatchFailure(op, "not a fragment or row vector");
    bool isMatrix = layout->kind == FragmentKind::Matrix;
    if (isMatrix && !hasContiguousRows(memref))
      return rewriter.notifyMatchFailure(op, "rows are not contiguous");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    GlobalMatrix global = viewMatrix(b, op.getSource(), op.getIndices(),
                                     memref.getRank() - type.getRank());
    if (op.getRowEnd())
      global.rows = I32Builder{b}.fromIndex(op.getRowEnd());
    // One lane of a quad stores a row vector's element, and all four read it.
    if (!isMatrix)
      NVVM::SyncWarpOp::create(b, I32Builder{b}.constant(0xffffffff));
    rewriter.replaceOp(
        op, fromElements(b, converter.convertType(type),
                         fetchRows(b, global, *layout, op.getPad())));
    return success();
  }

private:
  /// The thread's elements, in the order of the layout.
  SmallVector<Value> fetchRows(ImplicitLocOpBuilder &b,
                               const GlobalMatrix &global,
                               const FragmentLayout &layout,
                               const APFloat &pad) const {
    I32Builder i{b};
    bool isMatrix = layout.kind == FragmentKind::Matrix;
    Value first = i.add(i.add(global.firstRow, i.mul(kernel.warp, kSlabRows)),
                        i.shr(kernel.lane, llvm::Log2_64(kQuad)));
    Value pointer = moveRows(b, global, global.pointer, first);
    if (isMatrix) {
      Value column = i.mul(i.bitAnd(kernel.lane, kQuad - 1), 2);
      pointer =
          advance(b, pointer, arith::ExtUIOp::create(b, b.getI64Type(), column),
                  global.elementType);
    }
    int64_t perRow = isMatrix ? layout.blocks() : 1;
    SmallVector<Value> elements(2 * layout.slabs() *
                                (isMatrix ? 2 * perRow : 1));
    for (int64_t s = 0; s < layout.slabs(); ++s)
      for (int64_t half = 0; half < 2; ++half) {
        int64_t offset = layout.rowOffset(s, 2 * half);
        Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                             i.add(first, offset), global.rows);
        Value row = moveRows(b, global, pointer, i.constant(offset));
        SmallVector<Value> pieces =
            fetchRow(b, inside, row, perRow, isMatrix, global.elementType, pad);
        for (auto [n, piece] : llvm::enumerate(pieces)) {
          if (!isMatrix) {
            elements[2 * s + half] = piece;
            continue;
          }
          SmallVector<Value> pair = toElements(b, piece);
          llvm::copy(pair, elements.begin() + layout.index(s, n, 2 * half));
        }
      }
    return elements;
  }

  /// The pairs of one row, or its one element, each `pad` where the row is not
  /// there.
  static SmallVector<Value> fetchRow(ImplicitLocOpBuilder &b, Value inside,
                                     Value row, int64_t count, bool isMatrix,
                                     Type element, const APFloat &pad) {
    Type piece = isMatrix ? Type(VectorType::get(2, element)) : element;
    APFloat value = pad;
    bool losesInfo;
    value.convert(cast<FloatType>(element).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &losesInfo);
    TypedAttr neutral = FloatAttr::get(element, value);
    if (isMatrix)
      neutral = DenseElementsAttr::get(cast<VectorType>(piece), neutral);
    auto branch = scf::IfOp::create(b, SmallVector<Type>(count, piece), inside,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    auto inner =
        ImplicitLocOpBuilder::atBlockEnd(b.getLoc(), branch.thenBlock());
    SmallVector<Value> loaded;
    for (int64_t n = 0; n < count; ++n)
      loaded.push_back(LLVM::LoadOp::create(
          inner, piece,
          advance(inner, row, FragmentLayout::colOffset(n, 0), element)));
    scf::YieldOp::create(inner, loaded);
    auto other =
        ImplicitLocOpBuilder::atBlockEnd(b.getLoc(), branch.elseBlock());
    Value absent = arith::ConstantOp::create(other, neutral);
    scf::YieldOp::create(other, SmallVector<Value>(count, absent));
    return SmallVector<Value>(branch.getResults());
  }

  const FragmentTypeConverter &converter;
  const Kernel &kernel;
};
} // namespace

void fa::populateFetchPatterns(const FragmentTypeConverter &converter,
                               const Kernel &kernel,
                               RewritePatternSet &patterns) {
  patterns.add<ConvertFetch>(converter, patterns.getContext(), kernel);
}
