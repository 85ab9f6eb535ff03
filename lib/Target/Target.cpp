//===- Target.cpp - GPUs in numbers -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Target/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace fa;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static constexpr Instruction kInstructions[] = {
    Instruction::MmaSync,        Instruction::CpAsync, Instruction::Tma,
    Instruction::GridDepControl, Instruction::Wgmma,   Instruction::SetMaxNReg,
    Instruction::Tcgen05,        Instruction::Fp8};

llvm::ArrayRef<Instruction> fa::allInstructions() { return kInstructions; }

llvm::StringRef fa::instructionName(Instruction instruction) {
  switch (instruction) {
  case Instruction::MmaSync:
    return "mma.sync";
  case Instruction::CpAsync:
    return "cp.async";
  case Instruction::Tma:
    return "cp.async.bulk";
  case Instruction::GridDepControl:
    return "griddepcontrol";
  case Instruction::Wgmma:
    return "wgmma";
  case Instruction::SetMaxNReg:
    return "setmaxnreg";
  case Instruction::Tcgen05:
    return "tcgen05";
  case Instruction::Fp8:
    return "fp8 products";
  }
  llvm_unreachable("an instruction without a name");
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr InstructionSet kAmpere = {Instruction::MmaSync,
                                           Instruction::CpAsync};
static constexpr InstructionSet kAda =
    kAmpere | InstructionSet{Instruction::Fp8};
static constexpr InstructionSet kHopper =
    kAda | InstructionSet{Instruction::Tma, Instruction::GridDepControl};
// What follows exists on one architecture alone, the names with an `a`.
static constexpr InstructionSet kHopperOnly =
    kHopper | InstructionSet{Instruction::Wgmma, Instruction::SetMaxNReg};
static constexpr InstructionSet kBlackwellOnly =
    kHopper | InstructionSet{Instruction::SetMaxNReg, Instruction::Tcgen05};
static constexpr InstructionSet kBlackwellClientOnly =
    kHopper | InstructionSet{Instruction::SetMaxNReg};

/// The blocks' shared memory is the multiprocessor's less 1 KiB that the system
/// keeps for each block.
static constexpr Target kTargets[] = {
    // A100 SXM4
    {"sm_80", 8, 0, 80, 163 << 10, 164 << 10, 65536, 255, 2048, 32, 108,
     40 << 20, kAmpere},
    // A10 (GA102)
    {"sm_86", 8, 6, 80, 99 << 10, 100 << 10, 65536, 255, 1536, 16, 72, 6 << 20,
     kAmpere},
    // L40S (AD102)
    {"sm_89", 8, 9, 80, 99 << 10, 100 << 10, 65536, 255, 1536, 24, 142,
     96 << 20, kAda},
    // H100 and H200 SXM5
    {"sm_90", 9, 0, 80, 227 << 10, 228 << 10, 65536, 255, 2048, 32, 132,
     50 << 20, kHopper},
    {"sm_90a", 9, 0, 80, 227 << 10, 228 << 10, 65536, 255, 2048, 32, 132,
     50 << 20, kHopperOnly},
    // B200 (one GPU of two dies)
    {"sm_100a", 10, 0, 86, 227 << 10, 228 << 10, 65536, 255, 2048, 32, 148,
     126 << 20, kBlackwellOnly},
    // GeForce RTX 5090 (GB202)
    {"sm_120a", 12, 0, 87, 99 << 10, 100 << 10, 65536, 255, 1536, 24, 170,
     96 << 20, kBlackwellClientOnly},
};

llvm::ArrayRef<Target> Target::all() { return kTargets; }

const Target *Target::lookup(llvm::StringRef name) {
  for (const Target &target : kTargets)
    if (name == target.name)
      return &target;
  return nullptr;
}

std::string Target::listNames() {
  return llvm::join(
      llvm::map_range(
          all(), [](const Target &target) { return std::string(target.name); }),
      ", ");
}
