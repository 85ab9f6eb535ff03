//===- Jit.cpp - Compiling and calling functions in process -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Jit.h"

#include "Positions.h"
#include "Tasks.h"

#include "fa/Execute/HostMemory.h"
#include "fa/Execute/Traffic.h"

#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace fa::execute;

static constexpr unsigned kOptimized = 2;

/// This machine, with all that its CPU can do.
static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createHost(llvm::CodeGenOptLevel level) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(level);
  return builder->createTargetMachine();
}

llvm::Expected<Jit> Jit::compile(ModuleOp module, bool optimize) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  ExecutionEngineOptions options;
  options.jitCodeGenOptLevel =
      optimize ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto host = createHost(*options.jitCodeGenOptLevel);
  if (!host)
    return host.takeError();
  auto transformer = makeOptimizingTransformer(optimize ? kOptimized : 0,
                                               /*sizeLevel=*/0, host->get());
  if (optimize)
    options.transformer = transformer;
  // The transformer keeps `host`; the engine owns one of its own.
  auto own = createHost(*options.jitCodeGenOptLevel);
  if (!own)
    return own.takeError();
  auto engine = ExecutionEngine::create(module, options, std::move(*own));
  if (!engine)
    return engine.takeError();

  (*engine)->registerSymbols([](llvm::orc::MangleAndInterner intern) {
    llvm::orc::SymbolMap symbols;
    auto functions = llvm::to_vector(memory::getSymbols());
    functions.push_back(traffic::getSymbol());
    functions.push_back(tasks::getSymbol());
    functions.push_back(positions::getSymbol());
    for (auto [name, address] : functions)
      symbols[intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                               llvm::JITSymbolFlags::Exported};
    return symbols;
  });
  Jit jit;
  jit.engine.reset(engine->release());
  return jit;
}

void Jit::Release::operator()(ExecutionEngine *engine) const {
  tasks::waitForAll();
  delete engine;
}

llvm::Expected<Jit::Function> Jit::lookup(llvm::StringRef name) {
  return engine->lookupPacked("_mlir_ciface_" + name.str());
}
