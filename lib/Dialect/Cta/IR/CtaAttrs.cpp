//===- CtaAttrs.cpp - Attributes of the cta dialect -----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Cta/IR/Cta.h"

using namespace mlir;
using namespace fa::cta;

#include "fa/Dialect/Cta/IR/CtaEnums.cpp.inc"

LogicalResult OrderAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                WorkOrder kind, int64_t groupBytes) {
  if (groupBytes < 0)
    return emitError() << "expects group_bytes of at least 0, but found "
                       << groupBytes;
  return success();
}

LogicalResult ExtentAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t arg, int64_t dim, int64_t tile,
                                 int64_t plusArg, int64_t plusDim) {
  if (arg < 0 || dim < 0)
    return emitError() << "expects arg and dim of at least 0, but found " << arg
                       << " and " << dim;
  if (plusArg < kNone || plusDim < 0)
    return emitError()
           << "expects plusArg and plusDim of at least 0, but found " << plusArg
           << " and " << plusDim;
  if (tile < 1)
    return emitError() << "expects a tile of at least 1, but found " << tile;
  return success();
}
