//===- MaskLimits.h - Masks as limits of a row's columns --------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_LINALGTOCTA_MASKLIMITS_H
#define FA_LIB_CONVERSION_LINALGTOCTA_MASKLIMITS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace fa {

/// Turns each mask of `kernel` that is an "and" of bounds of the column into
/// one comparison a direction, with the tightest bound computed once a row.
void normalizeMasks(mlir::gpu::GPUFuncOp kernel);

} // namespace fa

#endif // FA_LIB_CONVERSION_LINALGTOCTA_MASKLIMITS_H
