//===- Hopper.h - What the sm_90 form's parts share ----------- -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel in its sm_90 form, and the parts of that lowering. Teams are
// warpgroups: they are numbered through all roles, and a thread's team follows
// from its number in the block, so that nothing depends on the role once the
// roles have become branches.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_CONVERSION_CTATONVVM_HOPPER_H
#define FA_LIB_CONVERSION_CTATONVVM_HOPPER_H

#include "Lowering.h"
#include "llvm/ADT/MapVector.h"

namespace fa {

/// The warps of a warpgroup.
constexpr int64_t kGroupWarps = 4;

/// A role of the kernel.
struct HopperRole {
  cta::RoleOp op; ///< null once its body stands in the function
  int64_t firstTeam = 0;
  int64_t teams = 1;
  std::optional<int64_t> registers;
  bool isLoader = false; ///< does nothing but fill rings: one thread runs it
  bool marks = false;    ///< marks work items
  /// How many numbers of items it was told in the works so far, i32; null:
  /// none.
  mlir::Value told;
};

/// The stages of a `cta.ring`, or the tile of a `cta.load`, in shared memory.
/// All places are in bytes from its beginning.
struct Staging {
  cta::TileType tile;
  int64_t stages = 1;
  int64_t copies = 1;   ///< how many teams have stages of their own
  int64_t arrivals = 0; ///< that free a stage
  int64_t offset = 0;
  int64_t full = 0;   ///< the first of the barriers that say a stage is full
  int64_t empty = -1; ///< and that it is free; -1 for loads

  int64_t stageBytes() const {
    return llvm::alignTo(tile.getByteSize(), kTileAlignment);
  }
};

/// How a 16-bit fragment goes to global memory by way of shared memory.
struct BulkStore {
  cta::TileType tile;    ///< the fragment's, swizzled
  int64_t firstTeam = 0; ///< of the role that stores
  int64_t offset = 0;    ///< of team 0's (of all roles) tile
  int64_t teamBytes = 0; ///< from one team's to the next one's
  bool isShared = false; ///< the tile is in use at other times too
  bool isLoaded = false; ///< it is one that loads fill
};

/// Which items are to be done again, in shared memory: places in bytes from its
/// beginning.
struct Marks {
  int64_t arrivals = 0; ///< warps that mark
  int64_t barrier = 0;  ///< an mbarrier: all marks are there
  int64_t any = 0;      ///< a word: whether any is
  int64_t items = 0;    ///< the marks, a byte each
};

/// How a thread tells the roles which items the block has: places in bytes from
/// shared memory's beginning.
struct Handout {
  mlir::Value
      counter;       ///< the parameter: two words of global memory, at first 0
  mlir::Value items; ///< i32: how many there are
  /// The extents of the works, in which order numbers of items run through
  /// them, and in groups of how many (i32 or null).
  llvm::SmallVector<mlir::Value> extents;
  cta::WorkOrder kind = cta::WorkOrder::Natural;
  mlir::Value group;
  int64_t readers = 0; ///< warps that are told
  int64_t wanted = 0;  ///< an mbarrier: the role that loads wants the next item
  int64_t full = 0;    ///< mbarriers of the slots: an item is there
  int64_t empty = 0;   ///< and was read
  int64_t told = 0;    ///< the slots' coordinates
  int64_t handed = 0;  ///< those that were handed out, a word each
};
/// So many items may be on their way to the slowest reader.
inline constexpr int64_t kHandoutSlots = 2;
/// An item may have so many coordinates.
inline constexpr int64_t kMaxHandedCoordinates = 4;

/// The kernel being lowered.
struct HopperKernel : Kernel {
  llvm::SmallVector<HopperRole> roles;
  llvm::MapVector<mlir::Operation *, Staging> stagings;
  llvm::DenseMap<mlir::Operation *, BulkStore> bulkStores;
  /// The parameter that holds each tensor map.
  llvm::DenseMap<mlir::Attribute, mlir::Value> tensorMaps;
  /// The named barriers of each `cta.barrier`: the first one's number.
  llvm::DenseMap<mlir::Operation *, int64_t> barriers;
  /// The products that may be in flight after each wait.
  llvm::DenseMap<mlir::Operation *, int64_t> pending;
  std::optional<Marks> marks;     ///< none where no item is marked
  std::optional<Handout> handout; ///< none where shares are fixed
  int64_t barrierBytes = 0;

  bool hasRoles() const { return roles.size() > 1; }
  /// The role that `op` stands in.
  const HopperRole &getRole(mlir::Operation *op) const;
  HopperRole &getRole(mlir::Operation *op) {
    return const_cast<HopperRole &>(std::as_const(*this).getRole(op));
  }
};

/// Whether the sm_90 form can take `func`: all teams are warpgroups.
bool hasWarpgroups(mlir::gpu::GPUFuncOp func);

/// Finds roles and waits, and refuses what has no sm_90 form.
mlir::LogicalResult analyseHopper(HopperKernel &kernel);

/// Gives barriers, rings, loads and stores their places in shared memory.
mlir::LogicalResult layOutHopper(HopperKernel &kernel);

/// Why the tile at `indices` of `memref` cannot be moved by a tensor map; empty
/// where it can.
std::string whyNoTensorMap(mlir::Value memref, mlir::ValueRange indices,
                           cta::TileType tile);
/// Adds the tensor maps of all copies, loads and bulk stores as parameters of
/// the kernel, and lists them in its attribute. Leaves out of those operations
/// what their maps know: an end that is the argument's own.
void addTensorMaps(HopperKernel &kernel);
/// A tensor map, and the tiles that are moved by it.
struct MappedTile {
  mlir::Value map;
  cta::TileType tile;
  /// One instruction with `map` moves a segment, else the tile.
  bool isBySegments = false;
  /// Before which row its rows end; null where they do with the argument's.
  mlir::Value rowEnd;
  /// Where there is a row end: the maps of a few rows and of one row of a
  /// segment, for tiles that it cuts.
  mlir::Value groupMap, rowMap;
};
/// The tensor map of a copy, load or bulk store, which may be a clone of one
/// that was there then.
MappedTile getTensorMap(const HopperKernel &kernel, mlir::Operation *op);
/// Marks the parameters that hold tensor maps, once they are LLVM's.
void markTensorMaps(mlir::gpu::GPUModuleOp module);
/// Starts to load the tile at `indices` to `address`; `barrier` counts its
/// bytes. Both i32.
void issueTensorLoad(mlir::ImplicitLocOpBuilder &b, const MappedTile &mapped,
                     mlir::ValueRange indices, mlir::Value address,
                     mlir::Value barrier);
/// Starts to store the tile at `address`.
void issueTensorStore(mlir::ImplicitLocOpBuilder &b, const MappedTile &mapped,
                      mlir::ValueRange indices, mlir::Value address);

/// Replaces work items by coordinates or loops, makes the barriers, and puts an
/// only role's body in its place.
void buildHopperFrame(HopperKernel &kernel);
/// Makes roles branches over teams.
void dissolveRoles(HopperKernel &kernel);

/// Gives `marks` its place from byte `offset` on; returns the byte behind it.
int64_t placeMarks(Marks &marks, int64_t offset);
/// Clears all marks, before anybody uses them.
void clearMarks(mlir::ImplicitLocOpBuilder &b, const HopperKernel &kernel);
/// Replaces the `cta.mark` ops in `work`, in the block's item `number` (i32).
void expandMarks(const HopperKernel &kernel, cta::WorkOp work,
                 mlir::Value number);
/// The team of `role` will mark no more.
void endMarks(mlir::ImplicitLocOpBuilder &b, const HopperKernel &kernel,
              const HopperRole &role);
/// Waits until no team will.
void waitForMarks(mlir::ImplicitLocOpBuilder &b, const HopperKernel &kernel);
/// Whether any item is marked, and whether item `number` may be: i1.
mlir::Value buildHasMarks(mlir::ImplicitLocOpBuilder &b,
                          const HopperKernel &kernel, const HopperRole &role);
mlir::Value buildIsMarked(mlir::ImplicitLocOpBuilder &b,
                          const HopperKernel &kernel, const HopperRole &role,
                          mlir::Value number);

/// Gives `handout` its place from byte `offset` on; returns the byte behind it.
int64_t placeHandout(Handout &handout, int64_t offset);
/// Adds the counter as a parameter of the kernel, if items are handed out.
void addCounter(HopperKernel &kernel);
/// As `buildItems`, where items go to whichever block is free: those of `role`,
/// or of a marked `work` the same once more.
BlockItem buildHandedItems(mlir::ImplicitLocOpBuilder &b,
                           const HopperKernel &kernel, HopperRole &role,
                           cta::WorkOp work, mlir::ValueRange inits);

/// Puts where `b` is, in the branch of `loader`'s threads, what tells the roles
/// which items they have.
void buildTeller(mlir::ImplicitLocOpBuilder &b, const HopperKernel &kernel,
                 const HopperRole &loader);

/// The thread arrives at the mbarrier at `address` (i32).
void arrive(mlir::ImplicitLocOpBuilder &b, mlir::Value address);
/// One lane arrives for its warp at the mbarrier at `address` (i32).
void arriveForWarp(mlir::ImplicitLocOpBuilder &b, const Kernel &kernel,
                   mlir::Value address);
/// Waits until the phase of this parity (i32) of the mbarrier at `address` is
/// complete.
void waitForPhase(mlir::ImplicitLocOpBuilder &b, mlir::Value address,
                  mlir::Value parity);
/// The thread that stores a team's tiles waits until all are in global memory.
void waitForStores(mlir::ImplicitLocOpBuilder &b, const HopperKernel &kernel,
                   const HopperRole &role);

/// Replaces acquires, copies, consumes, releases and loads by waits and
/// arrivals at barriers and by loads with tensor maps.
void expandBarrierRings(HopperKernel &kernel);

/// The team's threads meet.
void synchronizeTeam(mlir::ImplicitLocOpBuilder &b, const Kernel &kernel);
/// Whether `value` (i32) is `constant`.
mlir::Value isEqual(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                    int64_t constant);

void populateWgmmaPatterns(const FragmentTypeConverter &converter,
                           const HopperKernel &kernel,
                           mlir::RewritePatternSet &patterns);
void populateBulkStorePatterns(const FragmentTypeConverter &converter,
                               const HopperKernel &kernel,
                               mlir::RewritePatternSet &patterns);

} // namespace fa

#endif // FA_LIB_CONVERSION_CTATONVVM_HOPPER_H
