//===- AttnDialect.h - The attention dialect: declarations -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_ATTN_IR_ATTNDIALECT_H
#define FA_DIALECT_ATTN_IR_ATTNDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h.inc"
#include "fa/Dialect/Attn/IR/AttnEnums.h.inc"

namespace fa::attn {
/// What a variant's expression may use: values inside a region.
struct VariantScope {
  mlir::Value batch, head, row, key; ///< indexes of the score
  mlir::Value seqQ, seqKV;           ///< lengths of the sequence, elements
  mlir::Value headsQ;                ///< how many heads of Q there are
};
} // namespace fa::attn

#include "fa/Dialect/Attn/IR/AttnAttrInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "fa/Dialect/Attn/IR/AttnAttrs.h.inc"

#define GET_OP_CLASSES
#include "fa/Dialect/Attn/IR/AttnOps.h.inc"

namespace fa::attn {
/// The discardable attribute of a function that holds its `#attn.schedule`.
inline constexpr llvm::StringLiteral kScheduleAttrName = "attn.schedule";
/// The discardable attribute of an scf.if whose condition is the disjunction of
/// a flag for each row of a tile, and whose regions give the same for a row
/// whose flag is false: any group of whole rows may branch for itself.
inline constexpr llvm::StringLiteral kAnyRowAttrName = "attn.any_row";
/// The discardable attribute of an scf.for over blocks of keys that are partly
/// hidden: a round in which no row sees a key leaves the state as it is.
inline constexpr llvm::StringLiteral kPartialAttrName = "attn.partial";

/// The discardable attribute of a parallel loop whose results depend on nothing
/// but the problem's sizes and what its mask reads: they hold for every launch
/// of which these are the same.
inline constexpr llvm::StringLiteral kPreparesAttrName = "attn.prepares";
} // namespace fa::attn

#endif // FA_DIALECT_ATTN_IR_ATTNDIALECT_H
