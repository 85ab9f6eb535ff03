//===- Pipelines.cpp - The papers as lists of passes -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Pipelines/Pipelines.h"

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"
#include "fa/Conversion/CtaToNVVM/Passes.h"
#include "fa/Conversion/LinalgToCta/LinalgToCta.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Target/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassRegistry.h"

#include <algorithm>

using namespace mlir;
using namespace fa;

/// The target asked for, or the one that the paper's kernels were for.
static std::string getTarget(const PipelineOptions &options,
                             const char *paper) {
  return options.target.empty() ? paper : options.target.getValue();
}

static constexpr const char *kAmpere = "sm_80";
static constexpr const char *kHopper = "sm_90a";

static attn::ChooseScheduleOptions
scheduleOptions(const PipelineOptions &options, const char *target = kAmpere) {
  attn::ChooseScheduleOptions schedule;
  schedule.target = getTarget(options, target);
  schedule.br = options.br;
  schedule.bc = options.bc;
  schedule.teams = options.teams;
  schedule.warps = options.warps;
  schedule.stages = options.stages;
  schedule.rescale = options.rescale;
  return schedule;
}

void fa::buildFa1Pipeline(OpPassManager &pm, const PipelineOptions &options) {
  // A to B: blocks.
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(attn::createChooseSchedule(scheduleOptions(options)));
  function.addPass(attn::createTile());
  function.addPass(attn::createPadTiles());
  if (options.level == Level::Blocks)
    return;

  // B to C: arithmetic.
  function.addPass(createOnlineSoftmax());
}

/// Levels A to C: Q blocks in parallel, each with its state in a loop over KV
/// blocks.
static void buildBlocks(OpPassManager &pm, const PipelineOptions &options,
                        const attn::ChooseScheduleOptions &schedule) {
  // A to B: blocks.
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(attn::createChooseSchedule(schedule));
  function.addPass(attn::createTile());
  function.addPass(attn::createInterchange());
  function.addPass(attn::createFlattenSequences());
  function.addPass(attn::createDelayNormalization());
  // Kernels cannot follow lists of blocks: their loops take all blocks.
  attn::SkipMaskedBlocksOptions skip;
  skip.blockLists = options.blockLists && options.level <= Level::Arithmetic;
  function.addPass(attn::createSkipMaskedBlocks(skip));
  if (!options.splitKV.empty()) {
    attn::SplitKVOptions split;
    split.splits = options.splitKV;
    function.addPass(attn::createSplitKV(split));
  }
  function.addPass(attn::createPadTiles());
  if (options.level == Level::Blocks)
    return;

  // B to C: arithmetic.
  function.addPass(createOnlineSoftmax());
}

void fa::buildFa2Pipeline(OpPassManager &pm, const PipelineOptions &options) {
  buildBlocks(pm, options, scheduleOptions(options));
  if (options.level > Level::Arithmetic)
    buildKernelPipeline(pm, options);
}

void fa::buildFa3Pipeline(OpPassManager &pm, const PipelineOptions &options) {
  attn::ChooseScheduleOptions schedule = scheduleOptions(options, kHopper);
  schedule.policy = "warpgroups";
  buildBlocks(pm, options, schedule);
  if (options.level > Level::Arithmetic)
    buildWarpgroupPipeline(pm, options);
}

/// D to E and machine code, after the passes of level D on `kernels`.
static void buildMachineCode(OpPassManager &pm, OpPassManager &kernels,
                             const PipelineOptions &options,
                             const std::string &target) {
  if (options.level == Level::Cta)
    return;

  // D to E: a thread's program.
  LowerToNVVMOptions lower;
  lower.chip = target;
  kernels.addPass(createLowerToNVVM(lower));
  if (options.level == Level::NVVM)
    return;

  // E: machine code.
  EmitCubinOptions cubin;
  cubin.chip = target;
  pm.addPass(createEmitCubin(cubin));
}

void fa::buildKernelPipeline(OpPassManager &pm,
                             const PipelineOptions &options) {
  // C: a kernel for each parallel loop, where there are several.
  if (!options.splitKV.empty())
    pm.addPass(createOutlineKernels());

  // C to D: a thread block's program, its copies ahead of their use.
  pm.addPass(createMapWarps());
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createStageTiles());
  kernels.addPass(createPrefetch());
  buildMachineCode(pm, kernels, options, getTarget(options, kAmpere));
}

void fa::buildWarpgroupPipeline(OpPassManager &pm,
                                const PipelineOptions &options) {
  // C to D: a thread block's program, its copies in a role of their own, and
  // the computing teams' products and arithmetic beside one another.
  pm.addPass(createMapWarps());
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createStageTiles());
  kernels.addPass(createSpecializeWarps());
  kernels.addPass(createOverlapSoftmax());
  kernels.addPass(createPingPong());
  kernels.addPass(createPersistent());
  buildMachineCode(pm, kernels, options, getTarget(options, kHopper));
}

void fa::registerPipelines(Level deepest) {
  auto limited = [deepest](auto build) {
    return [=](OpPassManager &pm, const PipelineOptions &options) {
      PipelineOptions copy;
      copy.copyOptionValuesFrom(options);
      copy.level = std::min(options.level.getValue(), deepest);
      build(pm, copy);
    };
  };
  // The registry keeps what it is given.
  static PassPipelineRegistration<PipelineOptions> fa1(
      "fa1",
      "FlashAttention 1: KV blocks outside, normalised state in full-size "
      "tensors",
      limited(buildFa1Pipeline));
  static PassPipelineRegistration<PipelineOptions> fa2(
      "fa2",
      "FlashAttention 2: Q blocks in parallel, one division, masked blocks "
      "skipped; mma.sync and cp.async",
      limited(buildFa2Pipeline));
  static PassPipelineRegistration<PipelineOptions> fa3(
      "fa3",
      "FlashAttention 3: a role that loads, softmax under products, teams that "
      "take turns, persistent blocks; wgmma and TMA",
      limited(buildFa3Pipeline));
}
