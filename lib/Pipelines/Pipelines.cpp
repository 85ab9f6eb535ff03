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

static attn::ChooseScheduleOptions
scheduleOptions(const PipelineOptions &options) {
  attn::ChooseScheduleOptions schedule;
  schedule.target = options.target;
  schedule.br = options.br;
  schedule.bc = options.bc;
  schedule.teams = options.teams;
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

void fa::buildFa2Pipeline(OpPassManager &pm, const PipelineOptions &options) {
  // A to B: blocks.
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(attn::createChooseSchedule(scheduleOptions(options)));
  function.addPass(attn::createTile());
  function.addPass(attn::createInterchange());
  function.addPass(attn::createFlattenSequences());
  function.addPass(attn::createDelayNormalization());
  // Kernels cannot follow lists of blocks: their loops take all blocks.
  attn::SkipMaskedBlocksOptions skip;
  skip.blockLists = options.blockLists && options.level <= Level::Arithmetic;
  function.addPass(attn::createSkipMaskedBlocks(skip));
  function.addPass(attn::createPadTiles());
  if (options.level == Level::Blocks)
    return;

  // B to C: arithmetic.
  function.addPass(createOnlineSoftmax());
  if (options.level != Level::Arithmetic)
    buildKernelPipeline(pm, options);
}

void fa::buildKernelPipeline(OpPassManager &pm,
                             const PipelineOptions &options) {
  // C to D: a thread block's program, its copies ahead of their use.
  pm.addPass(createMapWarps());
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createStageTiles());
  kernels.addPass(createPrefetch());
  if (options.level == Level::Cta)
    return;

  // D to E: a thread's program.
  kernels.addPass(createLowerToNVVM());
  if (options.level == Level::NVVM)
    return;

  // E: machine code.
  EmitCubinOptions cubin;
  cubin.chip = options.target;
  pm.addPass(createEmitCubin(cubin));
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
}
