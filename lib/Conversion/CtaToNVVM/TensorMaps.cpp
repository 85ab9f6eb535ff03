//===- TensorMaps.cpp - Tiles by tensor maps ------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor map says how a tile lies in a tensor, so that one thread's one
// instruction moves it. The launch makes the maps; here the kernel gets a
// parameter for each kind of tile of each argument, and instructions their
// coordinates: {0, row, segment, head, batch}, with 64 columns of 16 bits a
// segment. Where a row is not of whole segments, or nobody knows how long it
// is, an instruction moves one of them, at {column, row, 0, head, batch}: what
// lies beyond the row is read as 0 and not written.
//
// Rows past the tensor's end are read as 0 and not written. So are rows past an
// end that the program names, where one sequence's rows are followed by those
// of another: a tile that has all its rows before it is moved as others are,
// one that has not by groups of rows, and the group that the end lies in row by
// row. In place of rows past the end such are loaded that no tensor has; to
// store them ends in an illegal instruction (H200, driver 580), so none are.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "GlobalMatrix.h"
#include "Hopper.h"
#include "fa/Dialect/Cta/IR/Multiples.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fa;

/// The most rows of a map's box, and dimensions of a tensor that has one.
static constexpr int64_t kMaxBoxRows = 256;
/// What a tile's columns are multiples of: the depth of a product.
static constexpr int64_t kColumnUnit = 16;
static constexpr int64_t kMaxRank = 4;
/// The rows that are moved together of a tile whose rows end early: tiles have
/// rows in multiples of this.
static constexpr int64_t kGroupRows = 8;
/// A row that no tensor has, nor the others of its group.
static constexpr int64_t kNoRow = -kGroupRows;

//===----------------------------------------------------------------------===//
// What a map can say
//===----------------------------------------------------------------------===//

static SwizzledTile getSwizzled(cta::TileType tile) {
  return {tile.getRows(), tile.getCols(),
          tile.getElementType().getIntOrFloatBitWidth() / 8};
}

/// Whether the last segment of a tile's row is not full.
static bool hasPartSegment(cta::TileType tile) {
  return tile.getCols() % getSwizzled(tile).segmentCols();
}

/// Whether tiles of `memref` are moved a segment at a time: its rows may end in
/// one.
static bool isMovedBySegments(Type memref, cta::TileType tile) {
  return hasPartSegment(tile) || cta::padsColumns(memref);
}

std::string fa::whyNoTensorMap(Value memref, ValueRange indices,
                               cta::TileType tile) {
  auto type = cast<MemRefType>(memref.getType());
  if (!isa<BlockArgument>(memref))
    return "a tensor map is of a kernel's argument";
  if (type.getRank() < 2 || type.getRank() > kMaxRank)
    return "a tensor map is of 2 to 4 dimensions, but found " +
           std::to_string(type.getRank());
  if (!hasContiguousRows(type))
    return "a tensor map needs contiguous rows";
  Type element = tile.getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return "tiles are of f16, bf16 or f32";
  if (tile.getSwizzle() != kSegmentBytes || tile.getCols() % kColumnUnit)
    return "tiles have columns in multiples of 16, swizzled by 128 bytes";
  if (tile.getRows() % kGroupRows || tile.getRows() > kMaxBoxRows)
    return "tiles have rows in multiples of 8, at most 256, but found " +
           std::to_string(tile.getRows());
  if (cta::padsColumns(type))
    return "";
  std::string segment = std::to_string(getSwizzled(tile).segmentCols());
  if (!cta::isMultipleOf(indices.back(), getSwizzled(tile).segmentCols()))
    return "tiles begin at columns that are known multiples of " + segment;
  if (hasPartSegment(tile) && tile.getCols() != type.getShape().back())
    return "tiles are of segments of " + segment + " columns, or of whole rows";
  return "";
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

namespace {
/// What a load, a copy or a bulk store moves.
struct Transfer {
  Value memref; ///< null: the operation is none of them
  Value rowEnd; ///< null: the memref's
  cta::TileType tile;
};
} // namespace

static Transfer getTransfer(const HopperKernel &kernel, Operation *op) {
  if (auto load = dyn_cast<cta::LoadOp>(op))
    return {load.getSource(), load.getRowEnd(), load.getTile().getType()};
  if (auto copy = dyn_cast<cta::CopyOp>(op))
    return {copy.getSource(), copy.getRowEnd(), copy.getTile().getType()};
  auto store = dyn_cast<cta::StoreOp>(op);
  auto place = kernel.bulkStores.find(op);
  if (!store || place == kernel.bulkStores.end())
    return {};
  return {store.getDestination(), store.getRowEnd(), place->second.tile};
}

/// Leaves out the end of the rows that `op` moves in `memref` where it is the
/// number of rows of an argument, which the map knows.
static void dropKnownEnd(Value memref, MutableOperandRange rowEnd) {
  auto dim = rowEnd.empty() ? memref::DimOp()
                            : rowEnd[0].get().getDefiningOp<memref::DimOp>();
  int64_t rowDim = cast<MemRefType>(memref.getType()).getRank() - 2;
  if (dim && isa<BlockArgument>(dim.getSource()) &&
      dim.getConstantIndex() == rowDim)
    rowEnd.clear();
}

static void dropKnownEnds(HopperKernel &kernel) {
  kernel.func.walk([&](Operation *op) {
    if (auto load = dyn_cast<cta::LoadOp>(op))
      dropKnownEnd(load.getSource(), load.getRowEndMutable());
    else if (auto copy = dyn_cast<cta::CopyOp>(op))
      dropKnownEnd(copy.getSource(), copy.getRowEndMutable());
    else if (kernel.bulkStores.contains(op))
      dropKnownEnd(cast<cta::StoreOp>(op).getDestination(),
                   cast<cta::StoreOp>(op).getRowEndMutable());
  });
}

static cta::TensorMapAttr describeMap(const Transfer &transfer, int64_t rows,
                                      int64_t cols) {
  return cta::TensorMapAttr::get(
      transfer.memref.getContext(),
      cast<BlockArgument>(transfer.memref).getArgNumber(), rows, cols,
      kSegmentBytes);
}

/// The map that moves whole tiles.
static cta::TensorMapAttr describeMap(const Transfer &transfer) {
  return describeMap(transfer, transfer.tile.getRows(),
                     transfer.tile.getCols());
}

/// The map that moves `rows` rows of a segment.
static cta::TensorMapAttr describeRows(const Transfer &transfer, int64_t rows) {
  cta::TileType tile = transfer.tile;
  bool isBySegments = isMovedBySegments(transfer.memref.getType(), tile);
  return describeMap(transfer, rows,
                     isBySegments ? tile.getCols()
                                  : getSwizzled(tile).segmentCols());
}

void fa::addTensorMaps(HopperKernel &kernel) {
  gpu::GPUFuncOp func = kernel.func;
  MLIRContext *context = func.getContext();
  // 1. Which maps there are.
  dropKnownEnds(kernel);
  llvm::SetVector<Attribute> maps;
  func.walk([&](Operation *op) {
    Transfer transfer = getTransfer(kernel, op);
    if (!transfer.memref)
      return;
    maps.insert(describeMap(transfer));
    if (transfer.rowEnd)
      for (int64_t rows : {kGroupRows, int64_t(1)})
        maps.insert(describeRows(transfer, rows));
  });
  // 2. A parameter for each.
  auto pointer = LLVM::LLVMPointerType::get(context);
  for (Attribute map : maps) {
    unsigned number = func.getNumArguments();
    (void)func.insertArgument(number, pointer, DictionaryAttr(), func.getLoc());
    kernel.tensorMaps[map] = func.getArgument(number);
  }
  if (!maps.empty())
    func->setAttr(cta::kTensorMapsAttr,
                  ArrayAttr::get(context, maps.getArrayRef()));
}

MappedTile fa::getTensorMap(const HopperKernel &kernel, Operation *op) {
  Transfer transfer = getTransfer(kernel, op);
  MappedTile mapped;
  mapped.map = kernel.tensorMaps.lookup(describeMap(transfer));
  mapped.tile = transfer.tile;
  mapped.isBySegments =
      isMovedBySegments(transfer.memref.getType(), transfer.tile);
  mapped.rowEnd = transfer.rowEnd;
  if (transfer.rowEnd) {
    mapped.groupMap =
        kernel.tensorMaps.lookup(describeRows(transfer, kGroupRows));
    mapped.rowMap = kernel.tensorMaps.lookup(describeRows(transfer, 1));
  }
  return mapped;
}

/// The bytes of a tensor map, and how its parameter is aligned.
static constexpr int64_t kMapBytes = 128;
static constexpr int64_t kMapAlignment = 64;

void fa::markTensorMaps(gpu::GPUModuleOp module) {
  OpBuilder b(module.getContext());
  auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), kMapBytes);
  for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
    auto maps = func->getAttrOfType<ArrayAttr>(cta::kTensorMapsAttr);
    if (!maps)
      continue;
    for (unsigned n = func.getNumArguments() - maps.size();
         n < func.getNumArguments(); ++n) {
      func.setArgAttr(n, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(bytes));
      func.setArgAttr(n, LLVM::LLVMDialect::getAlignAttrName(),
                      b.getI64IntegerAttr(kMapAlignment));
      func.setArgAttr(n, NVVM::NVVMDialect::getGridConstantAttrName(),
                      b.getUnitAttr());
    }
  }
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

namespace {
/// Starts one instruction with a map, coordinates, and the place in shared
/// memory.
using IssueFn = function_ref<void(ImplicitLocOpBuilder &b, Value map,
                                  ValueRange coordinates, Value place)>;

/// The instructions that move a tile between the tensor and shared memory.
class TileMover {
public:
  TileMover(const MappedTile &mapped, ValueRange indices, Value address,
            bool fills, IssueFn issue)
      : mapped(mapped), indices(indices), address(address), fills(fills),
        issue(issue), swizzled(getSwizzled(mapped.tile)) {}

  /// Moves the tile, or what it has of rows before its end.
  void move(ImplicitLocOpBuilder &b) const;

private:
  SmallVector<Value> buildCoordinates(ImplicitLocOpBuilder &b, int64_t segment,
                                      Value row) const;
  void moveWhole(ImplicitLocOpBuilder &b) const;
  void moveUntilEnd(ImplicitLocOpBuilder &b, Value row, Value end) const;
  void moveGroup(ImplicitLocOpBuilder &b, Value row, Value left,
                 Value number) const;
  void moveRows(ImplicitLocOpBuilder &b, Value map, Value row,
                Value number) const;
  void moveRowsBefore(ImplicitLocOpBuilder &b, Value map, Value row, Value left,
                      Value number) const;

  const MappedTile &mapped;
  ValueRange indices;
  Value address;
  /// Whether rows past the end are to become 0 in shared memory.
  bool fills;
  IssueFn issue;
  SwizzledTile swizzled;
};
} // namespace

/// The map's coordinates of a segment of the tile at `indices`: of a batch, a
/// head, a row, which `row` (i32) replaces where it is given, and a column, of
/// which the first ones may be missing.
SmallVector<Value> TileMover::buildCoordinates(ImplicitLocOpBuilder &b,
                                               int64_t segment,
                                               Value row) const {
  I32Builder i{b};
  int64_t segmentCols = swizzled.segmentCols();
  Value column = i.fromIndex(indices.back());
  SmallVector<Value> coordinates;
  if (mapped.isBySegments)
    coordinates = {i.add(column, segment * segmentCols), nullptr,
                   i.constant(0)};
  else
    coordinates = {
        i.constant(0), nullptr,
        i.add(b.createOrFold<arith::DivUIOp>(column, i.constant(segmentCols)),
              segment)};
  SmallVector<Value> others;
  for (Value index : llvm::reverse(indices.drop_back()))
    others.push_back(i.fromIndex(index));
  others.resize(kMaxRank - 1, i.constant(0));
  coordinates[1] = row ? row : others[0];
  coordinates.append({others[1], others[2]});
  return coordinates;
}

void TileMover::moveWhole(ImplicitLocOpBuilder &b) const {
  int64_t boxes = mapped.isBySegments ? swizzled.segments() : 1;
  for (int64_t n = 0; n < boxes; ++n)
    issue(b, mapped.map, buildCoordinates(b, n, /*row=*/Value()),
          sharedPointer(b, address, n * swizzled.segmentStride()));
}

/// Moves the rows of one box of `map` from `row` of the tensor on to and from
/// row `number` of the tile (both i32).
void TileMover::moveRows(ImplicitLocOpBuilder &b, Value map, Value row,
                         Value number) const {
  I32Builder i{b};
  Value place = i.add(address, i.mul(number, kSegmentBytes));
  for (int64_t n = 0; n < swizzled.segments(); ++n)
    issue(b, map, buildCoordinates(b, n, row),
          sharedPointer(b, place, n * swizzled.segmentStride()));
}

/// Moves rows as `moveRows` does where at least one is `left` before the end.
/// Else rows that no tensor has are loaded, and none stored.
void TileMover::moveRowsBefore(ImplicitLocOpBuilder &b, Value map, Value row,
                               Value left, Value number) const {
  I32Builder i{b};
  Value isThere =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, left, i.constant(0));
  if (fills)
    return moveRows(
        b, map, arith::SelectOp::create(b, isThere, row, i.constant(kNoRow)),
        number);
  buildGuarded(b, isThere, [&](ImplicitLocOpBuilder &inner) {
    moveRows(inner, map, row, number);
  });
}

/// Runs `then` where `condition` holds, and else `otherwise`.
static void buildEither(ImplicitLocOpBuilder &b, Value condition,
                        function_ref<void(ImplicitLocOpBuilder &)> then,
                        function_ref<void(ImplicitLocOpBuilder &)> otherwise) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
  auto build = [&](Block *block, auto buildBody) {
    auto inner = ImplicitLocOpBuilder::atBlockTerminator(b.getLoc(), block);
    buildBody(inner);
  };
  build(branch.thenBlock(), then);
  build(branch.elseBlock(), otherwise);
}

/// Calls `build` with 0, `step` and so on below `count`, in i32.
static void buildLoop(ImplicitLocOpBuilder &b, int64_t count, int64_t step,
                      function_ref<void(ImplicitLocOpBuilder &, Value)> build) {
  I32Builder i{b};
  auto loop =
      scf::ForOp::create(b, i.constant(0), i.constant(count), i.constant(step));
  auto inner =
      ImplicitLocOpBuilder::atBlockTerminator(b.getLoc(), loop.getBody());
  build(inner, loop.getInductionVar());
}

/// Moves the rows of a group, of which `left` are before the end: none, some,
/// or all.
void TileMover::moveGroup(ImplicitLocOpBuilder &b, Value row, Value left,
                          Value number) const {
  I32Builder i{b};
  Value isSplit =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, i.add(left, -1),
                            i.constant(kGroupRows - 1));
  auto moveEach = [&](ImplicitLocOpBuilder &b, Value n) {
    I32Builder i{b};
    Value rest = arith::SubIOp::create(b, left, n);
    moveRowsBefore(b, mapped.rowMap, i.add(row, n), rest, i.add(number, n));
  };
  buildEither(
      b, isSplit,
      [&](ImplicitLocOpBuilder &b) { buildLoop(b, kGroupRows, 1, moveEach); },
      [&](ImplicitLocOpBuilder &b) {
        moveRowsBefore(b, mapped.groupMap, row, left, number);
      });
}

void TileMover::moveUntilEnd(ImplicitLocOpBuilder &b, Value row,
                             Value end) const {
  buildLoop(b, mapped.tile.getRows(), kGroupRows,
            [&](ImplicitLocOpBuilder &b, Value number) {
              Value first = I32Builder{b}.add(row, number);
              Value left = arith::SubIOp::create(b, end, first);
              moveGroup(b, first, left, number);
            });
}

void TileMover::move(ImplicitLocOpBuilder &b) const {
  if (!mapped.rowEnd)
    return moveWhole(b);
  I32Builder i{b};
  Value row = i.fromIndex(indices[indices.size() - 2]);
  Value end = i.fromIndex(mapped.rowEnd);
  Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                        i.add(row, mapped.tile.getRows()), end);
  buildEither(
      b, isWhole, [&](ImplicitLocOpBuilder &b) { moveWhole(b); },
      [&](ImplicitLocOpBuilder &b) { moveUntilEnd(b, row, end); });
}

void fa::issueTensorLoad(ImplicitLocOpBuilder &b, const MappedTile &mapped,
                         ValueRange indices, Value address, Value barrier) {
  auto cluster = LLVM::LLVMPointerType::get(b.getContext(), 7);
  auto issue = [&](ImplicitLocOpBuilder &b, Value map, ValueRange coordinates,
                   Value place) {
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        b, LLVM::AddrSpaceCastOp::create(b, cluster, place), map, coordinates,
        sharedPointer(b, barrier, 0),
        /*im2colOffsets=*/ValueRange(),
        /*multicastMask=*/Value(), /*l2CacheHint=*/Value(),
        NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  };
  TileMover(mapped, indices, address, /*fills=*/true, issue).move(b);
}

void fa::issueTensorStore(ImplicitLocOpBuilder &b, const MappedTile &mapped,
                          ValueRange indices, Value address) {
  auto issue = [](ImplicitLocOpBuilder &b, Value map, ValueRange coordinates,
                  Value place) {
    NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
        b, map, place, coordinates, /*l2CacheHint=*/Value(),
        NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
  };
  TileMover(mapped, indices, address, /*fills=*/false, issue).move(b);
}
