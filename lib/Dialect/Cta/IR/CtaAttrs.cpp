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

/// Parses a keyword of the enum that `symbolize` reads.
template <typename Enum>
static FailureOr<Enum> parseEnum(AsmParser &parser,
                                 std::optional<Enum> symbolize(StringRef),
                                 const char *expected) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  if (std::optional<Enum> value = symbolize(keyword))
    return *value;
  return parser.emitError(loc, "expected ")
         << expected << ", found '" << keyword << "'";
}

Attribute OrderAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<WorkOrder> kind = parseEnum(
      parser, symbolizeWorkOrder, "natural, lpt, balanced, paired or mirrored");
  if (failed(kind))
    return {};
  int64_t groupBytes = 0;
  Persistence persistence = Persistence::None;
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("persistent"))) {
      FailureOr<Persistence> found = failure();
      if (parser.parseEqual() ||
          failed(found = parseEnum(parser, symbolizePersistence,
                                   "none, static or dynamic")))
        return {};
      persistence = *found;
    } else if (parser.parseKeyword("group_bytes") || parser.parseEqual() ||
               parser.parseInteger(groupBytes)) {
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<OrderAttr>(parser.getContext(), *kind, groupBytes,
                                      persistence);
}

void OrderAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyWorkOrder(getKind());
  if (getGroupBytes())
    printer << ", group_bytes = " << getGroupBytes();
  if (getPersistence() != Persistence::None)
    printer << ", persistent = " << stringifyPersistence(getPersistence());
  printer << '>';
}

LogicalResult OrderAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                WorkOrder kind, int64_t groupBytes,
                                Persistence persistence) {
  if (groupBytes < 0)
    return emitError() << "expects group_bytes of at least 0, but found "
                       << groupBytes;
  if (hasShares(kind) && (persistence != Persistence::Static || groupBytes))
    return emitError() << "expects a " << stringifyWorkOrder(kind)
                       << " order to be persistent = static without "
                          "group_bytes";
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

/// The most rows that a tensor map's box can have.
static constexpr int64_t kMaxBoxRows = 256;

LogicalResult
TensorMapAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t arg,
                      int64_t rows, int64_t cols, int64_t swizzle) {
  if (arg < 0)
    return emitError() << "expects arg of at least 0, but found " << arg;
  if (rows < 1 || rows > kMaxBoxRows || cols < 1)
    return emitError() << "expects 1 to " << kMaxBoxRows
                       << " rows and at least one column, but found " << rows
                       << "x" << cols;
  if (swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "expects a swizzle of 32, 64 or 128 bytes, but found "
                       << swizzle;
  return success();
}
