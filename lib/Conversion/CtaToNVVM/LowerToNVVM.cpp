//===- LowerToNVVM.cpp - From tile programs to NVVM -----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass: fragments to per-thread code by dialect conversion, then upstream's
// passes down to the LLVM dialect.
//
//===----------------------------------------------------------------------===//

#include "Hopper.h"
#include "fa/Conversion/CtaToNVVM/Passes.h"
#include "fa/Dialect/Cta/IR/LaunchPlan.h"
#include "fa/Support/GpuModules.h"
#include "fa/Target/Target.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_LOWERTONVVM
#include "fa/Conversion/CtaToNVVM/Passes.h.inc"
} // namespace fa

using namespace fa;

/// Functions that have no device form unless approximated.
static bool isApproximated(Operation *op) {
  return isa<math::Exp2Op, math::Log2Op, math::ExpOp, math::LogOp, math::TanhOp,
             math::RsqrtOp>(op);
}

/// Functions that the hardware computes exactly.
static bool isExact(Operation *op) {
  return isa<math::AbsFOp, math::FloorOp, math::CeilOp, math::SqrtOp>(op);
}

LogicalResult fa::checkMath(gpu::GPUFuncOp func) {
  WalkResult result = func.walk([](Operation *op) -> WalkResult {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()))
      return WalkResult::advance();
    // Upstream's conversion of math has these.
    if (isa<math::FmaOp, math::CountLeadingZerosOp>(op) || isExact(op))
      return WalkResult::advance();
    auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
    if (isApproximated(op) && fast &&
        arith::bitEnumContainsAll(fast.getFastMathFlagsAttr().getValue(),
                                  arith::FastMathFlags::afn))
      return WalkResult::advance();
    if (isApproximated(op))
      return op->emitOpError("has no device form without fastmath<afn>");
    return op->emitOpError("has no device form; of math there are absf, ceil, "
                           "exp, exp2, floor, fma, log, log2, rsqrt, sqrt and "
                           "tanh");
  });
  return failure(result.wasInterrupted());
}

/// Converts fragments and what is left of the cta dialect by `patterns` and
/// those that all forms share.
static LogicalResult convertFragments(Kernel &kernel,
                                      FragmentTypeConverter &converter,
                                      RewritePatternSet patterns) {
  MLIRContext *context = kernel.func.getContext();
  populateElementwisePatterns(converter, patterns);
  populateVectorPatterns(converter, kernel, patterns);
  populateReadPatterns(converter, kernel, patterns);
  populateStorePatterns(converter, kernel, patterns);
  populateFetchPatterns(converter, kernel, patterns);
  populateLookupPatterns(converter, kernel, patterns);
  populateTeamPatterns(converter, kernel, patterns);

  ConversionTarget target(*context);
  target.addIllegalDialect<cta::CtaDialect>();
  target.addIllegalOp<memref::LoadOp, memref::StoreOp>();
  target.addLegalOp<UnrealizedConversionCastOp>();
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    return converter.isLegal(op) && !isApproximated(op) && !isExact(op);
  });
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  return applyPartialConversion(kernel.func, target, std::move(patterns));
}

/// Teams of any number of warps: mma.sync, cp.async and block barriers.
static LogicalResult lowerToAmpere(gpu::GPUFuncOp func) {
  Kernel kernel;
  kernel.func = func;
  // 1. What there is, and what has no sm_80 form.
  if (failed(analyseKernel(kernel)) || failed(checkMath(func)) ||
      failed(layOutSharedMemory(kernel)))
    return failure();
  FailureOr<RingActions> actions = analyseRings(func);
  if (failed(actions))
    return failure();
  // 2. Threads and coordinates instead of roles and work; stages instead of
  // rings.
  buildKernelFrame(kernel);
  narrowIndices(func);
  expandRings(kernel, *actions);
  // 3. Registers instead of fragments.
  FragmentTypeConverter converter(kernel.warps);
  RewritePatternSet patterns(func.getContext());
  populateMmaPatterns(converter, kernel, patterns);
  populateMemoryPatterns(converter, kernel, patterns);
  return convertFragments(kernel, converter, std::move(patterns));
}

/// Teams of one warpgroup: wgmma, tensor maps, mbarriers and roles.
static LogicalResult lowerToHopper(gpu::GPUFuncOp func) {
  HopperKernel kernel;
  kernel.func = func;
  // 1. What there is, what has no sm_90 form, and where it all goes.
  if (failed(analyseHopper(kernel)) || failed(checkMath(func)) ||
      failed(layOutHopper(kernel)))
    return failure();
  addCounter(kernel);
  addTensorMaps(kernel);
  // 2. Threads and coordinates instead of work; barriers instead of rings; and
  // branches instead of roles, which everything before tells apart.
  buildHopperFrame(kernel);
  narrowIndices(func);
  expandBarrierRings(kernel);
  dissolveRoles(kernel);
  setLaunchAttributes(kernel);
  // 3. Registers instead of fragments.
  FragmentTypeConverter converter(kernel.warps);
  RewritePatternSet patterns(func.getContext());
  populateWgmmaPatterns(converter, kernel, patterns);
  populateBulkStorePatterns(converter, kernel, patterns);
  return convertFragments(kernel, converter, std::move(patterns));
}

/// Lets the launch behind `func` begin while `func` runs, and has `func` wait
/// for the one before it: what a launch costs passes meanwhile. Where the
/// target has no such launches, they follow one another by themselves.
static void overlapLaunches(gpu::GPUFuncOp func, const fa::Target &target) {
  if (!target.has(Instruction::GridDepControl)) {
    func->removeAttr(cta::kFollowsAttr);
    return;
  }
  auto b = ImplicitLocOpBuilder::atBlockBegin(func.getLoc(),
                                              &func.getBody().front());
  if (func->hasAttr(cta::kFollowedAttr))
    NVVM::GriddepcontrolOp::create(b,
                                   NVVM::GridDepActionKind::launch_dependents);
  if (func->hasAttr(cta::kFollowsAttr))
    NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::wait);
}

LogicalResult fa::lowerTiles(gpu::GPUFuncOp func, const fa::Target &target) {
  bool isHopper = target.has(Instruction::Wgmma) && hasWarpgroups(func);
  if (failed(isHopper ? lowerToHopper(func) : lowerToAmpere(func)))
    return failure();
  overlapLaunches(func, target);
  return success();
}

/// Cleans per-thread code.
static void buildCleanupPipeline(OpPassManager &pm) {
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Upstream's way from per-thread code to the LLVM dialect.
static void buildLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  // Before the GPU's patterns, which would call libdevice for maxnumf.
  pm.addPass(createArithToLLVMConversionPass());
  ConvertGpuOpsToNVVMOpsOptions gpu;
  gpu.indexBitwidth = 64;
  pm.addPass(createConvertGpuOpsToNVVMOps(gpu));
  pm.addPass(createConvertNVVMToLLVMPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

namespace {
struct LowerToNVVM : public fa::impl::LowerToNVVMBase<LowerToNVVM> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                    LLVM::LLVMDialect, memref::MemRefDialect, NVVM::NVVMDialect,
                    scf::SCFDialect, vector::VectorDialect>();
    OpPassManager pm(gpu::GPUModuleOp::getOperationName());
    buildCleanupPipeline(pm);
    buildLLVMPipeline(pm);
    pm.getDependentDialects(registry);
  }

  void runOnOperation() override {
    const fa::Target *target = fa::Target::lookup(chip);
    if (!target) {
      getOperation()->emitError("unknown chip '")
          << chip << "', expected one of " << fa::Target::listNames();
      return signalPassFailure();
    }
    SmallVector<gpu::GPUFuncOp> kernels =
        findKernels(getOperation(), "--lower-to-nvvm");
    llvm::SetVector<Operation *> modules;
    for (gpu::GPUFuncOp func : kernels) {
      modules.insert(func->getParentOfType<gpu::GPUModuleOp>());
      if (failed(lowerTiles(func, *target)))
        return signalPassFailure();
    }
    if (failed(run(buildCleanupPipeline, modules.getArrayRef())))
      return signalPassFailure();
    for (gpu::GPUFuncOp func : kernels) {
      sinkAddresses(func);
      repeatFreeOperations(func);
    }
    if (tilesOnly)
      return;
    if (failed(run(buildLLVMPipeline, modules.getArrayRef())))
      return signalPassFailure();
    for (Operation *module : modules)
      markTensorMaps(cast<gpu::GPUModuleOp>(module));
  }

private:
  LogicalResult run(void (*build)(OpPassManager &),
                    ArrayRef<Operation *> modules) {
    OpPassManager pm(gpu::GPUModuleOp::getOperationName());
    build(pm);
    for (Operation *module : modules)
      if (failed(runPipeline(pm, module)))
        return failure();
    return success();
  }
};
} // namespace
