//===- TargetTest.cpp - The table of targets -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Target/Target.h"
#include "fa/Target/Cubin.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <set>

using namespace fa;

namespace {

TEST(Target, IsFoundByItsName) {
  EXPECT_EQ(Target::all().size(), 7u);
  for (const Target &target : Target::all())
    EXPECT_EQ(Target::lookup(target.name), &target);
  EXPECT_EQ(Target::lookup("sm_1"), nullptr);
  EXPECT_EQ(Target::lookup(""), nullptr);
  EXPECT_EQ(Target::listNames(),
            "sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100a, sm_120a");
}

TEST(Target, HasTheFiguresOfItsComputeCapability) {
  for (const Target &target : Target::all()) {
    // The system keeps 1 KiB of shared memory for each block.
    EXPECT_EQ(target.sharedBytesPerSM - target.sharedBytesPerBlock, 1024)
        << target.name;
    std::string name = "sm_" + std::to_string(target.computeMajor) +
                       std::to_string(target.computeMinor);
    EXPECT_TRUE(target.name == name || target.name == name + "a");
  }
  EXPECT_EQ(Target::lookup("sm_80")->sharedBytesPerBlock, 163 * 1024);
  EXPECT_EQ(Target::lookup("sm_86")->sharedBytesPerBlock, 99 * 1024);
  EXPECT_EQ(Target::lookup("sm_90a")->sharedBytesPerBlock, 227 * 1024);
  EXPECT_EQ(Target::lookup("sm_100a")->sharedBytesPerBlock, 227 * 1024);
  EXPECT_EQ(Target::lookup("sm_120a")->sharedBytesPerBlock, 99 * 1024);
}

TEST(Instructions, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (Instruction instruction : allInstructions())
    EXPECT_TRUE(names.insert(instructionName(instruction).str()).second);
  EXPECT_EQ(names.size(), 8u);
}

/// PTX of one instruction of the group, on the registers and buffers of
/// `kernelOf`.
const char *sampleOf(Instruction instruction) {
  switch (instruction) {
  case Instruction::MmaSync:
    return "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
           "{d,d,d,d}, {a,a,a,a}, {a,a}, {c,c,c,c};";
  case Instruction::CpAsync:
    return "cp.async.cg.shared.global [buffer], [global], 16;";
  case Instruction::Tma:
    return "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier"
           "::complete_tx::bytes [buffer], [global, {a, a}], [barrier];";
  case Instruction::GridDepControl:
    return "griddepcontrol.wait;";
  case Instruction::Wgmma:
    return "wgmma.fence.sync.aligned;";
  case Instruction::SetMaxNReg:
    return "setmaxnreg.dec.sync.aligned.u32 24;";
  case Instruction::Tcgen05:
    return "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
           "[buffer], 32;";
  case Instruction::Fp8:
    return "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
           "{d,d,d,d}, {a,a,a,a}, {a,a}, {c,c,c,c};";
  }
  return "";
}

/// A module for `target` whose kernel runs `instruction`.
std::string kernelOf(const Target &target, const std::string &instruction) {
  // fp8 products came with PTX 8.4, after the architecture.
  int version = std::max(target.ptxVersion, 84);
  return ".version " + std::to_string(version / 10) + "." +
         std::to_string(version % 10) + "\n.target " + target.name +
         "\n.address_size 64\n"
         ".visible .entry k(.param .u64 p) .maxntid 128,1,1 {\n"
         ".shared .align 128 .b8 buffer[1024];\n"
         ".shared .align 8 .b64 barrier;\n"
         ".reg .u64 global; .reg .b32 a; .reg .f32 c, d;\n"
         "ld.param.u64 global, [p]; cvta.to.global.u64 global, global;\n"
         "mov.b32 a, 0; mov.f32 c, 0f00000000;\n" +
         instruction + "\nret; }\n";
}

TEST(Instructions, AreThoseThatPtxasAccepts) {
  if (!findPtxas())
    GTEST_SKIP() << "no ptxas";
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  for (const Target &target : Target::all())
    for (Instruction instruction : allInstructions()) {
      TargetOptions options;
      options.chip = target.name;
      bool accepted =
          mlir::succeeded(assemble(kernelOf(target, sampleOf(instruction)),
                                   options, mlir::UnknownLoc::get(&context)));
      EXPECT_EQ(target.has(instruction), accepted)
          << target.name << " " << instructionName(instruction).str();
    }
}

TEST(Report, SaysWhatSpillsAndWhatIsSerialised) {
  llvm::SmallVector<KernelReport> kernels = parsePtxasReport(
      "ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized due to insufficient register resources for "
      "the wgmma pipeline in the function 'a'\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
      "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 1 barriers, 1024 bytes smem\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_90a'\n"
      "ptxas info    : Used 24 registers\n");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "a");
  EXPECT_EQ(kernels[0].serialized,
            "insufficient register resources for the wgmma pipeline");
  EXPECT_EQ(kernels[0].spillStores, 4);
  EXPECT_EQ(kernels[0].spillLoads, 12);
  EXPECT_EQ(kernels[0].registers, 168);
  EXPECT_EQ(kernels[0].staticShared, 1024);
  EXPECT_EQ(kernels[1].name, "b");
  EXPECT_EQ(kernels[1].serialized, "");
  EXPECT_FALSE(kernels[1].spills());
}

} // namespace
