//===- VariantRegions.h - Score and mask regions on scores -*- C++ -*-----===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_ATTNTOLINALG_VARIANTREGIONS_H
#define FA_LIB_CONVERSION_ATTNTOLINALG_VARIANTREGIONS_H

#include "GenericBuilder.h"

namespace fa {

/// What `region` yields for `args`.
mlir::Value inlineRegion(mlir::OpBuilder &builder, mlir::Region &region,
                         mlir::ValueRange args);

/// The matrix `scores`, in place: times `scale`, where it is given, then what
/// the score region makes of it and -inf where the mask region hides the key;
/// empty regions change nothing. `origin` is the (b, h, i, j) of the first
/// element.
mlir::Value applyVariant(GenericBuilder &b, mlir::Value scores,
                         mlir::Value scale, mlir::Region &score,
                         mlir::Region &mask, mlir::ValueRange origin);

} // namespace fa

#endif // FA_LIB_CONVERSION_ATTNTOLINALG_VARIANTREGIONS_H
