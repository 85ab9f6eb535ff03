//===- SharedMemory.h - What ops take of shared memory ----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_CTA_IR_SHAREDMEMORY_H
#define FA_DIALECT_CTA_IR_SHAREDMEMORY_H

#include "fa/Dialect/Cta/IR/Cta.h"

namespace fa::cta {

/// Where a tile may begin: eight rows of the 128-byte swizzle.
inline constexpr int64_t kTileAlignment = 1024;

/// The bytes of a thread block's shared memory that `op`, a ring, a load or a
/// combine, names for all teams of its role; 0 for other ops.
int64_t getSharedBytes(mlir::Operation *op);

} // namespace fa::cta

#endif // FA_DIALECT_CTA_IR_SHAREDMEMORY_H
