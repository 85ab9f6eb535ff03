//===- WorkItems.cpp - Which block does which items -----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work items have numbers from 0; an order says which coordinates a number
// stands for. Without an order of groups the first coordinate runs fastest.
// With one, the coordinates after the first are taken a group at a time, and
// inside a group they run fastest: all heads of a group start with their
// longest blocks, and their keys and values stay in the cache.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "I32Expr.h"
#include "Lowering.h"
#include "fa/Dialect/Cta/IR/RereadRows.h"
#include "fa/Schedule/MirroredOrder.h"
#include "fa/Schedule/PairedOrder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fa;

/// Widened without a sign, which would take a register more.
static Value widen(ImplicitLocOpBuilder &b, Value coordinate) {
  return arith::IndexCastUIOp::create(b, b.getIndexType(), coordinate);
}

/// Takes `rest` apart by `extents`, the first running fastest.
static void appendCoordinates(ImplicitLocOpBuilder &b, ValueRange extents,
                              Value rest, SmallVectorImpl<Value> &coordinates) {
  I32Builder i{b};
  for (auto [n, extent] : llvm::enumerate(extents)) {
    Value coordinate = rest;
    if (n + 1 != extents.size()) {
      Value size = i.fromIndex(extent);
      coordinate = arith::RemUIOp::create(b, rest, size);
      rest = arith::DivUIOp::create(b, rest, size);
    }
    coordinates.push_back(coordinate);
  }
}

static Value multiplyAll(ImplicitLocOpBuilder &b, ValueRange extents) {
  I32Builder i{b};
  Value product = i.constant(1);
  for (Value extent : extents)
    product = b.createOrFold<arith::MulIOp>(product, i.fromIndex(extent));
  return product;
}

/// The first coordinate, and the number that the others stand for.
static std::pair<Value, Value>
splitGroup(ImplicitLocOpBuilder &b, cta::WorkOp work, Value item, Value group) {
  I32Builder i{b};
  Value first = i.fromIndex(work.getExtents().front());
  Value others = multiplyAll(b, work.getExtents().drop_front());
  Value items = arith::MulIOp::create(b, first, group);
  Value number = arith::DivUIOp::create(b, item, items);
  Value inGroup =
      arith::SubIOp::create(b, item, arith::MulIOp::create(b, number, items));
  // The last group may have fewer.
  Value before = arith::MulIOp::create(b, number, group);
  Value size = arith::MinUIOp::create(b, group,
                                      arith::SubIOp::create(b, others, before));
  Value coordinate = arith::DivUIOp::create(b, inGroup, size);
  Value other = arith::SubIOp::create(
      b, inGroup, arith::MulIOp::create(b, coordinate, size));
  return {coordinate, i.add(before, other)};
}

/// The coordinates of work item number `item`.
static SmallVector<Value> buildCoordinates(ImplicitLocOpBuilder &b,
                                           cta::WorkOp work, Value item,
                                           Value group) {
  I32Builder i{b};
  SmallVector<Value> coordinates;
  if (group) {
    auto [first, others] = splitGroup(b, work, item, group);
    coordinates.push_back(first);
    appendCoordinates(b, work.getExtents().drop_front(), others, coordinates);
  } else {
    appendCoordinates(b, work.getExtents(), item, coordinates);
  }
  if (work.getOrder().getKind() == cta::WorkOrder::LPT)
    coordinates[0] = arith::SubIOp::create(
        b, i.add(i.fromIndex(work.getExtents().front()), -1), coordinates[0]);
  for (Value &coordinate : coordinates)
    coordinate = widen(b, coordinate);
  return coordinates;
}

Value fa::buildGroup(ImplicitLocOpBuilder &b, cta::WorkOp work) {
  int64_t bytes = work.getOrder().getGroupBytes();
  if (!bytes || work.getExtents().size() < 2)
    return nullptr;
  // 1. What is read again and again.
  cta::RereadRows reread =
      cta::findRereadRows(work->getParentOfType<gpu::GPUFuncOp>());
  if (reread.sources.empty())
    return nullptr;
  // 2. As many heads as fit, each with all rows.
  I32Builder i{b};
  Value source = reread.sources.front();
  int64_t rowDim = cast<MemRefType>(source.getType()).getRank() - 2;
  auto data = memref::ExtractStridedMetadataOp::create(b, source);
  Value one = i.constant(1);
  Value rows =
      arith::MaxUIOp::create(b, i.fromIndex(data.getSizes()[rowDim]), one);
  Value heads = arith::DivUIOp::create(
      b, i.constant(std::min<int64_t>(bytes / reread.bytes, INT32_MAX)), rows);
  Value others = multiplyAll(b, work.getExtents().drop_front());
  return arith::MinUIOp::create(b, arith::MaxUIOp::create(b, heads, one),
                                others);
}

/// Puts the block's loop where `b` is, and `b` into the loop.
static scf::ForOp buildLoop(ImplicitLocOpBuilder &b, Value first, Value end,
                            Value step, ValueRange inits) {
  auto loop = scf::ForOp::create(b, first, end, step, inits);
  b.setInsertionPointToStart(loop.getBody());
  return loop;
}

/// The block's share of items by `Order`.
template <template <typename> class Order>
static BlockItem buildShare(ImplicitLocOpBuilder &b, cta::WorkOp work,
                            Value block, Value blocks, ValueRange inits) {
  I32Builder i{b};
  ValueRange others = work.getExtents().drop_front();
  auto expr = [&](Value value) { return I32Expr{&b, value}; };
  Order<I32Expr> order(expr(i.fromIndex(work.getExtents().front())),
                       expr(multiplyAll(b, others)), expr(blocks));
  scf::ForOp loop = buildLoop(b, i.constant(0), order.count(expr(block)).value,
                              i.constant(1), inits);
  Value number = loop.getInductionVar();
  auto [first, other] = order.get(expr(block), expr(number));
  SmallVector<Value> coordinates{first.value};
  appendCoordinates(b, others, other.value, coordinates);
  for (Value &coordinate : coordinates)
    coordinate = widen(b, coordinate);
  return {coordinates, number, loop};
}

BlockItem fa::buildItems(ImplicitLocOpBuilder &b, cta::WorkOp work, Value group,
                         ValueRange inits) {
  Value block = NVVM::BlockIdXOp::create(b, b.getI32Type());
  if (work.getOrder().getPersistence() == cta::Persistence::None)
    return {buildCoordinates(b, work, block, group), I32Builder{b}.constant(0),
            scf::ForOp()};
  Value blocks = NVVM::GridDimXOp::create(b, b.getI32Type());
  if (work.getOrder().getKind() == cta::WorkOrder::Balanced)
    return buildShare<BalancedOrder>(b, work, block, blocks, inits);
  if (work.getOrder().getKind() == cta::WorkOrder::Paired)
    return buildShare<PairedOrder>(b, work, block, blocks, inits);
  if (work.getOrder().getKind() == cta::WorkOrder::Mirrored)
    return buildShare<MirroredOrder>(b, work, block, blocks, inits);
  Value items = multiplyAll(b, work.getExtents());
  scf::ForOp loop = buildLoop(b, block, items, blocks, inits);
  Value item = loop.getInductionVar();
  Value number =
      arith::DivUIOp::create(b, arith::SubIOp::create(b, item, block), blocks);
  return {buildCoordinates(b, work, item, group), number, loop};
}
