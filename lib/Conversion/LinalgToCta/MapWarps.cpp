//===- MapWarps.cpp - The pass --map-warps -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "MaskLimits.h"

#include "fa/Conversion/LinalgToCta/LinalgToCta.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"
#include "fa/Dialect/Cta/IR/Cta.h"
#include "fa/Dialect/Cta/IR/LaunchPlan.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fa;

namespace fa {
#define GEN_PASS_DEF_MAPWARPS
#include "fa/Conversion/LinalgToCta/Passes.h.inc"
} // namespace fa

FailureOr<gpu::GPUFuncOp> fa::mapToThreadBlock(OpBuilder &builder,
                                               func::FuncOp function,
                                               TeamShape shape,
                                               Partition partition) {
  auto loops = llvm::to_vector(function.getBody().getOps<scf::ForallOp>());
  if (loops.size() != 1 || !function.getBody().hasOneBlock())
    return function.emitError("--map-warps takes functions of one scf.forall "
                              "over tiles, found ")
           << loops.size() << " (run --interchange first)";
  return KernelEmitter(builder, function, loops.front(), shape, partition)
      .emit();
}

/// The largest block that the hardware starts.
static constexpr int64_t kMaxThreads = 1024;

namespace {
struct MapWarpsPass : public fa::impl::MapWarpsBase<MapWarpsPass> {
  using Base::Base;

  void runOnOperation() override {
    modules.clear();
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (attn::getSchedule(function))
        functions.push_back(function);
    if (functions.empty())
      getOperation().emitWarning("--map-warps found no function with a "
                                 "schedule (run --choose-schedule first)");
    for (func::FuncOp function : functions)
      if (failed(mapFunction(function)))
        return signalPassFailure();
    for (gpu::GPUModuleOp module : modules)
      if (failed(tidy(module)))
        return signalPassFailure();
  }

private:
  LogicalResult mapFunction(func::FuncOp function) {
    // No canonicalisation here: it would fold loops of one block away, and with
    // them what says which dimension is cut in blocks.
    Schedule schedule = *attn::getSchedule(function);
    if (std::optional<std::string> why = findRangeViolation(schedule))
      return function.emitError("its schedule has no thread block: ") << *why;
    if (schedule.threads() > kMaxThreads)
      return function.emitError("its schedule has no thread block: at most ")
             << kMaxThreads << " threads, found " << schedule.teams
             << " teams of " << schedule.warps << " warps";
    OpBuilder builder(function);
    gpu::GPUModuleOp module = moduleOf(function);
    modules.insert(module);
    builder.setInsertionPointToEnd(module.getBody());
    gpu::GPUFuncOp before;
    for (auto kernel : module.getOps<gpu::GPUFuncOp>())
      before = kernel;
    FailureOr<gpu::GPUFuncOp> kernel =
        mapToThreadBlock(builder, function, {schedule.teams, schedule.warps},
                         schedule.partition);
    if (failed(kernel))
      return failure();
    normalizeMasks(*kernel);
    (*kernel)->setAttr(attn::kScheduleAttrName,
                       function->getAttr(attn::kScheduleAttrName));
    (*kernel)->setAttr(cta::kStagesAttr,
                       builder.getI64IntegerAttr(schedule.stages));
    if (Attribute prepares = function->removeAttr(cta::kPreparesAttr))
      (*kernel)->setAttr(cta::kPreparesAttr, prepares);
    ++numKernels;
    if (!function->hasAttr(cta::kPlanAttr)) {
      function.erase();
      return success();
    }
    // A plan calls its kernels in the order of their functions.
    if (before) {
      before->setAttr(cta::kFollowedAttr, builder.getUnitAttr());
      (*kernel)->setAttr(cta::kFollowsAttr, builder.getUnitAttr());
    }
    declareKernel(function, module);
    return success();
  }

  /// The module for the kernel of `function`: that of its plan, or its own.
  gpu::GPUModuleOp moduleOf(func::FuncOp function) {
    auto plan = function->getAttrOfType<StringAttr>(cta::kPlanAttr);
    std::string name =
        ((plan ? plan.getValue() : function.getName()) + "_kernels").str();
    if (auto module = getOperation().lookupSymbol<gpu::GPUModuleOp>(name))
      return module;
    OpBuilder builder(function);
    return gpu::GPUModuleOp::create(builder, function.getLoc(), name);
  }

  /// Leaves of `function` what the plan calls: a name for the kernel.
  static void declareKernel(func::FuncOp function, gpu::GPUModuleOp module) {
    function.getBody().dropAllReferences();
    function.getBody().getBlocks().clear();
    function->removeAttr(attn::kScheduleAttrName);
    function->removeAttr(cta::kPlanAttr);
    auto kernel =
        SymbolRefAttr::get(module.getSymNameAttr(),
                           FlatSymbolRefAttr::get(function.getSymNameAttr()));
    function->setAttr(cta::kKernelAttr, kernel);
  }

  /// The offsets of tiles that were cut short are gone; what is left of affine
  /// arithmetic becomes plain.
  LogicalResult tidy(gpu::GPUModuleOp module) {
    OpPassManager after(gpu::GPUModuleOp::getOperationName());
    after.addPass(createCanonicalizerPass());
    after.addPass(createLowerAffinePass());
    after.addPass(createCanonicalizerPass());
    after.addPass(createCSEPass());
    return runPipeline(after, module);
  }

  llvm::SetVector<gpu::GPUModuleOp> modules; ///< with new kernels
};
} // namespace
