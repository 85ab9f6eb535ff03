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

Value fa::buildItemCount(ImplicitLocOpBuilder &b, ValueRange extents) {
  I32Builder i{b};
  Value product = i.constant(1);
  for (Value extent : extents)
    product = b.createOrFold<arith::MulIOp>(product, i.fromIndex(extent));
  return product;
}

/// The first coordinate, and the number that the others stand for.
static std::pair<Value, Value> splitGroup(ImplicitLocOpBuilder &b,
                                          ValueRange extents, Value item,
                                          Value group) {
  I32Builder i{b};
  Value first = i.fromIndex(extents.front());
  Value others = buildItemCount(b, extents.drop_front());
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

SmallVector<Value> fa::buildCoordinates(ImplicitLocOpBuilder &b,
                                        ValueRange extents, cta::WorkOrder kind,
                                        Value item, Value group) {
  I32Builder i{b};
  SmallVector<Value> coordinates;
  if (group) {
    auto [first, others] = splitGroup(b, extents, item, group);
    coordinates.push_back(first);
    appendCoordinates(b, extents.drop_front(), others, coordinates);
  } else {
    appendCoordinates(b, extents, item, coordinates);
  }
  if (kind == cta::WorkOrder::LPT)
    coordinates[0] = arith::SubIOp::create(
        b, i.add(i.fromIndex(extents.front()), -1), coordinates[0]);
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
  Value others = buildItemCount(b, work.getExtents().drop_front());
  return arith::MinUIOp::create(b, arith::MaxUIOp::create(b, heads, one),
                                others);
}

/// Puts the block's loop where `b` is, and `b` into the loop, which `item` is
/// told of. Returns its counter.
static Value buildLoop(ImplicitLocOpBuilder &b, Value first, Value end,
                       Value step, ValueRange inits, BlockItem &item) {
  auto loop = scf::ForOp::create(b, first, end, step, inits);
  b.setInsertionPointToEnd(loop.getBody());
  item.yield =
      inits.empty() ? loop.getBody()->getTerminator() : scf::YieldOp::create(b);
  item.carried.assign(loop.getRegionIterArgs().begin(),
                      loop.getRegionIterArgs().end());
  llvm::append_range(item.results, loop.getResults());
  b.setInsertionPoint(item.yield);
  return loop.getInductionVar();
}

/// The block's share of items by `Order`.
template <template <typename> class Order>
static BlockItem buildShare(ImplicitLocOpBuilder &b, cta::WorkOp work,
                            Value block, Value blocks, ValueRange inits) {
  I32Builder i{b};
  ValueRange others = work.getExtents().drop_front();
  auto expr = [&](Value value) { return I32Expr{&b, value}; };
  Order<I32Expr> order(expr(i.fromIndex(work.getExtents().front())),
                       expr(buildItemCount(b, others)), expr(blocks));
  BlockItem item;
  item.number = buildLoop(b, i.constant(0), order.count(expr(block)).value,
                          i.constant(1), inits, item);
  auto [first, other] = order.get(expr(block), expr(item.number));
  item.coordinates = {first.value};
  appendCoordinates(b, others, other.value, item.coordinates);
  for (Value &coordinate : item.coordinates)
    coordinate = widen(b, coordinate);
  return item;
}

BlockItem fa::buildItems(ImplicitLocOpBuilder &b, cta::WorkOp work, Value group,
                         ValueRange inits) {
  Value block = NVVM::BlockIdXOp::create(b, b.getI32Type());
  BlockItem item;
  cta::WorkOrder kind = work.getOrder().getKind();
  if (work.getOrder().getPersistence() == cta::Persistence::None) {
    item.coordinates =
        buildCoordinates(b, work.getExtents(), kind, block, group);
    item.number = I32Builder{b}.constant(0);
    return item;
  }
  Value blocks = NVVM::GridDimXOp::create(b, b.getI32Type());
  if (kind == cta::WorkOrder::Balanced)
    return buildShare<BalancedOrder>(b, work, block, blocks, inits);
  if (kind == cta::WorkOrder::Paired)
    return buildShare<PairedOrder>(b, work, block, blocks, inits);
  if (kind == cta::WorkOrder::Mirrored)
    return buildShare<MirroredOrder>(b, work, block, blocks, inits);
  Value place = buildLoop(b, block, buildItemCount(b, work.getExtents()),
                          blocks, inits, item);
  item.number =
      arith::DivUIOp::create(b, arith::SubIOp::create(b, place, block), blocks);
  item.coordinates = buildCoordinates(b, work.getExtents(), kind, place, group);
  return item;
}
