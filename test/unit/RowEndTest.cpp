//===- RowEndTest.cpp - Tiles whose rows end early -------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is lowered with a row and an end that are constants, so that what
// its loops and branches do folds to a list of boxes: every row of the tile
// must be in one of them, from where it is in the tensor, or from nowhere.
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Cta/IR/Cta.h"
#include "fa/Pipelines/Register.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

using namespace mlir;
using namespace fa;

namespace {

constexpr int64_t kRows = 64, kSegments = 2, kSegmentBytes = 128;
constexpr int64_t kSegmentCols = 64;

/// Loads a tile at row `row` that ends at `end`, uses it, and stores one there.
std::string kernelOf(int64_t cols, int64_t row, int64_t end) {
  std::string text = R"mlir(
!t = !cta.tile<64xCOLSxbf16, swizzle = 128>
!m = memref<?x?xCOLSxbf16, strided<[?, ?, 1]>>
gpu.module @kernels {
  gpu.func @f(%in: !m, %out: !m) kernel {
    %c0 = arith.constant 0 : index
    %row = arith.constant )mlir" +
                     std::to_string(row) + R"mlir( : index
    %end = arith.constant )mlir" +
                     std::to_string(end) + R"mlir( : index
    cta.role "a" teams(%w in 1) warps(4) {
      %a = cta.load each %in[%c0, %row, %c0] until %end : !m -> !t
      %f = cta.mma %a, transpose %a : !t, !t -> !cta.flight<64x64xf32>
      %s = cta.wait %f : !cta.flight<64x64xf32>
      %p = arith.truncf %s : vector<64x64xf32> to vector<64x64xbf16>
      %g = cta.mma %p, %a : vector<64x64xbf16>, !t -> !cta.flight<64xCOLSxf32>
      %r = cta.wait %g : !cta.flight<64xCOLSxf32>
      %o = arith.truncf %r : vector<64xCOLSxf32> to vector<64xCOLSxbf16>
      cta.store %o, %out[%c0, %row, %c0] until %end : vector<64xCOLSxbf16>, !m
    }
    gpu.return
  }
}
)mlir";
  for (size_t at = 0; (at = text.find("xCOLSx", at)) != std::string::npos;)
    text.replace(at, 6, "x" + std::to_string(cols) + "x");
  return text;
}

int64_t constantOf(Value value) {
  APInt constant(64, 0);
  EXPECT_TRUE(matchPattern(value, m_ConstantInt(&constant)));
  return constant.getSExtValue();
}

/// The constant that is added to what else makes up `address`.
int64_t offsetOf(Value address) {
  Operation *op = address.getDefiningOp();
  if (isa<LLVM::AddrSpaceCastOp, LLVM::IntToPtrOp>(op))
    return offsetOf(op->getOperand(0));
  if (auto gep = dyn_cast<LLVM::GEPOp>(op))
    return gep.getRawConstantIndices().front() + offsetOf(gep.getBase());
  APInt constant;
  if (isa<arith::AddIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&constant)))
    return constant.getSExtValue() + offsetOf(op->getOperand(0));
  return 0;
}

/// The row of the tensor that each row of each segment of the tile is moved
/// from or to; none where no box moves it.
using Rows = std::array<std::array<std::optional<int64_t>, kRows>, kSegments>;

/// Adds the rows of one instruction, which lie at `byte` of the tile.
void addBox(Rows &rows, cta::TensorMapAttr map, ValueRange coordinates,
            int64_t byte) {
  // A map of rows that are not of whole segments moves one of them.
  int64_t segments =
      map.getCols() % kSegmentCols ? 1 : map.getCols() / kSegmentCols;
  int64_t first =
      constantOf(coordinates[2]) + constantOf(coordinates[0]) / kSegmentCols;
  for (int64_t segment = 0; segment < segments; ++segment)
    for (int64_t row = 0; row < map.getRows(); ++row) {
      int64_t place = byte / kSegmentBytes + segment * map.getRows() + row;
      EXPECT_EQ(first + segment, place / kRows);
      std::optional<int64_t> &found = rows[place / kRows][place % kRows];
      EXPECT_FALSE(found) << "row " << place % kRows << " is moved twice";
      found = constantOf(coordinates[1]) + row;
    }
}

class RowEnd : public testing::Test {
protected:
  RowEnd() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    registerPasses();
  }

  /// The kernel in its sm_90 form, without loops and branches.
  OwningOpRef<ModuleOp> lower(int64_t cols, int64_t row, int64_t end) {
    auto module = parseSourceString<ModuleOp>(kernelOf(cols, row, end),
                                              ParserConfig(&context));
    PassManager lowering(&context);
    EXPECT_TRUE(succeeded(parsePassPipeline(
        "lower-to-nvvm{chip=sm_90a tiles-only},canonicalize", lowering)));
    EXPECT_TRUE(succeeded(lowering.run(*module)));
    SmallVector<scf::ForOp> loops;
    module->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      EXPECT_TRUE(succeeded(loopUnrollFull(loop)));
    PassManager folding(&context);
    EXPECT_TRUE(
        succeeded(parsePassPipeline("canonicalize,cse,canonicalize", folding)));
    EXPECT_TRUE(succeeded(folding.run(*module)));
    return module;
  }

  /// What its loads, or its stores, move.
  template <typename Op> Rows find(ModuleOp module) {
    auto func = *(*module.getOps<gpu::GPUModuleOp>().begin())
                     .getOps<gpu::GPUFuncOp>()
                     .begin();
    auto maps = func->getAttrOfType<ArrayAttr>(cta::kTensorMapsAttr);
    unsigned first = func.getNumArguments() - maps.size();
    Rows rows;
    std::optional<int64_t> tile;
    func.walk([&](Op op) {
      auto map = cast<BlockArgument>(op.getTmaDescriptor());
      int64_t byte = offsetOf(op->getOperand(placeOf(op)));
      if (!tile)
        tile = byte;
      addBox(rows, cast<cta::TensorMapAttr>(maps[map.getArgNumber() - first]),
             op.getCoordinates(), byte - *tile);
    });
    return rows;
  }

  static unsigned placeOf(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp) {
    return 0;
  }
  static unsigned placeOf(NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp) {
    return 1;
  }

  MLIRContext context;
};

/// Rows before the end are moved from or to their place in the tensor. Others
/// are loaded from rows that it has not, and stored nowhere.
void expectRows(const Rows &rows, int64_t row, int64_t end, bool isLoad) {
  for (const auto &segment : rows)
    for (int64_t n = 0; n < kRows; ++n) {
      const bool isThere = row + n < end;
      ASSERT_EQ(segment[n].has_value(), isThere || isLoad) << "row " << n;
      if (isThere) {
        EXPECT_EQ(*segment[n], row + n);
      } else if (isLoad) {
        EXPECT_LT(*segment[n], 0);
      }
    }
}

TEST_F(RowEnd, EveryRowIsMovedOnce) {
  const int64_t row = 3;
  for (int64_t cols : {128, 80})
    for (int64_t end : {0, 3, 4, 10, 11, 12, 19, 59, 65, 66, 67, 1000}) {
      SCOPED_TRACE(std::to_string(cols) + " columns, end " +
                   std::to_string(end));
      OwningOpRef<ModuleOp> module = lower(cols, row, end);
      expectRows(find<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(*module),
                 row, end, /*isLoad=*/true);
      expectRows(find<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(*module), row,
                 end, /*isLoad=*/false);
    }
}

} // namespace
