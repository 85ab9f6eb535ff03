//===- KernelEmitter.h - One kernel from one parallel loop ---- -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_LINALGTOCTA_KERNELEMITTER_H
#define FA_LIB_CONVERSION_LINALGTOCTA_KERNELEMITTER_H

#include "DimClasses.h"
#include "TileAccess.h"

#include "fa/Conversion/LinalgToCta/LinalgToCta.h"
#include "fa/Schedule/Schedule.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace fa {

/// The sizes of a product on a team's fragments.
struct Product {
  int64_t rows, columns, depth;
  bool isTransposed; ///< B is [n, k]
  bool isPartial;    ///< teams divide the depth
};

/// Walks a function of one forall and emits the same work for a thread block.
/// Whole tensors become memrefs, tiles of 16-bit elements that are loaded
/// shared tiles, all other tiles fragments of one team.
class KernelEmitter {
public:
  KernelEmitter(mlir::OpBuilder &builder, mlir::func::FuncOp function,
                mlir::scf::ForallOp loop, TeamShape shape, Partition partition)
      : builder(builder), function(function), loop(loop), shape(shape),
        partition(partition), classes(loop) {}

  mlir::FailureOr<mlir::gpu::GPUFuncOp> emit();

private:
  // The frame: signature, sizes, grid, teams.
  mlir::FailureOr<mlir::OpResult> loopResult(mlir::OpOperand &returned);
  mlir::FailureOr<mlir::gpu::GPUFuncOp> emitSignature();
  mlir::LogicalResult mapResults(mlir::gpu::GPUFuncOp kernel);
  mlir::LogicalResult emitPreamble();
  mlir::LogicalResult divideTiles();
  mlir::FailureOr<unsigned>
  divideWritten(mlir::OffsetSizeAndStrideOpInterface insert, mlir::Value before,
                llvm::function_ref<bool(int64_t, const PositionSum &)> isCut);
  mlir::FailureOr<unsigned> divideResults();
  mlir::FailureOr<unsigned> divideState();
  mlir::FailureOr<unsigned> divideKeys();
  mlir::LogicalResult divide(mlir::Value tile, int64_t dim);
  mlir::LogicalResult emitGrid(mlir::gpu::GPUFuncOp kernel);

  // The body.
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation &op);
  mlir::LogicalResult emitScalarOp(mlir::Operation &op);
  mlir::LogicalResult emitLoad(mlir::Value tile);
  mlir::LogicalResult emitSharedLoad(mlir::Value tile, const TileAccess &access,
                                     mlir::Value whole);
  mlir::LogicalResult emitFetch(mlir::Value tile, const TileAccess &access,
                                mlir::Value whole);
  mlir::LogicalResult emitLoop(mlir::scf::ForOp op);
  mlir::LogicalResult emitContraction(mlir::linalg::LinalgOp op);
  mlir::LogicalResult emitGeneric(mlir::linalg::GenericOp op);
  mlir::FailureOr<mlir::Value> emitProduct(mlir::linalg::LinalgOp op,
                                           const Product &product);
  mlir::LogicalResult emitStores();
  mlir::LogicalResult emitStore(mlir::OffsetSizeAndStrideOpInterface insert,
                                mlir::Value memref);
  mlir::LogicalResult emitInsert(mlir::tensor::InsertSliceOp op);

  // Elements.
  mlir::LogicalResult findElementOutputs();
  bool isElementOutput(mlir::Value tensor) const {
    return elementOutputs.contains(tensor);
  }
  mlir::LogicalResult emitElement(mlir::tensor::InsertOp op);

  // Branches.
  static bool reducesFlags(mlir::linalg::GenericOp op);
  mlir::LogicalResult emitFlagsOfRows(mlir::linalg::GenericOp op);
  mlir::LogicalResult emitBranch(mlir::scf::IfOp op);
  mlir::LogicalResult emitBranchOfTeam(mlir::scf::IfOp op, mlir::Value flags,
                                       mlir::TypeRange types);
  mlir::LogicalResult emitBranchOfAll(mlir::scf::IfOp op, mlir::Value flags,
                                      mlir::TypeRange types);
  template <typename Yield>
  mlir::LogicalResult emitBranchRegion(mlir::Region &source,
                                       mlir::Region &target,
                                       mlir::TypeRange types);
  mlir::FailureOr<mlir::Value> branchValue(mlir::Value value, mlir::Type type);

  // Teams that share rows of a tensor which they write and read.
  void meet(mlir::Location loc);
  void noteMeeting() { stored.clear(), fetched.clear(); }
  void meetIfPending(mlir::Location loc);

  // Tiles.
  mlir::Value globalOf(mlir::Value tensor);
  bool hasDividedDim(mlir::Value tile);
  int64_t teamSize(int64_t size, bool isDivided) const {
    return isDivided ? size / shape.teams : size;
  }
  mlir::VectorType fragmentType(mlir::Value tile);
  mlir::FailureOr<mlir::Value> fragment(mlir::Value tile,
                                        llvm::ArrayRef<int64_t> shape);
  mlir::Value teamOffset(int64_t size, mlir::Location loc);
  mlir::Value buildSum(const PositionSum &sum, mlir::Location loc);
  llvm::SmallVector<mlir::Value> accessIndices(const TileAccess &access,
                                               mlir::Value tile);
  mlir::Value rowEnd(const TileAccess &access, int64_t tileRank);
  bool isLoaded(mlir::tensor::ExtractSliceOp slice);

  mlir::OpBuilder &builder;
  mlir::func::FuncOp function;
  mlir::scf::ForallOp loop;
  TeamShape shape;
  Partition partition;
  DimClasses classes;
  mlir::IRMapping mapping; ///< scalars, memrefs of whole tensors, fragments
  mlir::IRMapping sharedTiles;
  /// Memrefs that are stored to, and the tensors that they were before.
  llvm::DenseMap<mlir::Value, mlir::Value> outputs;
  /// Memrefs of which teams have stored, or read, rows that others share, since
  /// all teams met.
  llvm::SmallDenseSet<mlir::Value> stored, fetched;
  mlir::Value team; ///< index of the team
  /// Tensors that are a slice of an output from their beginning on, whose
  /// elements are stored one by one.
  llvm::DenseMap<mlir::Value, mlir::tensor::ParallelInsertSliceOp>
      elementOutputs;
};

} // namespace fa

#endif // FA_LIB_CONVERSION_LINALGTOCTA_KERNELEMITTER_H
