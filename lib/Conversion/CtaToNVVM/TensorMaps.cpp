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
// coordinates: {0, row, 64-column segment, head, batch}. Where a row is not of
// whole segments an instruction moves one of them, at {column, row, 0, head,
// batch}: what the last one has beyond the row is read as 0 and not written.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "GlobalMatrix.h"
#include "Hopper.h"
#include "fa/Dialect/Cta/IR/Multiples.h"
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

/// Whether the last segment of a tile's row is not full.
static bool hasPartSegment(cta::TileType tile) {
  return tile.getCols() % SwizzledTile::kSegmentCols;
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
  if (!tile.getElementType().isF16() && !tile.getElementType().isBF16())
    return "tiles are of f16 or bf16";
  if (tile.getSwizzle() != kSegmentBytes || tile.getCols() % kColumnUnit)
    return "tiles have columns in multiples of 16, swizzled by 128 bytes";
  if (tile.getRows() % 8 || tile.getRows() > kMaxBoxRows)
    return "tiles have rows in multiples of 8, at most 256, but found " +
           std::to_string(tile.getRows());
  if (!cta::isMultipleOf(indices.back(), SwizzledTile::kSegmentCols))
    return "tiles begin at columns that are known multiples of 64";
  if (hasPartSegment(tile) && tile.getCols() != type.getShape().back())
    return "tiles are of segments of 64 columns, or of whole rows";
  return "";
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// The map by which `op` moves a tile, if it does so.
static cta::TensorMapAttr describeMap(const HopperKernel &kernel,
                                      Operation *op) {
  auto describe = [](Value memref, int64_t rows, int64_t cols) {
    return cta::TensorMapAttr::get(memref.getContext(),
                                   cast<BlockArgument>(memref).getArgNumber(),
                                   rows, cols, kSegmentBytes);
  };
  if (auto load = dyn_cast<cta::LoadOp>(op)) {
    cta::TileType tile = load.getTile().getType();
    return describe(load.getSource(), tile.getRows(), tile.getCols());
  }
  if (auto copy = dyn_cast<cta::CopyOp>(op)) {
    cta::TileType tile = copy.getTile().getType();
    return describe(copy.getSource(), tile.getRows(), tile.getCols());
  }
  auto store = dyn_cast<cta::StoreOp>(op);
  auto place = kernel.bulkStores.find(op);
  if (!store || place == kernel.bulkStores.end())
    return nullptr;
  cta::TileType tile = place->second.tile;
  return describe(store.getDestination(), tile.getRows(), tile.getCols());
}

void fa::addTensorMaps(HopperKernel &kernel) {
  gpu::GPUFuncOp func = kernel.func;
  MLIRContext *context = func.getContext();
  // 1. Which maps there are.
  llvm::SetVector<Attribute> maps;
  func.walk([&](Operation *op) {
    if (cta::TensorMapAttr map = describeMap(kernel, op))
      maps.insert(map);
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

Value fa::getTensorMap(const HopperKernel &kernel, Operation *op) {
  return kernel.tensorMaps.lookup(describeMap(kernel, op));
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

/// The map's coordinates of the tile at `indices`: of a batch, a head, a row
/// and a column, of which the first ones may be missing.
static SmallVector<Value> buildMapCoordinates(ImplicitLocOpBuilder &b,
                                              ValueRange indices) {
  I32Builder i{b};
  Value segment = b.createOrFold<arith::DivUIOp>(
      i.fromIndex(indices.back()), i.constant(SwizzledTile::kSegmentCols));
  SmallVector<Value> coordinates = {i.constant(0), nullptr, segment};
  SmallVector<Value> others;
  for (Value index : llvm::reverse(indices.drop_back()))
    others.push_back(i.fromIndex(index));
  others.resize(kMaxRank - 1, i.constant(0));
  coordinates[1] = others[0];
  coordinates.append({others[1], others[2]});
  return coordinates;
}

/// Calls `issue` with the coordinates and the place in shared memory of each
/// instruction that moves `tile`.
static void
forEachBox(ImplicitLocOpBuilder &b, cta::TileType tile, ValueRange indices,
           Value address,
           function_ref<void(ValueRange coordinates, Value)> issue) {
  SmallVector<Value> coordinates = buildMapCoordinates(b, indices);
  if (!hasPartSegment(tile))
    return issue(coordinates, sharedPointer(b, address, 0));
  SwizzledTile swizzled{tile.getRows(), tile.getCols()};
  for (int64_t segment = 0; segment < swizzled.segments(); ++segment) {
    coordinates[0] =
        I32Builder{b}.constant(segment * SwizzledTile::kSegmentCols);
    issue(coordinates,
          sharedPointer(b, address, segment * swizzled.segmentStride()));
  }
}

void fa::issueTensorLoad(ImplicitLocOpBuilder &b, Value map, cta::TileType tile,
                         ValueRange indices, Value address, Value barrier) {
  auto cluster = LLVM::LLVMPointerType::get(b.getContext(), 7);
  auto issue = [&](ValueRange coordinates, Value place) {
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        b, LLVM::AddrSpaceCastOp::create(b, cluster, place), map, coordinates,
        sharedPointer(b, barrier, 0), /*im2colOffsets=*/ValueRange(),
        /*multicastMask=*/Value(), /*l2CacheHint=*/Value(),
        NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  };
  forEachBox(b, tile, indices, address, issue);
}

void fa::issueTensorStore(ImplicitLocOpBuilder &b, Value map,
                          cta::TileType tile, ValueRange indices,
                          Value address) {
  auto issue = [&](ValueRange coordinates, Value place) {
    NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
        b, map, place, coordinates, /*l2CacheHint=*/Value(),
        NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
  };
  forEachBox(b, tile, indices, address, issue);
}
