//===- FragmentVectorizer.h - Scalar bodies on fragments -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Applies the scalar body of a linalg.generic to whole fragments. A value is
// kept at the smallest shape it depends on: a scalar, a row vector <R>, a
// column vector <1xC>, or a fragment <RxC>; shapes grow only where values meet.
// (Upstream's vectorizer broadcasts every operand first and keeps 64-bit
// indices, which turns a row's arithmetic into each element's.)
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_LINALGTOCTA_FRAGMENTVECTORIZER_H
#define FA_LIB_CONVERSION_LINALGTOCTA_FRAGMENTVECTORIZER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace fa {

/// The loops of a generic on fragments: rows, and columns where there are any.
struct FragmentDomain {
  int64_t rows = 0;       ///< of one team's fragment
  int64_t columns = 0;    ///< 0: the domain is one of rows alone
  mlir::Value rowBase;    ///< i32: index of the team's first row, or null: 0
  mlir::Value columnBase; ///< i32: index of the team's first column, or null
};

/// Emits the size of a whole tensor, or its one element at scalar positions.
/// `values` maps whole tensors to memrefs. Fails with a diagnostic where the
/// tensor is no argument of the kernel, or its elements have no form there.
mlir::LogicalResult emitDim(mlir::OpBuilder &builder, mlir::tensor::DimOp op,
                            mlir::IRMapping &values);
mlir::LogicalResult emitScalarExtract(mlir::OpBuilder &builder,
                                      mlir::tensor::ExtractOp op,
                                      mlir::IRMapping &values);

class FragmentVectorizer {
public:
  /// `outer` maps values from outside the body.
  FragmentVectorizer(mlir::OpBuilder &builder, const FragmentDomain &domain,
                     mlir::IRMapping &outer)
      : builder(builder), domain(domain), values(outer) {}

  /// Gives a value of the body its vector.
  void bind(mlir::Value scalar, mlir::Value vector) {
    values.map(scalar, vector);
  }
  /// Emits `op` of the body on vectors. Fails with a diagnostic for an op that
  /// is not elementwise.
  mlir::LogicalResult emit(mlir::Operation &op);
  /// The vector of `scalar`, grown to a row vector or to a fragment.
  mlir::Value get(mlir::Value scalar, bool isFragment);
  /// The vector (or scalar) of `scalar` at the shape it has.
  mlir::Value get(mlir::Value scalar) { return values.lookupOrDefault(scalar); }

private:
  /// The smallest shape that holds all of `operands`; empty for scalars.
  llvm::SmallVector<int64_t> joinShapes(mlir::ValueRange operands);
  mlir::Value grow(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                   mlir::Location loc);
  void emitIndex(mlir::linalg::IndexOp op);
  mlir::LogicalResult emitExtract(mlir::tensor::ExtractOp op);

  mlir::OpBuilder &builder;
  FragmentDomain domain;
  mlir::IRMapping values;
};

} // namespace fa

#endif // FA_LIB_CONVERSION_LINALGTOCTA_FRAGMENTVECTORIZER_H
