//===- GlobalMatrix.cpp - Matrices in global memory -----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalMatrix.h"
#include "Builders.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace fa;

static Value toI64(ImplicitLocOpBuilder &b, Value index) {
  return b.createOrFold<arith::IndexCastOp>(b.getI64Type(), index);
}

Value fa::advance(ImplicitLocOpBuilder &b, Value pointer, Value count,
                  Type elementType) {
  return LLVM::GEPOp::create(b, pointer.getType(), elementType, pointer,
                             ArrayRef<LLVM::GEPArg>{count});
}
Value fa::advance(ImplicitLocOpBuilder &b, Value pointer, int64_t count,
                  Type elementType) {
  if (!count)
    return pointer;
  return LLVM::GEPOp::create(
      b, pointer.getType(), elementType, pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(count)});
}

GlobalMatrix fa::viewMatrix(ImplicitLocOpBuilder &b, Value memref,
                            ValueRange indices, int64_t rowDim) {
  auto type = cast<MemRefType>(memref.getType());
  auto data = memref::ExtractStridedMetadataOp::create(b, memref);
  // Everything but the row is the same in all iterations of a loop over rows.
  Value offset = data.getOffset();
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (static_cast<int64_t>(dim) == rowDim)
      continue;
    Value part = b.createOrFold<arith::MulIOp>(index, data.getStrides()[dim]);
    offset = b.createOrFold<arith::AddIOp>(offset, part);
  }
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, memref);
  Value pointer = LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), 1), toI64(b, base));
  I32Builder i{b};
  return {advance(b, pointer, toI64(b, offset), type.getElementType()),
          i.fromIndex(data.getStrides()[rowDim]), i.fromIndex(indices[rowDim]),
          i.fromIndex(data.getSizes()[rowDim]), type.getElementType()};
}

/// One wide multiply, written in PTX, since LLVM makes three narrow ones of it
/// where an operand was widened in another block.
Value fa::moveRows(ImplicitLocOpBuilder &b, const GlobalMatrix &matrix,
                   Value pointer, Value rows) {
  Value offset =
      LLVM::InlineAsmOp::create(
          b, b.getI64Type(), ValueRange{rows, matrix.rowStride},
          "mul.wide.s32 $0, $1, $2;", "=l,r,r", /*has_side_effects=*/false,
          /*is_align_stack=*/false, LLVM::TailCallKind::None,
          LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  return advance(b, pointer, offset, matrix.elementType);
}

bool fa::hasContiguousRows(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         !strides.empty() && strides.back() == 1;
}
