//===- StageLookups.cpp - Tiles of matrices that lookups read -------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lookup at all rows and columns of a block of scores is one of a tile, which
// copies can bring where every thread would read element by element. Positions
// that --pad-tiles kept inside the matrix need not be: a load pads.
//
//===----------------------------------------------------------------------===//

#include "Simplify.h"

#include "fa/Dialect/Cta/IR/Cta.h"
#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Support/GpuModules.h"
#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_STAGELOOKUPS
#include "fa/Dialect/Cta/Transforms/Passes.h.inc"
} // namespace fa

using namespace fa;

/// The bytes of a row after which the swizzle of shared memory repeats.
static constexpr int64_t kSwizzleBytes = 128;
/// The stages of a tile's ring. A tile is read and its stage free long before
/// the next block's scores are there; a second stage gains nothing, and takes
/// the room of 32 keys (D 128, a bias of f32).
static constexpr int64_t kStages = 1;
/// The dimensions of the matrices that copies take tiles of.
static constexpr int64_t kLeastRank = 2, kMostRank = 4;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Adds what `position` is the sum of to `terms`, without zeros and casts
/// between index and i32.
static void collectTerms(Value position, SmallVectorImpl<Value> &terms) {
  if (auto cast = position.getDefiningOp<arith::IndexCastOp>())
    return collectTerms(cast.getIn(), terms);
  if (auto sum = position.getDefiningOp<arith::AddIOp>()) {
    collectTerms(sum.getLhs(), terms);
    return collectTerms(sum.getRhs(), terms);
  }
  if (!isConstantIntValue(position, 0))
    terms.push_back(position);
}

static SmallVector<Value> getTerms(Value position) {
  SmallVector<Value> terms;
  collectTerms(position, terms);
  llvm::sort(terms, [](Value a, Value b) {
    return a.getAsOpaquePointer() < b.getAsOpaquePointer();
  });
  return terms;
}

namespace {
/// Positions that follow one another from `base` (i32) on, up to `last`, an
/// integer, where there is one.
struct Line {
  Value base;
  OpFoldResult last;
};
} // namespace

/// What an iota counts from; null for other values.
static Value getBase(Value positions) {
  if (auto row = positions.getDefiningOp<cta::RowOp>())
    return row.getBase();
  auto col = positions.getDefiningOp<cta::ColOp>();
  return col ? col.getBase() : Value();
}

/// The one integer that `vector` repeats; null for others.
static OpFoldResult getRepeated(Value vector) {
  if (auto broadcast = vector.getDefiningOp<vector::BroadcastOp>())
    return broadcast.getSource().getType().isInteger(32)
               ? OpFoldResult(broadcast.getSource())
               : OpFoldResult();
  SplatElementsAttr splat;
  return matchPattern(vector, m_Constant(&splat))
             ? OpFoldResult(splat.getSplatValue<Attribute>())
             : OpFoldResult();
}

static std::optional<Line> matchLine(Value positions) {
  if (Value base = getBase(positions))
    return Line{base, OpFoldResult()};
  auto min = positions.getDefiningOp<arith::MinSIOp>();
  if (!min)
    return std::nullopt;
  for (auto [line, limit] : {std::pair(min.getLhs(), min.getRhs()),
                             std::pair(min.getRhs(), min.getLhs())}) {
    Value base = getBase(line);
    OpFoldResult last = getRepeated(limit);
    if (base && last)
      return Line{base, last};
  }
  return std::nullopt;
}

/// Whether `last` is the last row of `matrix`.
static bool isLastRow(OpFoldResult last, Value matrix) {
  auto type = cast<MemRefType>(matrix.getType());
  int64_t rowDim = type.getRank() - 2;
  if (std::optional<int64_t> row = getConstantIntValue(last))
    return !type.isDynamicDim(rowDim) && *row == type.getDimSize(rowDim) - 1;
  auto value = cast<Value>(last);
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  auto difference = value.getDefiningOp<arith::SubIOp>();
  if (!difference || !isConstantIntValue(difference.getRhs(), 1))
    return false;
  auto dim = difference.getLhs().getDefiningOp<memref::DimOp>();
  return dim && dim.getSource() == matrix && dim.getConstantIndex() == rowDim;
}

/// Whether nobody uses what is at the positions of `line` past its last one:
/// they are those of rows that a tile of the program has only as padding.
static bool endsWithRows(const Line &line, ArrayRef<cta::LoadOp> loads) {
  return !line.last || llvm::any_of(loads, [&](cta::LoadOp load) {
    Value row = load.getIndices()[load.getIndices().size() - 2];
    return isLastRow(line.last, load.getSource()) &&
           getTerms(row) == getTerms(line.base);
  });
}

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

/// Why no copy can bring what `lookup` reads; empty where one can. `loads` are
/// those that the program has.
static std::string whyNoTile(cta::LookupOp lookup,
                             ArrayRef<cta::LoadOp> loads) {
  auto source = cast<MemRefType>(lookup.getSource().getType());
  VectorType result = lookup.getType();
  if (result.getRank() != 2 || result.getDimSize(0) == 1)
    return "it is of rows or of columns alone";
  if (!isa<FloatType>(result.getElementType()))
    return "its elements are no floats";
  if (!isa<scf::ForOp>(lookup->getParentOp()) ||
      lookup->getBlock()->getOps<cta::MmaOp>().empty())
    return "it is not in a loop over blocks of products";
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!isa<BlockArgument>(lookup.getSource()) ||
      source.getRank() < kLeastRank || source.getRank() > kMostRank ||
      failed(source.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return "its source is no argument of 2 to 4 dimensions with rows that are "
           "contiguous";
  int64_t blockBytes =
      result.getDimSize(1) * result.getElementTypeBitWidth() / 8;
  if (!cta::padsColumns(source) &&
      (source.getShape().back() % result.getDimSize(1) ||
       blockBytes % kSwizzleBytes))
    return "its source has parts of blocks or of the swizzle's segments";
  auto indices = lookup.getIndices();
  if (llvm::any_of(indices.drop_back(2),
                   [](Value v) { return !v.getType().isIntOrIndex(); }))
    return "its rows are of several matrices";
  std::optional<Line> rows = matchLine(indices[indices.size() - 2]);
  std::optional<Line> columns = matchLine(indices.back());
  auto isColumns = [](Value v) {
    return cast<VectorType>(v.getType()).getRank() == 2;
  };
  if (!rows || !columns || isColumns(indices[indices.size() - 2]) ||
      !isColumns(indices.back()))
    return "its positions are not the rows and the columns of a block";
  if (!endsWithRows(*rows, loads) || !endsWithRows(*columns, loads))
    return "its positions are cut by something else than the ends of q and k";
  return "";
}

/// An index, the sum of what the i32 `position` is the sum of.
static Value buildIndex(RewriterBase &rewriter, Value position) {
  Location loc = position.getLoc();
  SmallVector<Value> terms;
  collectTerms(position, terms);
  Value sum;
  for (Value term : terms) {
    if (!term.getType().isIndex())
      term = arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(),
                                        term);
    sum = sum ? arith::AddIOp::create(rewriter, loc, sum, term) : term;
  }
  return sum ? sum : arith::ConstantIndexOp::create(rewriter, loc, 0);
}

/// Where to load a tile: behind the block's first load, whose product the
/// lookup goes with, and behind the one that was put there `last`, if there is
/// one; but not before what the place of the tile depends on is known.
static Operation *findPlace(cta::LookupOp lookup, Operation *last,
                            ValueRange known) {
  Block *block = lookup->getBlock();
  auto loads = block->getOps<cta::LoadOp>();
  if (!last && loads.empty())
    return lookup;
  Operation *after = (last ? last : *loads.begin())->getNextNode();
  bool isKnown = llvm::all_of(known, [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || op->getBlock() != block || op->isBeforeInBlock(after);
  });
  return isKnown && after->isBeforeInBlock(lookup) ? after : lookup;
}

/// Replaces `lookup` by a load, which it returns, and a read of a tile. `last`
/// is the last load that was put into the block before, if there is one: tiles
/// are read in the order in which they are loaded.
static cta::LoadOp stageLookup(RewriterBase &rewriter, cta::LookupOp lookup,
                               Operation *last) {
  Location loc = lookup.getLoc();
  VectorType type = lookup.getType();
  auto indices = lookup.getIndices();
  // 1. What the place of the tile is made from.
  SmallVector<Value> bases, known;
  for (Value line : indices.take_back(2))
    bases.push_back(matchLine(line)->base);
  for (Value base : bases)
    collectTerms(base, known);
  llvm::append_range(known, indices.drop_back(2));
  // 2. The load, early, and the read.
  rewriter.setInsertionPoint(findPlace(lookup, last, known));
  SmallVector<Value> place;
  for (Value index : indices.drop_back(2))
    place.push_back(buildIndex(rewriter, index));
  for (Value base : bases)
    place.push_back(buildIndex(rewriter, base));
  auto tile = cta::TileType::get(type.getDimSize(0), type.getDimSize(1),
                                 type.getElementType(), kSwizzleBytes);
  auto load =
      cta::LoadOp::create(rewriter, loc, tile, cta::LoadKind::Each,
                          lookup.getSource(), place, /*rowEnd=*/Value());
  load->setAttr(cta::kStagesAttr, rewriter.getI64IntegerAttr(kStages));
  rewriter.setInsertionPoint(lookup);
  rewriter.replaceOpWithNewOp<cta::ReadOp>(lookup, type, load.getTile());
  return load;
}

//===----------------------------------------------------------------------===//
// The order of work items
//===----------------------------------------------------------------------===//

/// Whether `value` is made from `coordinate`.
static bool dependsOn(Value value, BlockArgument coordinate) {
  auto anyOf = [&](ValueRange values) {
    return llvm::any_of(
        values, [&](Value used) { return dependsOn(used, coordinate); });
  };
  if (Operation *op = value.getDefiningOp())
    return anyOf(op->getOperands());
  auto argument = cast<BlockArgument>(value);
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop)
    return argument == coordinate;
  // What loops carry on may be made from anything.
  return argument != loop.getInductionVar() ||
         anyOf({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
}

/// Makes the n-th coordinate of `work` the one that was number `order[n]`.
static void permuteCoordinates(cta::WorkOp work, ArrayRef<unsigned> order) {
  Block &body = work.getBody().front();
  SmallVector<Value> extents;
  for (unsigned number : order) {
    BlockArgument old = body.getArgument(number);
    old.replaceAllUsesWith(body.addArgument(old.getType(), old.getLoc()));
    extents.push_back(work.getExtents()[number]);
  }
  body.eraseArguments(0, order.size());
  work.getExtentsMutable().assign(extents);
}

/// Puts items side by side that read the same tiles, those of all batches of a
/// bias that has no batches, so that most find them in the cache: of the
/// coordinates behind the first the others run fastest, and all of a group
/// before the first one does.
static void shareTiles(cta::WorkOp work, ArrayRef<cta::LoadOp> loads) {
  // What is carried from item to item says that their order is settled.
  if (!work.getInits().empty())
    return;
  SmallVector<unsigned> shared, order{0};
  Block &body = work.getBody().front();
  for (unsigned n = 1; n < body.getNumArguments(); ++n) {
    bool isOfTile = llvm::any_of(loads, [&](cta::LoadOp load) {
      return llvm::any_of(load.getIndices(), [&](Value index) {
        return dependsOn(index, body.getArgument(n));
      });
    });
    (isOfTile ? order : shared).push_back(n);
  }
  if (shared.empty())
    return;
  order.insert(order.begin() + 1, shared.begin(), shared.end());
  permuteCoordinates(work, order);
  cta::OrderAttr items = work.getOrder();
  if (items.getKind() == cta::WorkOrder::Natural)
    work.setOrderAttr(cta::OrderAttr::get(work.getContext(), items.getKind(),
                                          cta::kGroupBytes,
                                          items.getPersistence()));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct StageLookups : public fa::impl::StageLookupsBase<StageLookups> {
  using Base::Base;

  void runOnOperation() override {
    for (gpu::GPUFuncOp func : findKernels(getOperation(), "--stage-lookups"))
      stage(func);
  }

private:
  void stage(gpu::GPUFuncOp func) {
    SmallVector<cta::LoadOp> loads;
    SmallVector<cta::LookupOp> lookups;
    func.walk([&](cta::LoadOp load) { loads.push_back(load); });
    func.walk([&](cta::LookupOp lookup) { lookups.push_back(lookup); });
    IRRewriter rewriter(func.getContext());
    llvm::MapVector<Operation *, SmallVector<cta::LoadOp>> tiles; // by work
    llvm::DenseMap<Block *, Operation *> lastLoads;
    int64_t found = 0;
    for (cta::LookupOp lookup : lookups) {
      std::string reason = whyNoTile(lookup, loads);
      if (!reason.empty()) {
        remarkMissed(lookup, "stage-lookups", "tile")
            << remark::reason("{0}", reason);
        continue;
      }
      auto work = lookup->getParentOfType<cta::WorkOp>();
      Operation *&last = lastLoads[lookup->getBlock()];
      tiles[work].push_back(stageLookup(rewriter, lookup, last));
      last = tiles[work].back();
      ++found;
    }
    for (auto &[work, loadsOfWork] : tiles)
      if (work)
        shareTiles(cast<cta::WorkOp>(work), loadsOfWork);
    if (found == 0)
      return;
    simplify(rewriter, func);
    numLookups += found;
    remarkDecision(func, "stage-lookups", "tiles")
        << remark::metric("lookups", found);
  }
};
} // namespace
