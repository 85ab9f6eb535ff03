//===- Pipelines.h - The papers as lists of passes -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_PIPELINES_PIPELINES_H
#define FA_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace fa {

/// The levels of the staircase that a pipeline can stop at.
enum class Level {
  Blocks,     ///< B: attention on blocks
  Arithmetic, ///< C: linalg on tiles
  Cta,        ///< D: what one thread block does
  NVVM,       ///< E: what one thread does
  Cubin,      ///< machine code
};

/// What the papers' pipelines differ in, beside the partition.
struct PassChoice {
  bool interchange = false;        ///< Q blocks outside and in parallel
  bool delayNormalization = false; ///< one division a row
  bool skipMaskedBlocks = false;   ///< no empty blocks, masks in partial ones
  bool stageTiles = false;         ///< loads by rings of stages
  bool prefetch = false;           ///< copies ahead of their use
  bool warpgroups = false;         ///< teams of four warps: wgmma and TMA
  bool specializeWarps = false;    ///< a role that loads
  bool overlapSoftmax = false;     ///< softmax under the next block's products
  bool pingPong = false;           ///< teams take turns on the tensor cores
  bool persistent = false;         ///< blocks that run many items
  bool trimTeams = false;          ///< no blocks of which a team sees nothing
};

/// A step from FlashAttention 1 to 3: one idea more than the step before.
struct AblationStep {
  llvm::StringLiteral name;      ///< also the kernels' `pipeline`
  llvm::StringLiteral partition; ///< split_q or split_k
  PassChoice passes;
  bool maySpill = true; ///< not what ships: a spill is reported, and no error
  llvm::StringLiteral rescale = "always"; ///< of the kernels, if none is given
};

/// The steps, in order: the first one is FlashAttention 1 as its kernels are
/// (teams divide the keys), the last one `--fa3=rescale=auto`.
llvm::ArrayRef<AblationStep> getAblationSteps();

/// The step that is `--fa2`, and the last one.
const AblationStep &getFa2Step();
const AblationStep &getFa3Step();

/// The step of this name, or null.
const AblationStep *findAblationStep(llvm::StringRef name);

/// Options of `--fa1`, `--fa2` and `--fa3`.
struct PipelineOptions : public mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("the GPU, as ptxas names it "
                                            "(default: sm_80, of --fa3 "
                                            "sm_90a)")};
  Option<Level> level{
      *this, "level",
      llvm::cl::desc("the level to stop at (default: the deepest)"),
      llvm::cl::init(Level::Cubin),
      llvm::cl::values(
          clEnumValN(Level::Blocks, "blocks", "B: attention on blocks"),
          clEnumValN(Level::Arithmetic, "arithmetic", "C: linalg on tiles"),
          clEnumValN(Level::Cta, "cta", "D: what one thread block does"),
          clEnumValN(Level::NVVM, "nvvm", "E: what one thread does"),
          clEnumValN(Level::Cubin, "cubin", "machine code"))};
  Option<int64_t> br{*this, "br",
                     llvm::cl::desc("rows of Q in a block (0: the schedule's)"),
                     llvm::cl::init(0)};
  Option<int64_t> bc{
      *this, "bc",
      llvm::cl::desc("rows of K and V in a block (0: the schedule's)"),
      llvm::cl::init(0)};
  Option<int64_t> teams{
      *this, "teams",
      llvm::cl::desc("teams in a thread block (0: the schedule's)"),
      llvm::cl::init(0)};
  Option<int64_t> warps{*this, "warps",
                        llvm::cl::desc("warps in a team (0: the schedule's)"),
                        llvm::cl::init(0)};
  Option<bool> blockLists{
      *this, "block-lists",
      llvm::cl::desc("list the blocks of masks that leave no full block known "
                     "(below level arithmetic not with split keys or --fa1)"),
      llvm::cl::init(true)};
  Option<int64_t> stages{
      *this, "stages",
      llvm::cl::desc(
          "blocks of K and of V in shared memory (0: the schedule's)"),
      llvm::cl::init(0)};
  Option<int64_t> moreRegisters{
      *this, "more-registers",
      llvm::cl::desc("registers of a thread beside those that the schedule's "
                     "model counts: what ptxas spilled"),
      llvm::cl::init(0)};
  Option<std::string> partition{
      *this, "partition",
      llvm::cl::desc("what teams divide: split_q (rows of Q) or split_k (rows "
                     "of K and V; default: split_q)")};
  Option<std::string> rescale{
      *this, "rescale",
      llvm::cl::desc("when a state moves to a new maximum: always, lazy or "
                     "first-max, or auto, which chooses (default: always)")};
  Option<bool> stageLookups{
      *this, "stage-lookups",
      llvm::cl::desc("of --fa3, matrices that scores are made with (a bias) by "
                     "tiles in shared memory"),
      llvm::cl::init(true)};
  Option<bool> pingPong{
      *this, "ping-pong",
      llvm::cl::desc("of --fa3, teams that take turns on the tensor cores"),
      llvm::cl::init(true)};
  Option<bool> persistent{
      *this, "persistent",
      llvm::cl::desc("of --fa3, thread blocks that run many work items"),
      llvm::cl::init(true)};
  Option<std::string> scheduler{
      *this, "scheduler",
      llvm::cl::desc("of --fa3, which block runs which items: static, dynamic, "
                     "or auto, which chooses (default: auto)"),
      llvm::cl::init("auto")};
  Option<bool> overlapTiles{
      *this, "overlap-tiles",
      llvm::cl::desc("of --fa3, the end of a work item beside the beginning of "
                     "the next"),
      llvm::cl::init(false)};
  Option<bool> allowSpills{*this, "allow-spills",
                           llvm::cl::desc("accept kernels that spill"),
                           llvm::cl::init(false)};
  Option<std::string> splitKV{
      *this, "split-kv",
      llvm::cl::desc("parts of the keys, with a kernel that merges them: a "
                     "number, auto, or argument for one of the launch "
                     "(default: one part, no merge)")};
};

/// FlashAttention 1: KV blocks outside, a normalised state in full-size
/// tensors. Below level C, one thread block for each head and batch.
void buildFa1Pipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

/// FlashAttention 2: Q blocks outside and in parallel, one division at the end,
/// masked blocks skipped, rows divided among warps; mma.sync and cp.async.
void buildFa2Pipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Any pipeline from `--fa1` to `--fa3`.
void buildPipeline(mlir::OpPassManager &pm, const PipelineOptions &options,
                   const PassChoice &passes);

/// The second half of a pipeline, from level C on.
void buildKernelPipeline(mlir::OpPassManager &pm,
                         const PipelineOptions &options,
                         const PassChoice &passes);

/// FlashAttention 3: the levels A to C of FlashAttention 2; then a role that
/// loads and teams of warpgroups that compute, softmax under products, turns on
/// the tensor cores, and thread blocks that run many work items.
void buildFa3Pipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

/// The second half of a pipeline of warpgroups, from level C on.
void buildWarpgroupPipeline(mlir::OpPassManager &pm,
                            const PipelineOptions &options,
                            const PassChoice &passes);

/// Registers `--fa1`, `--fa2` and `--fa3`. They stop at `deepest` where their
/// option asks for more: a tool that executes on the CPU stops at level C.
void registerPipelines(Level deepest = Level::Cubin);

} // namespace fa

#endif // FA_PIPELINES_PIPELINES_H
