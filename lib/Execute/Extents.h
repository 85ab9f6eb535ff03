//===- Extents.h - What the sizes of arguments are -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_EXECUTE_EXTENTS_H
#define FA_LIB_EXECUTE_EXTENTS_H

#include "fa/Execute/Binding.h"

#include <algorithm>

namespace fa::execute {

/// What is known of the size of one dimension of an argument.
struct Extent {
  /// It is, or is at least, `more` and the largest of these.
  llvm::SmallVector<Dim> dims;
  int64_t more = 0;
  /// It is at least this.
  int64_t least = 0;
  /// Whether something reads it at an index that says nothing.
  bool isUnknown = false;

  bool isKnown() const { return !isUnknown && (!dims.empty() || least > 0); }
  int64_t getSize(const Sizes &sizes) const {
    int64_t size = least;
    for (Dim dim : dims)
      size = std::max(size, sizes[dim] + more);
    return size;
  }
};

/// What the dimensions of `argument` are: from its place in attn.forward, or
/// from the indexes with which the score or mask region reads it.
llvm::SmallVector<Extent> inferExtents(attn::ForwardOp forward,
                                       mlir::BlockArgument argument);

} // namespace fa::execute

#endif // FA_LIB_EXECUTE_EXTENTS_H
