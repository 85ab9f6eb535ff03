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
// of another: the map then has rows and ends as two dimensions that both go
// from row to row, and the place at which a tile begins in the one follows from
// the other: {column, rows + row - end, end, head, batch}.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "GlobalMatrix.h"
#include "Hopper.h"
#include "fa/Dialect/Cta/IR/Multiples.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fa;

/// The most rows of a map's box, and dimensions of a tensor that has one.
static constexpr int64_t kMaxBoxRows = 256;
/// What a tile's columns are multiples of: the depth of a product.
static constexpr int64_t kColumnUnit = 16;
static constexpr int64_t kMaxRank = 4;

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
  if (tile.getRows() % 8 || tile.getRows() > kMaxBoxRows)
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

static cta::TensorMapAttr describeMap(const Transfer &transfer) {
  return cta::TensorMapAttr::get(
      transfer.memref.getContext(),
      cast<BlockArgument>(transfer.memref).getArgNumber(),
      transfer.tile.getRows(), transfer.tile.getCols(), kSegmentBytes,
      bool(transfer.rowEnd));
}

void fa::addTensorMaps(HopperKernel &kernel) {
  gpu::GPUFuncOp func = kernel.func;
  MLIRContext *context = func.getContext();
  // 1. Which maps there are.
  dropKnownEnds(kernel);
  llvm::SetVector<Attribute> maps;
  func.walk([&](Operation *op) {
    Transfer transfer = getTransfer(kernel, op);
    if (transfer.memref)
      maps.insert(describeMap(transfer));
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
  return {kernel.tensorMaps.lookup(describeMap(transfer)), transfer.tile,
          transfer.rowEnd ||
              isMovedBySegments(transfer.memref.getType(), transfer.tile),
          transfer.memref, transfer.rowEnd};
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

/// Changes the coordinates of rows and of what lies behind them to those of
/// rows that end where the tile's do.
static void addRowEnd(ImplicitLocOpBuilder &b, const MappedTile &mapped,
                      int64_t rowDim, MutableArrayRef<Value> coordinates) {
  I32Builder i{b};
  auto data = memref::ExtractStridedMetadataOp::create(b, mapped.memref);
  Value rows = i.fromIndex(data.getSizes()[rowDim]);
  Value end = i.fromIndex(mapped.rowEnd);
  Value before = arith::SubIOp::create(b, rows, end);
  coordinates[1] = arith::AddIOp::create(b, before, coordinates[1]);
  coordinates[2] = end;
}

/// The map's coordinates of segment `number` of the tile at `indices`: of a
/// batch, a head, a row and a column, of which the first ones may be missing.
static SmallVector<Value> buildMapCoordinates(ImplicitLocOpBuilder &b,
                                              const MappedTile &mapped,
                                              ValueRange indices,
                                              int64_t number) {
  I32Builder i{b};
  int64_t segmentCols = getSwizzled(mapped.tile).segmentCols();
  Value column = i.fromIndex(indices.back());
  SmallVector<Value> coordinates;
  if (mapped.isBySegments)
    coordinates = {i.add(column, number * segmentCols), nullptr, i.constant(0)};
  else
    coordinates = {
        i.constant(0), nullptr,
        b.createOrFold<arith::DivUIOp>(column, i.constant(segmentCols))};
  SmallVector<Value> others;
  for (Value index : llvm::reverse(indices.drop_back()))
    others.push_back(i.fromIndex(index));
  others.resize(kMaxRank - 1, i.constant(0));
  coordinates[1] = others[0];
  coordinates.append({others[1], others[2]});
  if (mapped.rowEnd)
    addRowEnd(b, mapped, indices.size() - 2, coordinates);
  return coordinates;
}

/// Calls `issue` with the coordinates and the place in shared memory of each
/// instruction that moves the tile.
static void
forEachBox(ImplicitLocOpBuilder &b, const MappedTile &mapped,
           ValueRange indices, Value address,
           function_ref<void(ValueRange coordinates, Value)> issue) {
  SwizzledTile swizzled = getSwizzled(mapped.tile);
  int64_t boxes = mapped.isBySegments ? swizzled.segments() : 1;
  for (int64_t n = 0; n < boxes; ++n)
    issue(buildMapCoordinates(b, mapped, indices, n),
          sharedPointer(b, address, n * swizzled.segmentStride()));
}

void fa::issueTensorLoad(ImplicitLocOpBuilder &b, const MappedTile &mapped,
                         ValueRange indices, Value address, Value barrier) {
  auto cluster = LLVM::LLVMPointerType::get(b.getContext(), 7);
  auto issue = [&](ValueRange coordinates, Value place) {
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        b, LLVM::AddrSpaceCastOp::create(b, cluster, place), mapped.map,
        coordinates, sharedPointer(b, barrier, 0),
        /*im2colOffsets=*/ValueRange(),
        /*multicastMask=*/Value(), /*l2CacheHint=*/Value(),
        NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  };
  forEachBox(b, mapped, indices, address, issue);
}

void fa::issueTensorStore(ImplicitLocOpBuilder &b, const MappedTile &mapped,
                          ValueRange indices, Value address) {
  auto issue = [&](ValueRange coordinates, Value place) {
    NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
        b, mapped.map, place, coordinates, /*l2CacheHint=*/Value(),
        NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
  };
  forEachBox(b, mapped, indices, address, issue);
}
