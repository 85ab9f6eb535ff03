//===- Cta.h - The cta dialect ----------------------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the dialect that says what one thread block does, in whole tiles.
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_CTA_IR_CTA_H
#define FA_DIALECT_CTA_IR_CTA_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "fa/Dialect/Cta/IR/CtaDialect.h.inc"
#include "fa/Dialect/Cta/IR/CtaEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "fa/Dialect/Cta/IR/CtaAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "fa/Dialect/Cta/IR/CtaTypes.h.inc"

#define GET_OP_CLASSES
#include "fa/Dialect/Cta/IR/CtaOps.h.inc"

namespace fa::cta {

/// Discardable attributes on the kernel's `gpu.func`.
constexpr llvm::StringLiteral kExtentsAttr = "cta.extents";
constexpr llvm::StringLiteral kSharedBytesAttr = "cta.shared_bytes";
constexpr llvm::StringLiteral kMinCtasAttr = "cta.min_ctas";
constexpr llvm::StringLiteral kCounterAttr = "cta.counter";
constexpr llvm::StringLiteral kTensorMapsAttr = "cta.tensor_maps";
/// The stages of rings, on the kernel or on one load.
constexpr llvm::StringLiteral kStagesAttr = "cta.stages";

/// The discardable attribute of an scf.for over blocks of keys: a round in
/// which no row sees a key leaves what the loop carries as it is.
constexpr llvm::StringLiteral kPartialAttr = "cta.partial";

/// Whether an order says at once which items a block gets.
inline bool hasShares(WorkOrder order) {
  return order == WorkOrder::Balanced || order == WorkOrder::Paired ||
         order == WorkOrder::Mirrored;
}

/// Whether the tiles that are loaded from a memref may reach beyond its
/// columns, of which only the launch knows how many there are.
inline bool padsColumns(mlir::Type memref) {
  auto type = mlir::cast<mlir::ShapedType>(memref);
  return type.isDynamicDim(type.getRank() - 1);
}

/// What the work items of a group (`#cta.order`) may read again and again: as
/// much as stays in the second-level cache of an H100 beside what else passes
/// through. Measured on an H200 with a persistent kernel at D 128, causal: 527,
/// 742 and 802 TFLOP/s at S 1024, 4096 and 16384; 494, 692 and 749 without an
/// order.
constexpr int64_t kGroupBytes = 32 << 20;

} // namespace fa::cta

#endif // FA_DIALECT_CTA_IR_CTA_H
