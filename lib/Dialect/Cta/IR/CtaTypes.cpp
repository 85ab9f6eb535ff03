//===- CtaTypes.cpp - Types of the cta dialect ----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Cta/IR/Cta.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace fa::cta;

/// Parses `rows x cols x type`, reporting an error where there are not two
/// dimensions.
static ParseResult parseMatrix(AsmParser &parser, int64_t &rows, int64_t &cols,
                               Type &elementType) {
  SmallVector<int64_t> shape;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false))
    return failure();
  if (shape.size() != 2)
    return parser.emitError(loc, "expects 2 dimensions, but found ")
           << shape.size();
  rows = shape[0];
  cols = shape[1];
  return parser.parseType(elementType);
}

//===----------------------------------------------------------------------===//
// TileType
//===----------------------------------------------------------------------===//

Type TileType::parse(AsmParser &parser) {
  int64_t rows, cols, swizzle = 0;
  Type elementType;
  if (parser.parseLess() || parseMatrix(parser, rows, cols, elementType))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("swizzle") || parser.parseEqual() ||
       parser.parseInteger(swizzle)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(parser.getContext(), rows, cols,
                                     elementType, swizzle);
}

void TileType::print(AsmPrinter &printer) const {
  printer << '<' << getRows() << 'x' << getCols() << 'x' << getElementType();
  if (getSwizzle())
    printer << ", swizzle = " << getSwizzle();
  printer << '>';
}

/// The bytes that a swizzle permutes as one.
static constexpr int64_t kChunkBytes = 16;

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t rows, int64_t cols, Type elementType,
                               int64_t swizzle) {
  if (!elementType.isIntOrFloat() || elementType.getIntOrFloatBitWidth() < 8)
    return emitError() << "expects elements of at least 8 bits, but found "
                       << elementType;
  if (rows < 1 || cols < 1)
    return emitError() << "expects at least one row and column, but found "
                       << rows << "x" << cols;
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "expects a swizzle of 0, 32, 64 or 128 bytes, but "
                          "found "
                       << swizzle;
  // No block has as much shared memory; it keeps sizes free of overflow.
  constexpr int64_t kMaxElements = 1 << 24;
  if (rows > kMaxElements / cols)
    return emitError() << "expects at most " << kMaxElements
                       << " elements, but found " << rows << "x" << cols;
  int64_t rowBytes = cols * elementType.getIntOrFloatBitWidth() / 8;
  if (swizzle && rowBytes % kChunkBytes)
    return emitError() << "expects swizzled rows of a multiple of "
                       << kChunkBytes << " bytes, but found " << rowBytes;
  return success();
}

//===----------------------------------------------------------------------===//
// RingType
//===----------------------------------------------------------------------===//

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t stages, TileType tile) {
  if (stages < 1)
    return emitError() << "expects at least one stage, but found " << stages;
  return success();
}

//===----------------------------------------------------------------------===//
// FlightType
//===----------------------------------------------------------------------===//

Type FlightType::parse(AsmParser &parser) {
  int64_t rows, cols;
  Type elementType;
  if (parser.parseLess() || parseMatrix(parser, rows, cols, elementType) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<FlightType>(parser.getContext(), rows, cols,
                                       elementType);
}

void FlightType::print(AsmPrinter &printer) const {
  printer << '<' << getRows() << 'x' << getCols() << 'x' << getElementType()
          << '>';
}

LogicalResult FlightType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t rows, int64_t cols, Type elementType) {
  if (!elementType.isF32())
    return emitError() << "expects a product in f32, but found " << elementType;
  if (rows < 1 || cols < 1)
    return emitError() << "expects at least one row and column, but found "
                       << rows << "x" << cols;
  return success();
}

//===----------------------------------------------------------------------===//
// BarrierType
//===----------------------------------------------------------------------===//

/// Hardware has 16 named barriers; number 0 is the whole block's.
static constexpr int64_t kMaxBarriers = 15;

LogicalResult BarrierType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t count) {
  if (count < 1 || count > kMaxBarriers)
    return emitError() << "expects 1 to " << kMaxBarriers
                       << " barriers, but found " << count;
  return success();
}
