//===- CostTable.cpp - How long things take in the simulator -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Simulator/CostTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;
using namespace fa::sim;

CostTable CostTable::get(const Target &target) {
  CostTable table;
  if (target.computeMajor >= 9) {
    table.productsPerCycle = 2048;
    table.specialFunctionFactor = 8;
  }
  return table;
}

/// The elements of the largest vector that `op` reads or writes; 0 without one.
static int64_t getWork(Operation *op) {
  int64_t most = 0;
  auto visit = [&](Type type) {
    if (auto vector = dyn_cast<VectorType>(type))
      most = std::max(most, vector.getNumElements());
  };
  llvm::for_each(op->getOperandTypes(), visit);
  llvm::for_each(op->getResultTypes(), visit);
  return most;
}

double CostTable::getArithmetic(Operation *op, int64_t warps) const {
  int64_t work = getWork(op);
  // Other names for registers, and values that are part of an instruction.
  if (work > 0 &&
      isa<arith::ConstantOp, vector::BroadcastOp, vector::ShapeCastOp>(op))
    return 0;
  if (work == 0)
    return scalar;
  bool isSpecial = isa<math::MathDialect>(op->getDialect()) &&
                   !isa<math::FmaOp, math::AbsFOp>(op);
  double lanes = lanesPerScheduler * std::min(warps, schedulers);
  return work / lanes * (isSpecial ? specialFunctionFactor : 1);
}
