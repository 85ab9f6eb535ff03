//===- NextItem.h - Loading ahead of an item's end --------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_CTA_TRANSFORMS_NEXTITEM_H
#define FA_LIB_DIALECT_CTA_TRANSFORMS_NEXTITEM_H

#include "fa/Dialect/Cta/IR/Cta.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace fa {

/// Gives rings that are filled once an item a second stage, as far as
/// `sharedBytes` go, so that the next item's tile is there when this one ends.
/// Returns how many.
int64_t stageNextItem(mlir::gpu::GPUFuncOp func, int64_t sharedBytes);

/// Loads the first tile of `work`'s first loop before what is loaded once an
/// item into rings of one stage, which the item before holds until its last
/// block: the loop's ring has a stage free by then. Returns whether `work` has
/// both.
bool putFirstTileFirst(cta::WorkOp work);

} // namespace fa

#endif // FA_LIB_DIALECT_CTA_TRANSFORMS_NEXTITEM_H
