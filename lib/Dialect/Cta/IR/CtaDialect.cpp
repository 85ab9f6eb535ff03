//===- CtaDialect.cpp - The cta dialect -----------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Cta/IR/Cta.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fa::cta;

#include "fa/Dialect/Cta/IR/CtaDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fa/Dialect/Cta/IR/CtaAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "fa/Dialect/Cta/IR/CtaTypes.cpp.inc"

void CtaDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fa/Dialect/Cta/IR/CtaAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "fa/Dialect/Cta/IR/CtaTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fa/Dialect/Cta/IR/CtaOps.cpp.inc"
      >();
}
