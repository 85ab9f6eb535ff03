//===- Lowering.h - What the lowering's parts share -------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The type converter of fragments, what is known about the kernel, and the
// parts of the lowering.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_CTATONVVM_LOWERING_H
#define FA_LIB_CONVERSION_CTATONVVM_LOWERING_H

#include "fa/Conversion/CtaToNVVM/FragmentLayout.h"
#include "fa/Dialect/Cta/IR/Cta.h"
#include "fa/Dialect/Cta/IR/SharedMemory.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace fa {

using cta::kTileAlignment;

/// Fragments to what one thread holds, tiles to their address (i32) in shared
/// memory, flights to what their fragment becomes.
class FragmentTypeConverter : public mlir::TypeConverter {
public:
  explicit FragmentTypeConverter(int64_t warps);

  /// The layout of a fragment type before conversion.
  std::optional<FragmentLayout> getLayout(mlir::Type type) const;

private:
  int64_t warps;
};

/// The kernel being lowered: its teams, the values that name a thread, and
/// where things lie in shared memory.
struct Kernel {
  mlir::gpu::GPUFuncOp func;
  int64_t teams = 1;
  int64_t warps = 1;

  /// i32 values at the top of the function.
  mlir::Value thread;     ///< in the block
  mlir::Value teamThread; ///< in its team
  mlir::Value lane;       ///< in its warp
  mlir::Value warp;       ///< of the team
  mlir::Value team;
  mlir::Value shared; ///< the address of shared memory

  /// What a lane adds to a tile's address for ldmatrix, with the lanes over
  /// rows first or over columns first; see MmaPatterns.cpp.
  mlir::Value rowFirstOffset, columnFirstOffset;

  /// The first byte of each `cta.load`'s tile, each `cta.ring`'s stages and
  /// each `cta.combine`'s fragments.
  llvm::DenseMap<mlir::Operation *, int64_t> sharedOffset;
  int64_t sharedBytes = 0;

  /// Shared memory that teams have no more use for where a `cta.store` stands.
  struct Scratch {
    int64_t offset;    ///< of the first team's
    int64_t teamBytes; ///< from one team's to the next one's
  };
  llvm::DenseMap<mlir::Operation *, Scratch> storeScratch;

  int64_t threads() const { return teams * warps * kWarpThreads; }
};

/// Finds the role and refuses what has no sm_80 form.
mlir::LogicalResult analyseKernel(Kernel &kernel);

/// Refuses what no form of the lowering knows: vectors that are no fragments of
/// a team of `warps` warps, stores of odd elements, dimensions that a memref
/// does not have.
mlir::LogicalResult checkCommon(mlir::Operation *op, int64_t warps);
/// Refuses what a whole team must do together inside a branch that its warps
/// take each for itself, and what all teams must reach together where there are
/// more.
mlir::LogicalResult checkBranch(cta::IfAnyOp branch, const Kernel &kernel);
/// Refuses math functions for which there is no instruction.
mlir::LogicalResult checkMath(mlir::gpu::GPUFuncOp func);

/// The bytes that the fragments of a `cta.combine` take, and those of one team.
int64_t getCombineBytes(const Kernel &kernel, cta::CombineOp op);

/// Gives each load, ring and combination its place in shared memory.
mlir::LogicalResult layOutSharedMemory(Kernel &kernel);

/// Materialises the values that name a thread, replaces `cta.work` and
/// `cta.role` by their bodies, and sets the launch attributes.
void buildKernelFrame(Kernel &kernel);

/// The steps of it, which the sm_90 form takes too: makes the values that name
/// a thread; replaces `op` by the body of its region, with `arguments` for the
/// block's; reads the sizes of memrefs from their descriptors; sets what the
/// launch and ptxas have to know.
void buildThreadIds(Kernel &kernel);
void inlineBody(mlir::Operation *op, mlir::ValueRange arguments);
void expandDims(mlir::gpu::GPUFuncOp func);
void setLaunchAttributes(Kernel &kernel);

/// A work item that a block runs.
struct BlockItem {
  llvm::SmallVector<mlir::Value> coordinates; ///< of index type
  mlir::Value number; ///< i32: how many the block has run before it
  /// What the loop over the block's items carries, inside of it and behind it,
  /// and its terminator, which does not yield that yet. Null and empty where
  /// the block runs one item.
  llvm::SmallVector<mlir::Value> carried, results;
  mlir::Operation *yield = nullptr;
};

/// The block's work item. Where the block runs many, makes a loop over them and
/// moves `b` into it; the loop carries `inits`. `group` (i32 or null) is how
/// many of the coordinates after the first run before the first one does.
BlockItem buildItems(mlir::ImplicitLocOpBuilder &b, cta::WorkOp work,
                     mlir::Value group, mlir::ValueRange inits = {});
/// How many items of these extents there are, i32.
mlir::Value buildItemCount(mlir::ImplicitLocOpBuilder &b,
                           mlir::ValueRange extents);
/// The coordinates, of index type, of item number `item` (i32) of these extents
/// in the order `kind`.
llvm::SmallVector<mlir::Value>
buildCoordinates(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange extents,
                 cta::WorkOrder kind, mlir::Value item, mlir::Value group);
/// The same for the `group_bytes` of the work's order, from the sizes of the
/// memrefs that loops in `work` copy from; null where there is none.
mlir::Value buildGroup(mlir::ImplicitLocOpBuilder &b, cta::WorkOp work);

/// What `cta.acquire` and `cta.consume` come down to on sm_80.
struct RingAction {
  /// Groups that may stay in flight; none: no wait.
  std::optional<int64_t> wait;
  /// A block barrier, after the wait if there is one.
  bool barrier = false;
  /// For an acquire: the stages acquired before and not consumed yet.
  int64_t distance = 0;
};
using RingActions = llvm::DenseMap<mlir::Operation *, RingAction>;

/// Counts groups and stages along the program, and says what each acquire and
/// consume must do. Reports rings that would wait forever or whose state is
/// not the same each time round a loop.
mlir::FailureOr<RingActions> analyseRings(mlir::gpu::GPUFuncOp func);

/// Replaces acquires, consumes and releases by stage addresses, waits and
/// barriers.
void expandRings(Kernel &kernel, const RingActions &actions);

/// Makes loops and coordinates i32.
void narrowIndices(mlir::gpu::GPUFuncOp func);
/// Moves address arithmetic down to its first use.
void sinkAddresses(mlir::gpu::GPUFuncOp func);
/// Repeats what instructions fold (constant offsets, widenings) in each block
/// that uses it.
void repeatFreeOperations(mlir::gpu::GPUFuncOp func);

void populateElementwisePatterns(const FragmentTypeConverter &converter,
                                 mlir::RewritePatternSet &patterns);
void populateVectorPatterns(const FragmentTypeConverter &converter,
                            const Kernel &kernel,
                            mlir::RewritePatternSet &patterns);
void populateMmaPatterns(const FragmentTypeConverter &converter,
                         const Kernel &kernel,
                         mlir::RewritePatternSet &patterns);
void populateReadPatterns(const FragmentTypeConverter &converter,
                          const Kernel &kernel,
                          mlir::RewritePatternSet &patterns);
void populateMemoryPatterns(const FragmentTypeConverter &converter,
                            const Kernel &kernel,
                            mlir::RewritePatternSet &patterns);
void populateStorePatterns(const FragmentTypeConverter &converter,
                           const Kernel &kernel,
                           mlir::RewritePatternSet &patterns);
void populateFetchPatterns(const FragmentTypeConverter &converter,
                           const Kernel &kernel,
                           mlir::RewritePatternSet &patterns);
void populateLookupPatterns(const FragmentTypeConverter &converter,
                            const Kernel &kernel,
                            mlir::RewritePatternSet &patterns);
void populateTeamPatterns(const FragmentTypeConverter &converter,
                          const Kernel &kernel,
                          mlir::RewritePatternSet &patterns);

} // namespace fa

#endif // FA_LIB_CONVERSION_CTATONVVM_LOWERING_H
