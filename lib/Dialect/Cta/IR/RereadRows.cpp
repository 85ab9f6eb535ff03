//===- RereadRows.cpp - What items read again and again -------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Cta/IR/RereadRows.h"

#include "fa/Dialect/Cta/IR/Cta.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fa;
using namespace fa::cta;

RereadRows cta::findRereadRows(Operation *root) {
  RereadRows rows;
  root->walk([&](CopyOp copy) {
    auto loop = copy->getParentOfType<scf::ForOp>();
    if (!loop || !loop->getParentOfType<WorkOp>())
      return;
    TileType tile = copy.getTile().getType();
    auto acquire = copy.getTile().getDefiningOp<AcquireOp>();
    auto ring = acquire ? acquire.getRing().getDefiningOp<RingOp>() : RingOp();
    bool isOfAll = !ring || !ring.getTeams();
    if (!isOfAll || llvm::is_contained(rows.sources, copy.getSource()))
      return;
    rows.sources.push_back(copy.getSource());
    rows.bytes +=
        tile.getCols() * tile.getElementType().getIntOrFloatBitWidth() / 8;
  });
  return rows;
}
