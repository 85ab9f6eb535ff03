//===- LowerBlockList.cpp - attn.block_list into parallel loops -----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two parallel loops, each a kernel of its own where there are kernels. The
// first one finds the class of each block from the keys that each query sees in
// it; it has a work item for each block, so that it fills a GPU. The second one
// goes through the classes of each block of queries: the full blocks' numbers
// go to the front of the list, the partial ones' behind them.
//
//===----------------------------------------------------------------------===//

#include "MaskRanges.h"
#include "RowArithmetic.h"
#include "VariantRegions.h"

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"
#include "fa/Dialect/Attn/Transforms/MaskAnalysis.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fa;

namespace {
/// What a block of keys is to a block of queries.
enum BlockClass : int32_t { kEmpty, kPartial, kFull };

class BlockListLowering {
public:
  BlockListLowering(RewriterBase &rewriter, attn::BlockListOp op)
      : b(rewriter), op(op), loc(op.getLoc()), i32(rewriter.getI32Type()),
        in(rewriter, loc), br(op.getBr()), bc(op.getBc()) {}

  void run();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value constant(Type type, int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  Value countBlocks(Value length, int64_t block) {
    return arith::CeilDivUIOp::create(b, loc, length, index(block));
  }
  Value toI32(Value number) {
    return arith::IndexCastOp::create(b, loc, i32, number);
  }
  Value hasClass(Value blockClass, BlockClass number) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, blockClass,
                                 constant(i32, number));
  }
  Value selectNext(Value condition, Value number) {
    Value next = arith::AddIOp::create(b, loc, number, index(1));
    return arith::SelectOp::create(b, loc, condition, next, number);
  }

  using Body = function_ref<SmallVector<Value>(Value, ValueRange)>;
  /// A loop over all blocks of keys that carries values.
  SmallVector<Value> forEachBlock(ValueRange inits, Body body);

  scf::ForallOp makeParallel(ArrayRef<OpFoldResult> extents, ValueRange outs);
  void insert(scf::ForallOp forall, unsigned number, Value source,
              OpFoldResult length, ArrayRef<Value> position);
  void setWarps(scf::ForallOp forall, int64_t number);
  int64_t getCountingWarps() const;
  int64_t getRows() const;
  Value countKeys(ArrayRef<Value> at, Value offset);
  MaskBlock getBlock(ArrayRef<Value> at);
  Value findRowsThatCount(ArrayRef<Value> at);
  KeyCounts countAllKeys(ArrayRef<Value> at);
  Value anyRow(Value counts, arith::CmpFPredicate predicate, double number);
  Value branchOn(Value condition, function_ref<Value()> then,
                 function_ref<Value()> otherwise);
  Value classify(const KeyCounts &counts);
  Value classify(ArrayRef<Value> at);
  Value buildClasses();
  Value readClass(Value classes, ValueRange at, Value block);
  std::pair<Value, Value> buildRow(Value classes, Value length, ValueRange at);
  SmallVector<Value> buildLists(Value classes);

  RewriterBase &b;
  attn::BlockListOp op;
  Location loc;
  Type i32;
  GenericBuilder in;
  int64_t br, bc;
  SmallVector<OpFoldResult> extents; ///< batches, heads, blocks of queries
  Value numKV;                       ///< blocks of keys
  int64_t warps = 1;                 ///< that find the class of a block
};
} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<Value> BlockListLowering::forEachBlock(ValueRange inits,
                                                   Body body) {
  auto loop = scf::ForOp::create(b, loc, index(0), numKV, index(1), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults());
}

scf::ForallOp BlockListLowering::makeParallel(ArrayRef<OpFoldResult> extents,
                                              ValueRange outs) {
  auto forall = scf::ForallOp::create(b, loc, extents, outs, std::nullopt);
  forall->setAttr(attn::kPreparesAttrName, b.getUnitAttr());
  b.setInsertionPoint(forall.getTerminator());
  return forall;
}

/// Has thread blocks of one team of `number` warps run `forall`: it has no
/// tiles to divide.
void BlockListLowering::setWarps(scf::ForallOp forall, int64_t number) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  std::optional<Schedule> schedule = attn::getSchedule(function);
  if (!schedule)
    return;
  schedule->teams = schedule->stages = 1;
  schedule->warps = number;
  forall->setAttr(attn::kScheduleAttrName,
                  attn::makeScheduleAttr(b.getContext(), *schedule));
}

/// Puts `source`, of `length` entries, at `position` of output `number`; what
/// is missing of the position is 0.
void BlockListLowering::insert(scf::ForallOp forall, unsigned number,
                               Value source, OpFoldResult length,
                               ArrayRef<Value> position) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<OpFoldResult> offsets(position.begin(), position.end());
  offsets.resize(4, b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(4, b.getIndexAttr(1)), sizes(strides);
  sizes.back() = length;
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, source,
                                        forall.getRegionIterArgs()[number],
                                        offsets, sizes, strides);
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

/// The queries that a warp counts the keys of at a time: it has the marks of no
/// more in registers.
static constexpr int64_t kWarpRows = 16;

/// The warps that count a block's keys: one for each of a multiprocessor's four
/// schedulers where the block has rows for them. With one warp a block, blocks
/// of which some are hidden and some are not kept schedulers busy unequally.
int64_t BlockListLowering::getCountingWarps() const {
  constexpr int64_t kSchedulers = 4;
  return br % (kSchedulers * kWarpRows) == 0 ? kSchedulers : 1;
}

/// The queries whose keys are counted at a time, where blocks can be divided by
/// it.
int64_t BlockListLowering::getRows() const {
  int64_t rows = warps * kWarpRows;
  return br % rows == 0 ? rows : br;
}

/// How many keys of the block `at` (batch, head, block of queries, of keys)
/// each query from `offset` on sees. Queries behind the last one count as the
/// last one; keys behind the last one are not seen.
Value BlockListLowering::countKeys(ArrayRef<Value> at, Value offset) {
  Value blockRow = arith::MulIOp::create(b, loc, at[2], index(br));
  Value firstRow = arith::AddIOp::create(b, loc, blockRow, offset);
  Value firstKey = arith::MulIOp::create(b, loc, at[3], index(bc));
  auto last = [&](Value length) {
    return arith::SubIOp::create(b, loc, length, index(1));
  };
  Value lastRow = last(op.getSeqQ()), lastKey = last(op.getSeqKV());
  Value one = in.f32(1.0), zero = in.f32(0.0);
  auto position = [&](GenericBuilder &body, Value start, int64_t dim) {
    Value local = linalg::IndexOp::create(body.builder, loc, dim);
    return arith::AddIOp::create(body.builder, loc, start, local).getResult();
  };
  auto clamp = [&](GenericBuilder &body, Value at, Value end) {
    return arith::MinSIOp::create(body.builder, loc, at, end).getResult();
  };
  // The domain: nothing reads it.
  Value block = tensor::EmptyOp::create(
      b, loc, ArrayRef<int64_t>{getRows(), bc}, b.getF32Type());
  Value sums = tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>{getRows()},
                                       b.getF32Type());
  auto count = [&](GenericBuilder &body, ValueRange args) {
    Value row = clamp(body, position(body, firstRow, 0), lastRow);
    Value key = position(body, firstKey, 1);
    Value sees = inlineRegion(body.builder, op.getMaskRegion(),
                              {at[0], at[1], row, clamp(body, key, lastKey)});
    Value isThere = arith::CmpIOp::create(
        body.builder, loc, arith::CmpIPredicate::sle, key, lastKey);
    sees = arith::AndIOp::create(body.builder, loc, sees, isThere);
    return SmallVector<Value>{body.add(args[1], body.select(sees, one, zero))};
  };
  return in.generic({block}, {in.fill(zero, sums)}, 2, true, count).front();
}

/// The block of queries and keys at `at`.
MaskBlock BlockListLowering::getBlock(ArrayRef<Value> at) {
  auto positions = [&](Value number, int64_t size, Value length) {
    Value first = arith::MulIOp::create(b, loc, number, index(size));
    Value end = arith::AddIOp::create(b, loc, first, index(size));
    end = arith::MinSIOp::create(b, loc, end, length);
    Value last = arith::SubIOp::create(b, loc, end, index(1));
    return PositionRange{first, last};
  };
  return {at[0],
          at[1],
          positions(at[2], br, op.getSeqQ()),
          positions(at[3], bc, op.getSeqKV()),
          br,
          bc};
}

/// How many rows of a block can see any of its keys by what the mask compares:
/// all, or none.
Value BlockListLowering::findRowsThatCount(ArrayRef<Value> at) {
  Value all = index(br);
  Value firstRow = arith::MulIOp::create(b, loc, at[2], all);
  Value firstKey = arith::MulIOp::create(b, loc, at[3], index(bc));
  attn::KeyInterval keys = attn::analyzeMask(b, loc, op.getMaskRegion(),
                                             {at[0], at[1], firstRow, all})
                               .some;
  auto noneUnless = [&](Value left, Value right, Value rows) {
    Value isBelow =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, left, right);
    return arith::SelectOp::create(b, loc, isBelow, rows, index(0)).getResult();
  };
  Value rows = all;
  if (keys.end)
    rows = noneUnless(firstKey, keys.end, rows);
  if (keys.begin) {
    Value end = arith::AddIOp::create(b, loc, firstKey, index(bc));
    rows = noneUnless(keys.begin, end, rows);
  }
  return rows;
}

/// The counts of all queries of a block, a few rows at a time.
KeyCounts BlockListLowering::countAllKeys(ArrayRef<Value> at) {
  Value rows = tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>{getRows()},
                                       b.getF32Type());
  SmallVector<Value> inits{in.fill(in.f32(bc), rows),
                           in.fill(in.f32(0.0), rows)};
  auto loop = scf::ForOp::create(b, loc, index(0), findRowsThatCount(at),
                                 index(getRows()), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value counts = countKeys(at, loop.getInductionVar());
  auto combine = [&](GenericBuilder &body, ValueRange args) {
    return SmallVector<Value>{body.min(args[0], args[1]),
                              body.max(args[0], args[2])};
  };
  scf::YieldOp::create(
      b, loc,
      in.generic({counts}, loop.getRegionIterArgs(), 1, false, combine));
  return {loop.getResult(0), loop.getResult(1)};
}

/// Whether the count of any query compares so with `number`.
Value BlockListLowering::anyRow(Value counts, arith::CmpFPredicate predicate,
                                double number) {
  Value limit = in.f32(number);
  return anyOf(in, counts, [&](GenericBuilder &body, Value count) {
    return body.compare(predicate, count, limit);
  });
}

/// A branch on flags of rows that all see the same class: one that a warp takes
/// for itself only where it has all rows.
Value BlockListLowering::branchOn(Value condition, function_ref<Value()> then,
                                  function_ref<Value()> otherwise) {
  auto branch = scf::IfOp::create(b, loc, TypeRange{i32}, condition,
                                  /*withElseRegion=*/true);
  if (warps == 1)
    branch->setAttr(attn::kAnyRowAttrName, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  for (auto [block, build] : {std::pair(branch.thenBlock(), then),
                              std::pair(branch.elseBlock(), otherwise)}) {
    b.setInsertionPointToStart(block);
    Value result = build();
    scf::YieldOp::create(b, loc, result);
  }
  return branch.getResult(0);
}

/// The class of a block of which the queries see so many keys.
Value BlockListLowering::classify(const KeyCounts &counts) {
  Value any = anyRow(counts.most, arith::CmpFPredicate::OGT, 0.0);
  auto classOf = [&](BlockClass number) {
    return [this, number] { return constant(i32, number); };
  };
  auto classifySeen = [&] {
    Value lacks = anyRow(counts.fewest, arith::CmpFPredicate::OLT, double(bc));
    return branchOn(lacks, classOf(kPartial), classOf(kFull));
  };
  return branchOn(any, classifySeen, classOf(kEmpty));
}

/// The class of a block: by the ranges of values, where they tell something and
/// hold; else by each query and key.
Value BlockListLowering::classify(ArrayRef<Value> at) {
  std::optional<CountBounds> bounds =
      boundKeyCounts(in, op.getMaskRegion(), getBlock(at));
  warps = bounds ? 1 : getCountingWarps();
  if (!bounds)
    return classify(countAllKeys(at));
  auto byRange = [&] { return classify(bounds->counts); };
  if (!bounds->fails)
    return byRange();
  return branchOn(
      bounds->fails, [&] { return classify(countAllKeys(at)); }, byRange);
}

/// The class of each block: [batches, heads, blocks of queries, of keys].
Value BlockListLowering::buildClasses() {
  SmallVector<OpFoldResult> sizes(extents);
  sizes.push_back(numKV);
  Value classes = tensor::EmptyOp::create(b, loc, sizes, i32);
  OpBuilder::InsertionGuard guard(b);
  auto forall =
      makeParallel(llvm::to_vector(llvm::reverse(sizes)), ValueRange{classes});
  SmallVector<Value> at(llvm::reverse(forall.getInductionVars()));
  Value blockClass = classify(at);
  setWarps(forall, warps);
  Value entry = tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>{1}, i32);
  entry = tensor::InsertOp::create(b, loc, blockClass, entry, index(0));
  insert(forall, 0, entry, b.getIndexAttr(1), at);
  return forall.getResult(0);
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

Value BlockListLowering::readClass(Value classes, ValueRange at, Value block) {
  SmallVector<Value> position(at);
  position.push_back(block);
  return tensor::ExtractOp::create(b, loc, classes, position);
}

/// The list of one block of queries, and its two counts.
std::pair<Value, Value> BlockListLowering::buildRow(Value classes, Value length,
                                                    ValueRange at) {
  // 1. Where the partial blocks begin.
  Value numFull = forEachBlock(index(0), [&](Value block, ValueRange args) {
                    Value isFull =
                        hasClass(readClass(classes, at, block), kFull);
                    return SmallVector<Value>{selectNext(isFull, args[0])};
                  }).front();

  // 2. Each block where the next one of its class goes. An empty one goes to
  // the next partial one's place, which that one overwrites.
  Value row =
      tensor::EmptyOp::create(b, loc, ArrayRef<OpFoldResult>{length}, i32);
  SmallVector<Value> state =
      forEachBlock({row, index(0), numFull}, [&](Value block, ValueRange args) {
        Value blockClass = readClass(classes, at, block);
        Value isFull = hasClass(blockClass, kFull);
        Value isPartial = hasClass(blockClass, kPartial);
        Value place = arith::SelectOp::create(b, loc, isFull, args[1], args[2]);
        Value longer =
            tensor::InsertOp::create(b, loc, toI32(block), args[0], place);
        return SmallVector<Value>{longer, selectNext(isFull, args[1]),
                                  selectNext(isPartial, args[2])};
      });

  // 3. The counts.
  Value numPartial = arith::SubIOp::create(b, loc, state[2], numFull);
  Value pair = tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>{2}, i32);
  SmallVector<Value> both{numFull, numPartial};
  for (auto [number, count] : llvm::enumerate(both))
    pair = tensor::InsertOp::create(b, loc, toI32(count), pair, index(number));
  return {state[0], pair};
}

SmallVector<Value> BlockListLowering::buildLists(Value classes) {
  SmallVector<OpFoldResult> sizes(extents);
  Value length = arith::AddIOp::create(b, loc, numKV, index(1));
  sizes.push_back(length);
  Value blocks = tensor::EmptyOp::create(b, loc, sizes, i32);
  sizes.back() = b.getIndexAttr(2);
  Value counts = tensor::EmptyOp::create(b, loc, sizes, i32);
  OpBuilder::InsertionGuard guard(b);
  auto forall = makeParallel(llvm::to_vector(llvm::reverse(extents)),
                             ValueRange{blocks, counts});
  setWarps(forall, 1);
  SmallVector<Value> at(llvm::reverse(forall.getInductionVars()));
  auto [row, pair] = buildRow(classes, length, at);
  insert(forall, 0, row, length, at);
  insert(forall, 1, pair, b.getIndexAttr(2), at);
  return SmallVector<Value>(forall.getResults());
}

void BlockListLowering::run() {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  numKV = countBlocks(op.getSeqKV(), bc);
  extents = {getAsOpFoldResult(op.getBatches()),
             getAsOpFoldResult(op.getHeads()), countBlocks(op.getSeqQ(), br)};
  SmallVector<Value> results = buildLists(buildClasses());
  for (auto [value, type] : llvm::zip_equal(results, op->getResultTypes()))
    if (value.getType() != type)
      value = tensor::CastOp::create(b, loc, type, value);
  b.replaceOp(op, results);
}

void fa::lowerBlockList(RewriterBase &rewriter, attn::BlockListOp op) {
  BlockListLowering(rewriter, op).run();
}
