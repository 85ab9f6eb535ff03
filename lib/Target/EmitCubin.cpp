//===- EmitCubin.cpp - gpu.module to gpu.binary ---------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Target/Cubin.h"
#include "fa/Target/Passes.h"
#include "fa/Target/Target.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace fa {
#define GEN_PASS_DEF_EMITCUBIN
#include "fa/Target/Passes.h.inc"
} // namespace fa

using namespace fa;

/// The highest of ptxas's optimisation levels.
static constexpr int kMaxOptLevel = 3;

/// The name of the object's property that holds the report.
static constexpr llvm::StringLiteral kReport = "fa.ptxas";

/// What a launch needs to know of `func`, by its discardable attributes.
static NamedAttrList getLaunchFigures(LLVM::LLVMFuncOp func) {
  std::pair<StringRef, StringRef> names[] = {
      {"block", NVVM::NVVMDialect::getMaxntidAttrName()},
      {"dynamic_shared", "cta.shared_bytes"},
      {"extents", "cta.extents"},
      {"tensor_maps", "cta.tensor_maps"},
      {"persistent", "cta.persistent"},
      {"counter", "cta.counter"},
      {"follows", "cta.follows"},
      {"prepares", "cta.prepares"},
      {"schedule", "attn.schedule"}};
  NamedAttrList figures;
  for (auto [name, attribute] : names)
    if (Attribute value = func->getAttr(attribute))
      figures.set(name, value);
  return figures;
}

/// ptxas's report and the launch figures, by kernel.
static DictionaryAttr getProperties(gpu::GPUModuleOp module,
                                    const Cubin &cubin) {
  Builder b(module.getContext());
  NamedAttrList kernels;
  for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
    if (func.isExternal())
      continue;
    NamedAttrList kernel = getLaunchFigures(func);
    for (const KernelReport &report : cubin.kernels) {
      if (report.name != func.getName())
        continue;
      kernel.set("registers", b.getI64IntegerAttr(report.registers));
      kernel.set("spill_stores", b.getI64IntegerAttr(report.spillStores));
      kernel.set("spill_loads", b.getI64IntegerAttr(report.spillLoads));
      kernel.set("static_shared", b.getI64IntegerAttr(report.staticShared));
    }
    kernels.set(func.getName(), kernel.getDictionary(b.getContext()));
  }
  NamedAttrList report;
  report.set("kernels", kernels.getDictionary(b.getContext()));
  if (!cubin.version.empty())
    report.set("version", b.getStringAttr(cubin.version));
  return b.getDictionaryAttr(
      b.getNamedAttr(kReport, report.getDictionary(b.getContext())));
}

/// Puts a binary in the module's place.
static void replaceModule(gpu::GPUModuleOp module, const TargetOptions &options,
                          gpu::CompilationTarget format, StringRef data,
                          const Cubin &cubin) {
  OpBuilder b(module);
  auto target = NVVM::NVVMTargetAttr::get(
      b.getContext(), options.optLevel, "nvptx64-nvidia-cuda", options.chip,
      options.features(), /*flags=*/nullptr, /*files=*/nullptr);
  auto object =
      gpu::ObjectAttr::get(b.getContext(), target, format,
                           b.getStringAttr(data), getProperties(module, cubin),
                           /*kernels=*/nullptr);
  gpu::BinaryOp::create(b, module.getLoc(), module.getName(),
                        /*offloadingHandler=*/nullptr,
                        b.getArrayAttr({object}));
  module.erase();
}

/// Has ptxas take the registers that one block of a multiprocessor leaves each
/// thread for kernels that spilled with fewer: it keeps some for more blocks by
/// a guess of its own (128 registers and a spill of two, where 154 do not
/// spill). Whether there are such kernels.
static bool askForAllRegisters(gpu::GPUModuleOp module, const Cubin &cubin,
                               const Target &target) {
  constexpr int64_t unit = 8;
  StringRef name = NVVM::NVVMDialect::getMinctasmAttrName();
  bool hasAny = false;
  for (const KernelReport &kernel : cubin.kernels) {
    auto func = module.lookupSymbol<LLVM::LLVMFuncOp>(kernel.name);
    if (!kernel.spills() || !func || func->hasAttr(name))
      continue;
    auto block = func->getAttrOfType<DenseI32ArrayAttr>(
        NVVM::NVVMDialect::getMaxntidAttrName());
    if (!block)
      continue;
    int64_t given = std::min(target.registersPerSM / block[0],
                             target.maxRegistersPerThread);
    if (kernel.registers >= given / unit * unit)
      continue;
    func->setAttr(name, Builder(func.getContext()).getI32IntegerAttr(1));
    hasAny = true;
  }
  return hasAny;
}

/// Reports kernels that spill.
static LogicalResult checkSpills(gpu::GPUModuleOp module, const Cubin &cubin) {
  for (const KernelReport &kernel : cubin.kernels)
    if (kernel.spills())
      return mlir::emitError(module.getLoc(), "kernel '")
             << kernel.name << "' spills " << kernel.spillStores
             << " bytes (stores) and " << kernel.spillLoads
             << " bytes (loads) with " << kernel.registers
             << " registers: smaller blocks (bc, br, or more-registers for the "
                "model to choose them) may not spill (fa-opt's allow-spills "
                "accepts it)";
  return success();
}

/// Reports kernels whose products do not overlap.
static LogicalResult checkSerialized(gpu::GPUModuleOp module,
                                     const Cubin &cubin) {
  for (const KernelReport &kernel : cubin.kernels)
    if (!kernel.serialized.empty())
      return mlir::emitError(module.getLoc(), "kernel '")
             << kernel.name << "' has wgmma that ptxas serialises, due to "
             << kernel.serialized << "; allow-serialized accepts this";
  return success();
}

namespace {
struct EmitCubin : public fa::impl::EmitCubinBase<EmitCubin> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerPTXTranslations(registry);
  }

  void runOnOperation() override {
    if (format != "bin" && format != "ptx") {
      getOperation().emitError("expects format bin or ptx, but found '")
          << format << "'";
      return signalPassFailure();
    }
    if (optLevel < 0 || optLevel > kMaxOptLevel) {
      getOperation().emitError("expects opt-level from 0 to ")
          << kMaxOptLevel << ", but found " << optLevel.getValue();
      return signalPassFailure();
    }
    if (getOperation().getOps<gpu::GPUModuleOp>().empty())
      getOperation().emitWarning("--emit-cubin found no gpu.module");
    for (auto module :
         llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
      if (failed(emit(module)))
        return signalPassFailure();
  }

private:
  LogicalResult emit(gpu::GPUModuleOp module) {
    if (!module.getOps<gpu::GPUFuncOp>().empty())
      return module.emitError("--emit-cubin takes the LLVM dialect, found a "
                              "gpu.func: run --lower-to-nvvm first");
    TargetOptions options;
    options.chip = chip;
    options.ptxas = ptxas;
    options.optLevel = optLevel;
    FailureOr<std::string> ptx = emitPTX(module, options);
    if (failed(ptx))
      return failure();
    bool hasPtxas = !ptxas.empty() || findPtxas();
    if (format == "bin" && !hasPtxas)
      mlir::emitWarning(module.getLoc(),
                        "no ptxas was found: the object holds PTX");
    if (format == "ptx" || !hasPtxas) {
      replaceModule(module, options, gpu::CompilationTarget::Assembly, *ptx,
                    Cubin());
      return success();
    }
    FailureOr<Cubin> cubin = assemble(*ptx, options, module.getLoc());
    const Target *target = Target::lookup(options.chip);
    if (succeeded(cubin) && target &&
        askForAllRegisters(module, *cubin, *target)) {
      ptx = emitPTX(module, options);
      if (failed(ptx))
        return failure();
      cubin = assemble(*ptx, options, module.getLoc());
    }
    if (failed(cubin) ||
        (!allowSpills && failed(checkSpills(module, *cubin))) ||
        (!allowSerialized && failed(checkSerialized(module, *cubin))))
      return failure();
    numKernels += cubin->kernels.size();
    replaceModule(module, options, gpu::CompilationTarget::Binary, cubin->data,
                  *cubin);
    return success();
  }
};
} // namespace
