//===- CheckInstructions.cpp - What a kernel needs, a GPU has -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which instructions an op of the NVVM dialect, or a text of inline PTX, is
// made of. It names the op that a GPU cannot run; ptxas would name a line of
// PTX.
//
//===----------------------------------------------------------------------===//

#include "fa/Target/Cubin.h"
#include "fa/Target/Target.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace fa;

namespace {
/// A beginning of op names, or a part of PTX, that belongs to an instruction.
struct Sign {
  llvm::StringLiteral text;
  Instruction instruction;
};
} // namespace

static constexpr Sign kOpSigns[] = {
    {"nvvm.mma.", Instruction::MmaSync},
    {"nvvm.cp.async.shared.", Instruction::CpAsync},
    {"nvvm.cp.async.bulk.", Instruction::Tma},
    {"nvvm.griddepcontrol", Instruction::GridDepControl},
    {"nvvm.mbarrier.arrive.expect_tx", Instruction::Tma},
    {"nvvm.mbarrier.expect_tx", Instruction::Tma},
    {"nvvm.mbarrier.try_wait", Instruction::Tma},
    {"nvvm.wgmma.", Instruction::Wgmma},
    {"nvvm.setmaxregister", Instruction::SetMaxNReg},
    {"nvvm.tcgen05.", Instruction::Tcgen05},
};

static constexpr Sign kPtxSigns[] = {
    {"mma.sync.", Instruction::MmaSync},
    {"cp.async.ca.", Instruction::CpAsync},
    {"cp.async.cg.", Instruction::CpAsync},
    {"cp.async.bulk.", Instruction::Tma},
    {"griddepcontrol", Instruction::GridDepControl},
    {"mbarrier.arrive.expect_tx", Instruction::Tma},
    {"mbarrier.expect_tx", Instruction::Tma},
    {"mbarrier.try_wait", Instruction::Tma},
    {"wgmma.", Instruction::Wgmma},
    {"setmaxnreg.", Instruction::SetMaxNReg},
    {"tcgen05.", Instruction::Tcgen05},
    {".e4m3.e", Instruction::Fp8},
    {".e5m2.e", Instruction::Fp8},
};

/// Whether `op` multiplies 8-bit floats.
static bool isFp8Product(NVVM::MmaOp op) {
  std::optional<NVVM::MMATypes> type = op.getMultiplicandAPtxType();
  return type == NVVM::MMATypes::e4m3 || type == NVVM::MMATypes::e5m2;
}

/// The first instruction of `op` that `target` does not have.
static std::optional<Instruction> findMissing(Operation *op,
                                              const fa::Target &target) {
  if (auto inlinePtx = dyn_cast<LLVM::InlineAsmOp>(op)) {
    for (const Sign &sign : kPtxSigns)
      if (inlinePtx.getAsmString().contains(sign.text) &&
          !target.has(sign.instruction))
        return sign.instruction;
    return std::nullopt;
  }
  for (const Sign &sign : kOpSigns)
    if (op->getName().getStringRef().starts_with(sign.text) &&
        !target.has(sign.instruction))
      return sign.instruction;
  auto mma = dyn_cast<NVVM::MmaOp>(op);
  if (mma && isFp8Product(mma) && !target.has(Instruction::Fp8))
    return Instruction::Fp8;
  return std::nullopt;
}

LogicalResult fa::checkInstructions(gpu::GPUModuleOp module,
                                    const fa::Target &target) {
  WalkResult result = module.walk([&](Operation *op) {
    std::optional<Instruction> missing = findMissing(op, target);
    if (!missing)
      return WalkResult::advance();
    op->emitOpError("needs ")
        << instructionName(*missing) << ", which " << target.name << " lacks";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
