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
#include "fa/Schedule/Schedule.h"
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

/// The value of the option that leaves rescaling to the problem.
static constexpr llvm::StringLiteral kAutoRescale = "auto";
/// The warps of a warpgroup.
static constexpr int64_t kGroupWarps = 4;
/// The partition by which teams divide keys.
static constexpr llvm::StringLiteral kSplitK = "split_k";

static attn::ChooseScheduleOptions
scheduleOptions(const PipelineOptions &options, const char *target = kAmpere) {
  attn::ChooseScheduleOptions schedule;
  schedule.target = getTarget(options, target);
  schedule.br = options.br;
  schedule.bc = options.bc;
  schedule.teams = options.teams;
  schedule.warps = options.warps;
  schedule.stages = options.stages;
  schedule.moreRegisters = options.moreRegisters;
  schedule.partition = options.partition;
  schedule.rescale = options.rescale;
  return schedule;
}

/// The first `count` choices of levels A to D, which each step has more of.
static constexpr PassChoice getMmaSyncPasses(int count) {
  return {count > 0, count > 1, count > 2, count > 3, count > 4};
}

/// The same for warpgroups, whose copies no pass has to move ahead.
static constexpr PassChoice getWarpgroupPasses(int count) {
  return {true,
          true,
          true,
          true,
          /*prefetch=*/false,
          /*warpgroups=*/true,
          count > 0,
          count > 1,
          count > 2,
          count > 3,
          count > 4};
}

static constexpr PassChoice kFa2Passes = getMmaSyncPasses(5);
static constexpr PassChoice kFa3Passes = getWarpgroupPasses(5);

ArrayRef<AblationStep> fa::getAblationSteps() {
  static constexpr AblationStep steps[] = {
      {"fa1", "split_k", getMmaSyncPasses(0)},
      {"interchange", "split_k", getMmaSyncPasses(1)},
      {"delay-normalization", "split_k", getMmaSyncPasses(2)},
      {"skip-masked-blocks", "split_k", getMmaSyncPasses(3)},
      {"split-q", "split_q", getMmaSyncPasses(3)},
      {"stage-tiles", "split_q", getMmaSyncPasses(4)},
      {"fa2", "split_q", kFa2Passes, /*maySpill=*/false},
      {"warpgroups", "split_q", getWarpgroupPasses(0)},
      {"specialize-warps", "split_q", getWarpgroupPasses(1)},
      {"overlap-softmax", "split_q", getWarpgroupPasses(2)},
      {"ping-pong", "split_q", getWarpgroupPasses(3)},
      {"persistent", "split_q", getWarpgroupPasses(4)},
      {"trim-teams", "split_q", kFa3Passes},
      {"fa3", "split_q", kFa3Passes, /*maySpill=*/false, "auto"}};
  return steps;
}

const AblationStep *fa::findAblationStep(StringRef name) {
  for (const AblationStep &step : getAblationSteps())
    if (step.name == name)
      return &step;
  return nullptr;
}

const AblationStep &fa::getFa2Step() { return *findAblationStep("fa2"); }
const AblationStep &fa::getFa3Step() { return *findAblationStep("fa3"); }

/// Whether kernels follow lists of blocks: the parts of split keys are ranges,
/// and teams that divide keys divide blocks that loops cut.
static bool hasListKernels(const PipelineOptions &options,
                           const PassChoice &passes) {
  return options.splitKV.empty() && passes.interchange &&
         options.partition != kSplitK;
}

/// Whether a state can be kept at its row's first maximum: not where it is
/// normalised in every block, merged from parts, or combined of all teams'.
static bool takesFirstMax(const PipelineOptions &options,
                          const PassChoice &passes) {
  return passes.delayNormalization && options.splitKV.empty() &&
         options.partition != kSplitK;
}

/// What `--fa1` and the pipelines of warpgroups make no kernels of, as far down
/// as `options` go: sequences become loops that a block's loop over all of a
/// head cannot follow, and the few rows that keys are split for fill no
/// warpgroup.
static attn::CheckSupportOptions findRefused(const PipelineOptions &options,
                                             const PassChoice &passes) {
  attn::CheckSupportOptions refused;
  const bool isFa1 = !passes.interchange;
  refused.pipeline = isFa1 ? "fa1" : "fa3";
  refused.caches = isFa1;
  refused.packed = isFa1;
  if (isFa1 || options.level > Level::Cta)
    refused.splitKV = options.splitKV;
  if (passes.warpgroups && options.warps != 0 && options.warps != kGroupWarps)
    refused.warps = std::to_string(options.warps);
  return refused;
}

/// Whether the loading role brings tiles of matrices that scores are made with.
static bool stagesLookups(const PipelineOptions &options,
                          const PassChoice &passes) {
  return passes.specializeWarps && options.stageLookups;
}

/// The options that `--fa2` makes no kernels of together; none: all are made.
static attn::CheckSupportOptions
findRefusedTogether(const PipelineOptions &options) {
  attn::CheckSupportOptions refused;
  refused.pipeline = "fa2";
  if (options.rescale == nameRescale(Rescale::FirstMax)) {
    refused.rescale = options.rescale;
    refused.instead = "rescale=lazy";
  } else {
    refused.instead = "partition=split_q";
  }
  if (!options.splitKV.empty())
    refused.splitKV = options.splitKV;
  if (options.partition == kSplitK &&
      (refused.rescale.empty() || refused.splitKV.empty()))
    refused.partition = options.partition;
  bool isAlone = refused.rescale.empty() + refused.splitKV.empty() +
                     refused.partition.empty() >
                 1;
  return isAlone ? attn::CheckSupportOptions() : refused;
}

/// The check of what is made, where something is not.
static void addCheck(OpPassManager &function, const PipelineOptions &options,
                     const PassChoice &passes) {
  if (options.level <= Level::Arithmetic)
    return;
  if (passes.warpgroups || !passes.interchange) {
    function.addPass(attn::createCheckSupport(findRefused(options, passes)));
    return;
  }
  attn::CheckSupportOptions refused = findRefusedTogether(options);
  if (!refused.pipeline.empty())
    function.addPass(attn::createCheckSupport(refused));
}

/// Levels A to C.
static void buildBlocks(OpPassManager &pm, const PipelineOptions &options,
                        const attn::ChooseScheduleOptions &schedule,
                        const PassChoice &passes) {
  // A to B: blocks.
  OpPassManager &function = pm.nest<func::FuncOp>();
  addCheck(function, options, passes);
  function.addPass(attn::createChooseSchedule(schedule));
  function.addPass(attn::createTile());
  if (passes.interchange) {
    function.addPass(attn::createInterchange());
    attn::FlattenSequencesOptions flatten;
    // Pairs are for shares; what goes to whichever block is free begins with a
    // sequence's longest blocks.
    flatten.pairs = passes.persistent && options.persistent &&
                    options.scheduler == "static";
    function.addPass(attn::createFlattenSequences(flatten));
  } else if (options.level > Level::Arithmetic) {
    function.addPass(attn::createParallelize());
  }
  if (passes.delayNormalization)
    function.addPass(attn::createDelayNormalization());
  if (passes.skipMaskedBlocks) {
    attn::SkipMaskedBlocksOptions skip;
    skip.blockLists =
        options.blockLists &&
        (options.level <= Level::Arithmetic || hasListKernels(options, passes));
    function.addPass(attn::createSkipMaskedBlocks(skip));
  }
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

void fa::buildPipeline(OpPassManager &pm, const PipelineOptions &options,
                       const PassChoice &passes) {
  attn::ChooseScheduleOptions schedule =
      scheduleOptions(options, passes.warpgroups ? kHopper : kAmpere);
  if (passes.warpgroups)
    schedule.policy = "warpgroups";
  schedule.stagesMatrices = stagesLookups(options, passes);
  if (options.rescale == kAutoRescale && !takesFirstMax(options, passes))
    schedule.rescale = nameRescale(Rescale::Always);
  // With the keys outside a state is read, updated and written back.
  schedule.heldStates = passes.interchange ? 1 : 2;
  buildBlocks(pm, options, schedule, passes);
  if (options.level <= Level::Arithmetic)
    return;
  if (passes.warpgroups)
    buildWarpgroupPipeline(pm, options, passes);
  else
    buildKernelPipeline(pm, options, passes);
}

void fa::buildFa1Pipeline(OpPassManager &pm, const PipelineOptions &options) {
  buildPipeline(pm, options, PassChoice());
}

void fa::buildFa2Pipeline(OpPassManager &pm, const PipelineOptions &options) {
  buildPipeline(pm, options, kFa2Passes);
}

void fa::buildFa3Pipeline(OpPassManager &pm, const PipelineOptions &options) {
  buildPipeline(pm, options, kFa3Passes);
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
  cubin.allowSpills = options.allowSpills;
  pm.addPass(createEmitCubin(cubin));
}

void fa::buildKernelPipeline(OpPassManager &pm, const PipelineOptions &options,
                             const PassChoice &passes) {
  // C: a kernel for each parallel loop, where there are several, or where one
  // has workspaces.
  OutlineKernelsOptions outline;
  outline.onlySeveral = options.splitKV.empty() && passes.interchange;
  pm.addPass(createOutlineKernels(outline));

  // C to D: a thread block's program, its copies ahead of their use.
  pm.addPass(createMapWarps());
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createFoldFactors());
  if (passes.stageTiles)
    kernels.addPass(createStageTiles());
  if (passes.prefetch)
    kernels.addPass(createPrefetch());
  buildMachineCode(pm, kernels, options, getTarget(options, kAmpere));
}

void fa::buildWarpgroupPipeline(OpPassManager &pm,
                                const PipelineOptions &options,
                                const PassChoice &passes) {
  // C: a kernel for each parallel loop, where there are several.
  OutlineKernelsOptions outline;
  outline.onlySeveral = true;
  pm.addPass(createOutlineKernels(outline));

  // C to D: a thread block's program, its copies in a role of their own, and
  // the computing teams' products and arithmetic beside one another.
  pm.addPass(createMapWarps());
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createFoldFactors());
  if (stagesLookups(options, passes))
    kernels.addPass(createStageLookups());
  if (passes.specializeWarps)
    kernels.addPass(createDeferRedo());
  kernels.addPass(createFoldSums());
  kernels.addPass(createStageTiles());
  if (passes.specializeWarps)
    kernels.addPass(createSpecializeWarps());
  if (passes.trimTeams)
    kernels.addPass(createTrimTeams());
  if (passes.overlapSoftmax)
    kernels.addPass(createOverlapSoftmax());
  if (passes.pingPong && options.pingPong)
    kernels.addPass(createPingPong());
  if (passes.persistent && options.persistent) {
    PersistentOptions persistent;
    persistent.scheduler = options.scheduler;
    kernels.addPass(createPersistent(persistent));
  }
  if (passes.persistent && options.persistent && options.overlapTiles)
    kernels.addPass(createOverlapTiles());
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
