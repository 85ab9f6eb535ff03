//===- LowerBlockList.cpp - attn.block_list into loops -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each batch, head and block of queries: the class of each block of keys,
// from the mask at all its elements; then the numbers of the full blocks and of
// the partial ones, in two passes over the classes.
//
//===----------------------------------------------------------------------===//

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fa;

namespace {
/// What a block of keys is to a block of queries.
enum BlockClass : int8_t { kEmpty, kPartial, kFull };

class BlockListLowering {
public:
  BlockListLowering(RewriterBase &rewriter, attn::BlockListOp op)
      : b(rewriter), op(op), loc(op.getLoc()) {}

  void run();

private:
  using Body = function_ref<SmallVector<Value>(Value, ValueRange)>;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value constant(Type type, int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  Value countBlocks(Value length, int64_t block) {
    return arith::CeilDivUIOp::create(b, loc, length, index(block));
  }
  /// A loop over [begin, end) that carries values.
  SmallVector<Value> loop(Value begin, Value end, ValueRange inits, Body body);
  /// [number * size, min of that + size and length).
  std::pair<Value, Value> blockRange(Value number, int64_t size, Value length);
  Value classify(Value batch, Value head, Value queryBlock, Value keyBlock);
  std::pair<Value, Value> listClass(BlockClass which, Value classes, Value row,
                                    Value count);

  RewriterBase &b;
  attn::BlockListOp op;
  Location loc;
};
} // namespace

SmallVector<Value> BlockListLowering::loop(Value begin, Value end,
                                           ValueRange inits, Body body) {
  auto forOp = scf::ForOp::create(b, loc, begin, end, index(1), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  SmallVector<Value> next =
      body(forOp.getInductionVar(), forOp.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(forOp.getResults());
}

std::pair<Value, Value>
BlockListLowering::blockRange(Value number, int64_t size, Value length) {
  Value begin = arith::MulIOp::create(b, loc, number, index(size));
  Value end = arith::AddIOp::create(b, loc, begin, index(size));
  return {begin, arith::MinUIOp::create(b, loc, end, length)};
}

/// The class of one block, from the mask at all its elements.
Value BlockListLowering::classify(Value batch, Value head, Value queryBlock,
                                  Value keyBlock) {
  auto [rowBegin, rowEnd] = blockRange(queryBlock, op.getBr(), op.getSeqQ());
  auto [keyBegin, keyEnd] = blockRange(keyBlock, op.getBc(), op.getSeqKV());
  Value isWhole = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::eq,
      arith::SubIOp::create(b, loc, keyEnd, keyBegin), index(op.getBc()));
  Type i1 = b.getI1Type();
  SmallVector<Value> seen{constant(i1, 0), isWhole}; // some, all
  Value innerBegin = keyBegin, innerEnd = keyEnd;
  seen = loop(rowBegin, rowEnd, seen, [&](Value row, ValueRange outer) {
    return loop(innerBegin, innerEnd, outer, [&](Value key, ValueRange args) {
      IRMapping mapping;
      mapping.map(op.getMaskRegion().getArguments(),
                  SmallVector<Value>{batch, head, row, key});
      Block &mask = op.getMaskRegion().front();
      for (Operation &nested : mask.without_terminator())
        b.clone(nested, mapping);
      Value sees = mapping.lookupOrDefault(mask.getTerminator()->getOperand(0));
      return SmallVector<Value>{arith::OrIOp::create(b, loc, args[0], sees),
                                arith::AndIOp::create(b, loc, args[1], sees)};
    });
  });
  Type i8 = b.getI8Type();
  Value unlessFull = arith::SelectOp::create(
      b, loc, seen[0], constant(i8, kPartial), constant(i8, kEmpty));
  // A block that no query sees may see all of its none.
  Value isFull = arith::AndIOp::create(b, loc, seen[0], seen[1]);
  return arith::SelectOp::create(b, loc, isFull, constant(i8, kFull),
                                 unlessFull);
}

/// Appends the numbers of the blocks of one class to `row`, which holds `count`
/// of them. Returns the row and the new count.
std::pair<Value, Value> BlockListLowering::listClass(BlockClass which,
                                                     Value classes, Value row,
                                                     Value count) {
  Value numBlocks = tensor::DimOp::create(b, loc, classes, index(0));
  SmallVector<Value> state{row, count};
  state = loop(index(0), numBlocks, state, [&](Value block, ValueRange args) {
    Value code = tensor::ExtractOp::create(b, loc, classes, block);
    Value isOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, code,
                                        constant(b.getI8Type(), which));
    auto branch = scf::IfOp::create(b, loc, args.getTypes(), isOne,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value number = arith::IndexCastOp::create(b, loc, b.getI32Type(), block);
    Value longer = tensor::InsertOp::create(b, loc, number, args[0], args[1]);
    Value next = arith::AddIOp::create(b, loc, args[1], index(1));
    scf::YieldOp::create(b, loc, ValueRange{longer, next});
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, args);
    return SmallVector<Value>(branch.getResults());
  });
  return {state[0], state[1]};
}

void BlockListLowering::run() {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  Type i32 = b.getI32Type();
  Value numQ = countBlocks(op.getSeqQ(), op.getBr());
  Value numKV = countBlocks(op.getSeqKV(), op.getBc());
  SmallVector<OpFoldResult> extents{op.getBatches(), op.getHeads(), numQ};

  // 1. A parallel loop over batches, heads and blocks of queries.
  SmallVector<OpFoldResult> sizes(extents);
  sizes.push_back(numKV);
  Value blocks = tensor::EmptyOp::create(b, loc, sizes, i32);
  sizes.back() = b.getIndexAttr(2);
  Value counts = tensor::EmptyOp::create(b, loc, sizes, i32);
  auto forall = scf::ForallOp::create(b, loc, extents,
                                      ValueRange{blocks, counts}, std::nullopt);
  b.setInsertionPoint(forall.getTerminator());
  SmallVector<Value> ivs(forall.getInductionVars());

  // 2. Classes, then the list.
  Value classes = tensor::EmptyOp::create(
      b, loc, SmallVector<OpFoldResult>{numKV}, b.getI8Type());
  classes = loop(index(0), numKV, classes, [&](Value block, ValueRange args) {
              Value code = classify(ivs[0], ivs[1], ivs[2], block);
              return SmallVector<Value>{
                  tensor::InsertOp::create(b, loc, code, args[0], block)};
            }).front();
  Value row =
      tensor::EmptyOp::create(b, loc, SmallVector<OpFoldResult>{numKV}, i32);
  auto [fullRow, numFull] = listClass(kFull, classes, row, index(0));
  auto [wholeRow, numAll] = listClass(kPartial, classes, fullRow, numFull);
  Value numPartial = arith::SubIOp::create(b, loc, numAll, numFull);
  Value pair = tensor::FromElementsOp::create(
      b, loc,
      ValueRange{arith::IndexCastOp::create(b, loc, i32, numFull),
                 arith::IndexCastOp::create(b, loc, i32, numPartial)});

  // 3. Into the results.
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  for (auto [source, dest] : llvm::zip_equal(SmallVector<Value>{wholeRow, pair},
                                             forall.getRegionIterArgs())) {
    SmallVector<OpFoldResult> offsets(ivs.begin(), ivs.end());
    offsets.push_back(b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(4, b.getIndexAttr(1)), lengths(strides);
    lengths.back() =
        source == pair ? OpFoldResult(b.getIndexAttr(2)) : OpFoldResult(numKV);
    tensor::ParallelInsertSliceOp::create(b, loc, source, dest, offsets,
                                          lengths, strides);
  }
  b.setInsertionPointAfter(forall);
  SmallVector<Value> results(forall.getResults());
  for (auto [value, type] : llvm::zip_equal(results, op->getResultTypes()))
    if (value.getType() != type)
      value = tensor::CastOp::create(b, loc, type, value);
  b.replaceOp(op, results);
}

void fa::lowerBlockList(RewriterBase &rewriter, attn::BlockListOp op) {
  BlockListLowering(rewriter, op).run();
}
