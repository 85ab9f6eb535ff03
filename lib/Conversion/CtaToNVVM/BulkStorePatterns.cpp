//===- BulkStorePatterns.cpp - Fragments by tensor map stores -------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A 16-bit fragment goes through the swizzled tile in shared memory that the
// layout found for it: the team writes it by stmatrix, and one thread's one
// instruction stores it, leaving out the rows from the end on.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Hopper.h"

using namespace mlir;
using namespace fa;

namespace {
struct ConvertBulkStore : OpConversionPattern<cta::StoreOp> {
  ConvertBulkStore(const FragmentTypeConverter &converter, MLIRContext *context,
                   const HopperKernel &kernel)
      : OpConversionPattern(converter, context, /*benefit=*/2),
        converter(converter), kernel(kernel) {}

  LogicalResult
  matchAndRewrite(cta::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto place = kernel.bulkStores.find(op);
    if (place == kernel.bulkStores.end())
      return rewriter.notifyMatchFailure(op, "not by a tensor map");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    I32Builder i{b};
    const BulkStore &store = place->second;
    FragmentLayout layout = *converter.getLayout(op.getValue().getType());
    Value tile = i.add(kernel.shared, i.add(i.mul(kernel.team, store.teamBytes),
                                            store.offset));
    Value isFirst = isEqual(b, kernel.teamThread, 0);

    // 1. The tile is free: what was stored from it before has been read, and
    // the other warps have read what was loaded into it.
    if (store.isShared && !store.isLoaded)
      buildGuarded(b, isFirst, waitUntilRead);
    if (store.isShared)
      synchronizeTeam(b, kernel);
    // 2. The fragment, seen by what stores it too.
    fillTile(b, layout, tile, toElements(b, adaptor.getValue()));
    fenceAsyncProxy(b);
    synchronizeTeam(b, kernel);
    // 3. The store. What is loaded next into the same tile waits for this.
    buildGuarded(b, isFirst, [&](ImplicitLocOpBuilder &inner) {
      issueTensorStore(inner, getTensorMap(kernel, op), op.getIndices(), tile);
      NVVM::CpAsyncBulkCommitGroupOp::create(inner);
      if (store.isLoaded)
        waitUntilRead(inner);
    });
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void waitUntilRead(ImplicitLocOpBuilder &b) {
    NVVM::CpAsyncBulkWaitGroupOp::create(b, 0u, b.getUnitAttr());
  }

  /// Writes 16 columns at a time, of which each lane holds four pairs: rows g
  /// and g + 8 of both blocks of 8 columns, as stmatrix.x4 takes them.
  void fillTile(ImplicitLocOpBuilder &b, const FragmentLayout &layout,
                Value tile, ArrayRef<Value> elements) const {
    I32Builder i{b};
    SwizzledTile swizzled{layout.rows, layout.cols};
    Value own =
        i.add(tile, i.add(kernel.rowFirstOffset,
                          i.mul(kernel.warp, kSlabRows * kSegmentBytes)));
    constexpr int64_t kPairs = SwizzledTile::kSegmentCols / 16;
    SmallVector<Value> addresses;
    for (int64_t pair = 0; pair < kPairs; ++pair)
      addresses.push_back(i.bitXor(own, pair * 2 * kChunkBytes));
    for (int64_t slab = 0; slab < layout.slabs(); ++slab)
      for (int64_t block = 0; block < layout.blocks(); block += 2) {
        SmallVector<Value> registers;
        for (int64_t n = block; n < block + 2; ++n)
          for (int64_t e = 0; e < 4; e += 2)
            registers.push_back(pack(b, elements[layout.index(slab, n, e)],
                                     elements[layout.index(slab, n, e + 1)]));
        int64_t pair = block / 2;
        int64_t offset = pair / kPairs * swizzled.segmentStride() +
                         layout.rowOffset(slab, 0) * kSegmentBytes;
        NVVM::StMatrixOp::create(
            b, sharedPointer(b, addresses[pair % kPairs], offset), registers,
            NVVM::MMALayout::row,
            NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
            NVVM::LdStMatrixEltType::B16);
      }
  }

  const FragmentTypeConverter &converter;
  const HopperKernel &kernel;
};
} // namespace

void fa::populateBulkStorePatterns(const FragmentTypeConverter &converter,
                                   const HopperKernel &kernel,
                                   RewritePatternSet &patterns) {
  patterns.add<ConvertBulkStore>(converter, patterns.getContext(), kernel);
}
