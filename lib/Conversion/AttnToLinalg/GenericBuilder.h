//===- GenericBuilder.h - Short spellings of linalg.generic -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_ATTNTOLINALG_GENERICBUILDER_H
#define FA_LIB_CONVERSION_ATTNTOLINALG_GENERICBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace fa {

/// log2(e), so that exp(x) = exp2(x log2(e)).
inline constexpr double kLog2E = 1.44269504088896340736;
/// ln(2), so that log(x) = log2(x) ln(2).
inline constexpr double kLn2 = 0.69314718055994530942;

/// Builds the elementwise and row-reducing generics of the online softmax. A
/// tensor of the full rank is read at (rows..., column), one of a rank less at
/// (rows...).
class GenericBuilder {
public:
  /// The operands of a scalar body, inputs first.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      GenericBuilder &, mlir::ValueRange)>;

  GenericBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// A generic over `rank` dimensions, the last a reduction where
  /// `reducesColumns`. Returns its results.
  llvm::SmallVector<mlir::Value> generic(mlir::ValueRange inputs,
                                         mlir::ValueRange outputs, int64_t rank,
                                         bool reducesColumns, Body body) {
    llvm::SmallVector<mlir::AffineMap> maps;
    for (mlir::ValueRange operands : {inputs, outputs})
      for (mlir::Value operand : operands) {
        auto type = llvm::cast<mlir::RankedTensorType>(operand.getType());
        maps.push_back(identity(rank).getMajorSubMap(type.getRank()));
      }
    llvm::SmallVector<mlir::utils::IteratorType> iterators(
        rank, mlir::utils::IteratorType::parallel);
    if (reducesColumns)
      iterators.back() = mlir::utils::IteratorType::reduction;
    return generic(inputs, outputs, maps, iterators, body);
  }

  /// A generic with these maps, inputs first, and iterators.
  llvm::SmallVector<mlir::Value>
  generic(mlir::ValueRange inputs, mlir::ValueRange outputs,
          llvm::ArrayRef<mlir::AffineMap> maps,
          llvm::ArrayRef<mlir::utils::IteratorType> iterators, Body body) {
    auto op = mlir::linalg::GenericOp::create(
        builder, loc, mlir::TypeRange(outputs), inputs, outputs, maps,
        iterators,
        [&](mlir::OpBuilder &nested, mlir::Location, mlir::ValueRange args) {
          GenericBuilder inner(nested, loc);
          mlir::linalg::YieldOp::create(nested, loc, body(inner, args));
        });
    return llvm::SmallVector<mlir::Value>(op->getResults());
  }

  mlir::AffineMap identity(int64_t rank) {
    return builder.getMultiDimIdentityMap(rank);
  }

  /// An uninitialised tensor like `value`, of another element type if given.
  mlir::Value emptyLike(mlir::Value value, mlir::Type element = {}) {
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    return mlir::tensor::EmptyOp::create(
        builder, loc, mlir::tensor::getMixedSizes(builder, loc, value),
        element ? element : type.getElementType());
  }
  mlir::Value fill(mlir::Value value, mlir::Value tensor) {
    return mlir::linalg::FillOp::create(builder, loc, value, tensor)
        .getResult(0);
  }
  mlir::Value f32(double value) {
    return mlir::arith::ConstantOp::create(builder, loc,
                                           builder.getF32FloatAttr(value));
  }
  mlir::Value negativeInfinity() {
    return f32(-std::numeric_limits<double>::infinity());
  }
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::MulFOp::create(builder, loc, lhs, rhs);
  }
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::AddFOp::create(builder, loc, lhs, rhs);
  }
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::SubFOp::create(builder, loc, lhs, rhs);
  }
  /// lhs * rhs + summand with one rounding.
  mlir::Value mulAdd(mlir::Value lhs, mlir::Value rhs, mlir::Value summand) {
    return mlir::math::FmaOp::create(builder, loc, lhs, rhs, summand);
  }
  /// lhs * rhs - subtrahend with one rounding.
  mlir::Value mulSub(mlir::Value lhs, mlir::Value rhs, mlir::Value subtrahend) {
    mlir::Value negated = mlir::arith::NegFOp::create(builder, loc, subtrahend);
    return mlir::math::FmaOp::create(builder, loc, lhs, rhs, negated);
  }
  mlir::Value abs(mlir::Value value) {
    return mlir::math::AbsFOp::create(builder, loc, value);
  }
  mlir::Value max(mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::MaxNumFOp::create(builder, loc, lhs, rhs);
  }
  mlir::Value min(mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::MinNumFOp::create(builder, loc, lhs, rhs);
  }
  /// Comparisons, all false where an operand is NaN.
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value lhs,
                      mlir::Value rhs) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, lhs, rhs);
  }
  mlir::Value equal(mlir::Value lhs, mlir::Value rhs) {
    return compare(mlir::arith::CmpFPredicate::OEQ, lhs, rhs);
  }
  mlir::Value greater(mlir::Value lhs, mlir::Value rhs) {
    return compare(mlir::arith::CmpFPredicate::OGT, lhs, rhs);
  }
  mlir::Value less(mlir::Value lhs, mlir::Value rhs) {
    return compare(mlir::arith::CmpFPredicate::OLT, lhs, rhs);
  }
  mlir::Value atMost(mlir::Value lhs, mlir::Value rhs) {
    return compare(mlir::arith::CmpFPredicate::OLE, lhs, rhs);
  }
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return mlir::arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  /// 2^value, to the accuracy of the GPU's instruction where it has one.
  mlir::Value exp2(mlir::Value value) {
    return mlir::math::Exp2Op::create(builder, loc, value,
                                      mlir::arith::FastMathFlags::afn);
  }
  mlir::Value log2(mlir::Value value) {
    return mlir::math::Log2Op::create(builder, loc, value,
                                      mlir::arith::FastMathFlags::afn);
  }
  mlir::Value narrow(mlir::Value value, mlir::Type type) {
    if (value.getType() == type)
      return value;
    return mlir::arith::TruncFOp::create(builder, loc, type, value);
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace fa

#endif // FA_LIB_CONVERSION_ATTNTOLINALG_GENERICBUILDER_H
