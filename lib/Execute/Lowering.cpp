//===- Lowering.cpp - From any level that the CPU runs to LLVM -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Lowering.h"

#include "CPUPasses.h"

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"
#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Async/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/ExecutionEngine/AsyncRuntime.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace fa;
using namespace fa::execute;

/// Whether `module` holds an op for which `predicate` is true.
static bool contains(ModuleOp module,
                     function_ref<bool(Operation *)> predicate) {
  return module
      .walk([&](Operation *op) {
        return predicate(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult fa::execute::lowerToLevelC(ModuleOp module) {
  PassManager manager(module.getContext());
  bool hasForward = contains(module, llvm::IsaPred<attn::ForwardOp>);
  if (hasForward)
    manager.addNestedPass<func::FuncOp>(attn::createTile());
  if (hasForward || contains(module, [](Operation *op) {
        return isa<attn::AttnDialect>(op->getDialect());
      }))
    manager.addNestedPass<func::FuncOp>(createOnlineSoftmax());
  return manager.run(module);
}

/// Tensors become buffers, in place wherever they can.
static void addBufferization(OpPassManager &manager) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(createProductsToLoopOrder());
  // An operand that stays the same is copied once.
  functions.addPass(createLoopInvariantCodeMotionPass());
  functions.addPass(createSeparateDestinations());
  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  // A loop whose new state is computed from the whole old one swaps buffers.
  options.allowReturnAllocsFromLoops = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  manager.addPass(bufferization::createOneShotBufferizePass(options));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

/// Every buffer is freed in the iteration that made it, or made once outside
/// the loop where its size allows: memory does not grow with trips.
static void addBufferManagement(OpPassManager &manager, bool parallel) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(createForallToLoops(parallel));
  functions.addPass(bufferization::createBufferHoistingPass());
  functions.addPass(bufferization::createBufferLoopHoistingPass());
  bufferization::buildBufferDeallocationPipeline(
      manager, bufferization::BufferDeallocationPipelineOptions());
  manager.addPass(createConvertBufferizationToMemRefPass());
}

/// Parallel loops become tasks for the threads of MLIR's runtime, each some
/// tiles.
static void addTasks(OpPassManager &manager) {
  AsyncParallelForPassOptions options;
  options.numWorkerThreads = runtime::mlirAsyncRuntimGetNumWorkerThreads();
  options.minTaskSize = 1;
  manager.addPass(createAsyncParallelForPass(options));
  manager.addPass(createAsyncToAsyncRuntimePass());
  manager.addPass(createAsyncRuntimeRefCountingPass());
  manager.addPass(createAsyncRuntimeRefCountingOptPass());
  manager.addPass(createConvertAsyncToLLVMPass());
}

/// Structured ops become loops, and loops become blocks.
static void addLoops(OpPassManager &manager, bool parallel) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(createCopiesToLoops());
  functions.addPass(createConvertLinalgToLoopsPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createLoopInvariantCodeMotionPass());
  if (parallel)
    addTasks(manager);
  manager.addPass(createSCFToControlFlowPass());
}

/// Everything becomes the LLVM dialect.
static void addLLVM(OpPassManager &manager) {
  // Without this, rounding to bf16 calls a function that nobody has.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  manager.addPass(arith::createArithExpandOpsPass(expand));
  FinalizeMemRefToLLVMConversionPassOptions memory;
  memory.useGenericFunctions = true;
  manager.addPass(createFinalizeMemRefToLLVMConversionPass(memory));
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createConvertToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void fa::execute::buildCPUPipeline(OpPassManager &manager, bool parallel) {
  addBufferization(manager);
  addBufferManagement(manager, parallel);
  addLoops(manager, parallel);
  addLLVM(manager);
}
