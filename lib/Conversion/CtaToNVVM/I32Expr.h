//===- I32Expr.h - Arithmetic written as such -------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unsigned i32 arithmetic whose operators build IR, for formulas that are also
// computed on numbers (fa/Schedule/BalancedOrder.h).
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_CTATONVVM_I32EXPR_H
#define FA_LIB_CONVERSION_CTATONVVM_I32EXPR_H

#include "Builders.h"

namespace fa {

/// An i1 that stands where `b` is.
struct BoolExpr {
  mlir::ImplicitLocOpBuilder *b;
  mlir::Value value;
};

/// An i32 that stands where `b` is.
struct I32Expr {
  mlir::ImplicitLocOpBuilder *b;
  mlir::Value value;

  I32Expr constant(int64_t number) const {
    return {b, I32Builder{*b}.constant(number)};
  }
};

template <typename Op> I32Expr build(I32Expr x, I32Expr y) {
  return {x.b, x.b->createOrFold<Op>(x.value, y.value)};
}

inline I32Expr operator+(I32Expr x, I32Expr y) {
  return build<mlir::arith::AddIOp>(x, y);
}
inline I32Expr operator-(I32Expr x, I32Expr y) {
  return build<mlir::arith::SubIOp>(x, y);
}
inline I32Expr operator*(I32Expr x, I32Expr y) {
  return build<mlir::arith::MulIOp>(x, y);
}
inline I32Expr operator/(I32Expr x, I32Expr y) {
  return build<mlir::arith::DivUIOp>(x, y);
}
inline I32Expr operator%(I32Expr x, I32Expr y) {
  return build<mlir::arith::RemUIOp>(x, y);
}
inline I32Expr operator+(I32Expr x, int64_t y) { return x + x.constant(y); }
inline I32Expr operator-(I32Expr x, int64_t y) { return x - x.constant(y); }
inline I32Expr operator*(I32Expr x, int64_t y) { return x * x.constant(y); }
inline I32Expr operator/(I32Expr x, int64_t y) { return x / x.constant(y); }
inline I32Expr operator%(I32Expr x, int64_t y) { return x % x.constant(y); }

inline BoolExpr operator<(I32Expr x, I32Expr y) {
  return {x.b, x.b->createOrFold<mlir::arith::CmpIOp>(
                   mlir::arith::CmpIPredicate::ult, x.value, y.value)};
}
inline BoolExpr operator<(I32Expr x, int64_t y) { return x < x.constant(y); }

inline I32Expr maximum(I32Expr x, I32Expr y) {
  return build<mlir::arith::MaxUIOp>(x, y);
}
inline I32Expr maximum(I32Expr x, int64_t y) {
  return maximum(x, x.constant(y));
}
inline I32Expr select(BoolExpr condition, I32Expr yes, I32Expr no) {
  return {yes.b, yes.b->createOrFold<mlir::arith::SelectOp>(
                     condition.value, yes.value, no.value)};
}
inline BoolExpr select(BoolExpr condition, BoolExpr yes, BoolExpr no) {
  return {yes.b, yes.b->createOrFold<mlir::arith::SelectOp>(
                     condition.value, yes.value, no.value)};
}
inline I32Expr select(BoolExpr condition, int64_t yes, int64_t no) {
  I32Builder i{*condition.b};
  return select(condition, I32Expr{condition.b, i.constant(yes)},
                I32Expr{condition.b, i.constant(no)});
}

} // namespace fa

#endif // FA_LIB_CONVERSION_CTATONVVM_I32EXPR_H
