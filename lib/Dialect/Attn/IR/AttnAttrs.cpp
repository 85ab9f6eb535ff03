//===- AttnAttrs.cpp - Variants and schedules as attributes -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace fa::attn;

bool CausalAttr::hasMask() const { return true; }

Value CausalAttr::buildMask(OpBuilder &builder, Location loc, ValueRange bhij,
                            Value seqQ, Value seqKV) const {
  Value shift = arith::SubIOp::create(builder, loc, seqKV, seqQ);
  Value last = arith::AddIOp::create(builder, loc, bhij[2], shift);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, bhij[3],
                               last);
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   StringRef target, int64_t br, int64_t bc,
                                   int64_t teams, int64_t warps, int64_t stages,
                                   Partition partition) {
  if (br < 1 || bc < 1)
    return emitError() << "block sizes must be positive, found br = " << br
                       << ", bc = " << bc;
  if (teams < 1 || warps < 1 || stages < 1)
    return emitError() << "teams, warps and stages must be positive, found "
                       << teams << ", " << warps << " and " << stages;
  return success();
}
