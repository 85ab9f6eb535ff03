//===- PTX.cpp - From the LLVM dialect to PTX -----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Target/Cubin.h"
#include "fa/Target/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace fa;

static constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";

std::string fa::TargetOptions::features() const {
  return "+ptx" + std::to_string(fa::Target::lookup(chip)->ptxVersion);
}

void fa::registerPTXTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

/// Makes LLVM's NVPTX target known, once a process.
static void initializeNVPTX() {
  static llvm::once_flag flag;
  llvm::call_once(flag, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

static FailureOr<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(Location loc, const fa::TargetOptions &options) {
  initializeNVPTX();
  std::string error;
  llvm::Triple triple(kTriple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    emitError(loc) << "LLVM has no NVPTX target: " << error;
    return failure();
  }
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, options.chip, options.features(), llvm::TargetOptions(),
      /*RM=*/std::nullopt, /*CM=*/std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

FailureOr<std::string> fa::emitPTX(gpu::GPUModuleOp module,
                                   const TargetOptions &options) {
  const fa::Target *chip = fa::Target::lookup(options.chip);
  if (!chip) {
    module.emitError("unknown chip '")
        << options.chip << "', expected one of " << fa::Target::listNames();
    return failure();
  }
  if (failed(checkInstructions(module, *chip)))
    return failure();
  FailureOr<std::unique_ptr<llvm::TargetMachine>> machine =
      createTargetMachine(module.getLoc(), options);
  if (failed(machine))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, module.getName());
  if (!llvmModule)
    return emitError(module.getLoc(), "cannot be translated to LLVM IR");
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  llvmModule->setDataLayout((*machine)->createDataLayout());

  llvm::SmallString<0> ptx;
  llvm::raw_svector_ostream stream(ptx);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr,
                                      llvm::CodeGenFileType::AssemblyFile))
    return emitError(module.getLoc(), "LLVM cannot emit PTX");
  passes.run(*llvmModule);
  return ptx.str().str();
}
