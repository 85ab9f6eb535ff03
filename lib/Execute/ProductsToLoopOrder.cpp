//===- ProductsToLoopOrder.cpp - Products for LLVM's vectoriser -----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPUPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

/// The loops of one product: rows and columns of the result, and the dimension
/// that is summed.
namespace {
struct ProductLoops {
  unsigned row, column, sum;
};
} // namespace

/// The loops of `op` where it is one product of two matrices into f32.
static std::optional<ProductLoops> matchProduct(linalg::LinalgOp op) {
  if (!linalg::isaContractionOpInterface(op) || op.getNumLoops() != 3 ||
      !op.hasPureTensorSemantics())
    return std::nullopt;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims) || dims->m.size() != 1 || dims->n.size() != 1 ||
      dims->k.size() != 1 || !type.getElementType().isF32())
    return std::nullopt;
  return ProductLoops{dims->m[0], dims->n[0], dims->k[0]};
}

/// Copies `operand`, whose dimensions are the loops that `map` says, into an
/// f32 tensor whose dimensions are the loops (`outer`, `inner`).
static Value copyOperand(OpBuilder &builder, Location loc, Value operand,
                         AffineMap map, unsigned outer, unsigned inner) {
  auto type = cast<RankedTensorType>(operand.getType());
  bool isTransposed = map.getDimPosition(0) != outer;
  if (!isTransposed && type.getElementType().isF32())
    return operand;
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, operand);
  if (isTransposed)
    std::swap(sizes[0], sizes[1]);
  Type f32 = builder.getF32Type();
  Value target = tensor::EmptyOp::create(builder, loc, sizes, f32);
  AffineMap identity = builder.getMultiDimIdentityMap(2);
  AffineMap read = identity;
  if (isTransposed)
    read = AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0},
                                        builder.getContext());
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      builder, loc, target.getType(), operand, target,
      ArrayRef<AffineMap>{read, identity}, iterators,
      [&](OpBuilder &body, Location loc, ValueRange elements) {
        Value element = elements[0];
        if (!element.getType().isF32())
          element = arith::ExtFOp::create(body, loc, f32, element);
        linalg::YieldOp::create(body, loc, element);
      });
  return copy.getResult(0);
}

/// Replaces `op` by copies of its operands and a product in the order rows,
/// sum, columns.
static void rewriteProduct(IRRewriter &rewriter, linalg::LinalgOp op,
                           ProductLoops loops) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  // 1. The operand that has the result's rows, and the one that has its
  // columns.
  bool isSwapped = !maps[0].isFunctionOfDim(loops.row);
  unsigned left = isSwapped ? 1 : 0, right = isSwapped ? 0 : 1;
  Value lhs = copyOperand(rewriter, loc, op->getOperand(left), maps[left],
                          loops.row, loops.sum);
  Value rhs = copyOperand(rewriter, loc, op->getOperand(right), maps[right],
                          loops.sum, loops.column);

  // 2. The product in the new order of loops.
  AffineExpr row, sum, column;
  bindDims(rewriter.getContext(), row, sum, column);
  auto inOrder = [&](AffineExpr first, AffineExpr second) {
    return AffineMap::get(3, 0, {first, second}, rewriter.getContext());
  };
  bool isResultTransposed = maps[2].getDimPosition(0) != loops.row;
  AffineMap result =
      isResultTransposed ? inOrder(column, row) : inOrder(row, column);
  SmallVector<utils::IteratorType> iterators = {utils::IteratorType::parallel,
                                                utils::IteratorType::reduction,
                                                utils::IteratorType::parallel};
  Value target = op.getDpsInits()[0];
  auto product = linalg::GenericOp::create(
      rewriter, loc, target.getType(), ValueRange{lhs, rhs}, target,
      ArrayRef<AffineMap>{inOrder(row, sum), inOrder(sum, column), result},
      iterators, [&](OpBuilder &body, Location loc, ValueRange elements) {
        // One fused multiply-add where the machine has it.
        auto fused = arith::FastMathFlags::contract;
        Value part =
            arith::MulFOp::create(body, loc, elements[0], elements[1], fused);
        Value total =
            arith::AddFOp::create(body, loc, elements[2], part, fused);
        linalg::YieldOp::create(body, loc, total);
      });
  rewriter.replaceOp(op, product);
}

namespace {
struct ProductsToLoopOrder
    : public PassWrapper<ProductsToLoopOrder, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ProductsToLoopOrder)

  StringRef getArgument() const override { return "products-to-loop-order"; }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<std::pair<linalg::LinalgOp, ProductLoops>> products;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (std::optional<ProductLoops> loops = matchProduct(op))
        products.push_back({op, *loops});
    });
    for (auto [op, loops] : products)
      rewriteProduct(rewriter, op, loops);
  }
};
} // namespace

std::unique_ptr<Pass> fa::execute::createProductsToLoopOrder() {
  return std::make_unique<ProductsToLoopOrder>();
}
