//===- AttnDialect.cpp - The attention dialect: registration -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fa::attn;

#include "fa/Dialect/Attn/IR/AttnDialect.cpp.inc"
#include "fa/Dialect/Attn/IR/AttnEnums.cpp.inc"

#include "fa/Dialect/Attn/IR/AttnAttrInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fa/Dialect/Attn/IR/AttnAttrs.cpp.inc"

void AttnDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "fa/Dialect/Attn/IR/AttnOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fa/Dialect/Attn/IR/AttnAttrs.cpp.inc"
      >();
}

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  if (attr.getName() == kAnyRowAttrName) {
    if (!isa<scf::IfOp>(op) || !isa<UnitAttr>(attr.getValue()))
      return op->emitOpError("'attn.any_row' is a unit attribute of scf.if");
    return success();
  }
  if (attr.getName() == kPartialAttrName) {
    if (!isa<scf::ForOp>(op) || !isa<UnitAttr>(attr.getValue()))
      return op->emitOpError("'attn.partial' is a unit attribute of scf.for");
    return success();
  }
  if (attr.getName() == kPreparesAttrName) {
    if (!isa<scf::ForallOp>(op) || !isa<UnitAttr>(attr.getValue()))
      return op->emitOpError("'attn.prepares' is a unit attribute of "
                             "scf.forall");
    return success();
  }
  if (attr.getName() != kScheduleAttrName)
    return op->emitOpError("has no attribute '")
           << attr.getName().getValue() << "' in the attn dialect";
  if (!isa<FunctionOpInterface, scf::ForallOp>(op))
    return op->emitOpError("'attn.schedule' belongs on a function, or on a "
                           "parallel loop that becomes one");
  if (!isa<ScheduleAttr>(attr.getValue()))
    return op->emitOpError("'attn.schedule' must be an #attn.schedule, found ")
           << attr.getValue();
  return success();
}
