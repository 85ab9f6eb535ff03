//===- Multiples.h - What an index is a multiple of -------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_CTA_IR_MULTIPLES_H
#define FA_DIALECT_CTA_IR_MULTIPLES_H

#include "mlir/IR/Value.h"

namespace fa::cta {

/// Whether `value` is seen to be a multiple of `factor`: a constant, sums and
/// products of such, or the counter of a loop that starts and steps so.
bool isMultipleOf(mlir::Value value, int64_t factor);

} // namespace fa::cta

#endif // FA_DIALECT_CTA_IR_MULTIPLES_H
