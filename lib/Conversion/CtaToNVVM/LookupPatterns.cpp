//===- LookupPatterns.cpp - Elements of captured tensors ------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads and stores of single elements. A load: each thread those of its part of
// the fragment, by the path for memory that nobody writes (ld.global.nc), two
// neighbours at a time where they are aligned (Positions.h).
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Positions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fa;

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
    int64_t count =
        layout.blocks() * (layout.kind == FragmentKind::Column
                               ? Positions::kPair
                               : layout.slabs() * 2 * Positions::kPair);
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
