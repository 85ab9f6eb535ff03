//===- ResourceModelTest.cpp - The model against real kernels -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles attention with a schedule and holds what the kernel asks for against
// what the resource model foretold: shared memory to the byte, registers within
// a band.
//
//===----------------------------------------------------------------------===//

#include "fa/Pipelines/Register.h"
#include "fa/Schedule/Schedule.h"
#include "fa/Target/Cubin.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace fa;
using namespace mlir;

namespace {

/// ptxas's registers lie between these shares of the estimate. Seen with ptxas
/// 13.0: from 0.83 to 1.24, the highest for the two architectures that came
/// last, on which the model was not fitted.
constexpr double kLeastRegisters = 0.75;
constexpr double kMostRegisters = 1.35;

/// A kernel to compile.
struct Case {
  ScheduleProblem problem;
  const char *dtype;
  int64_t br, bc, teams, stages;
  bool causal = false;
};

std::string attentionOf(const Case &c) {
  auto tensor = [&](int64_t width) {
    return "tensor<?x?x?x" + std::to_string(width) + "x" + c.dtype + ">";
  };
  std::string q = tensor(c.problem.headDim), v = tensor(c.problem.headDimV);
  std::string results = v + ", tensor<?x?x?xf32>";
  return "func.func @attention(%q: " + q + ", %k: " + q + ", %v: " + v +
         ", %s: f32) -> (" + results +
         ") {\n  %o, %lse = attn.forward ins(%q, %k, %v : " + q + ", " + q +
         ", " + v + ") scale(%s)" + (c.causal ? " using [#attn.causal]" : "") +
         " : " + results + "\n  return %o, %lse : " + results + "\n}\n";
}

class KernelTest : public ::testing::Test {
protected:
  KernelTest() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// `c` compiled to `level` for `target`.
  OwningOpRef<ModuleOp> compile(const Case &c, const char *target,
                                Level level) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(attentionOf(c), &context);
    PassManager pm(&context);
    PipelineOptions options;
    options.target = target;
    options.level = level;
    options.br = c.br;
    options.bc = c.bc;
    options.teams = c.teams;
    options.stages = c.stages;
    buildFa2Pipeline(pm, options);
    if (!module || failed(pm.run(*module)))
      return nullptr;
    return module;
  }

  MLIRContext context;
};

Schedule scheduleOf(const Case &c) {
  Schedule schedule;
  schedule.br = c.br;
  schedule.bc = c.bc;
  schedule.teams = c.teams;
  schedule.stages = c.stages;
  return schedule;
}

TEST_F(KernelTest, SharedMemoryIsExact) {
  const Case cases[] = {
      {{64, 64, 2}, "bf16", 64, 64, 4, 1},
      {{64, 64, 2}, "f16", 128, 128, 4, 2},
      {{64, 64, 2}, "bf16", 32, 16, 2, 3, true},
      {{64, 128, 2}, "bf16", 64, 32, 4, 2},
      {{128, 64, 2}, "f16", 64, 64, 4, 1, true},
      {{128, 128, 2}, "bf16", 64, 64, 4, 1},
      {{128, 128, 2}, "f16", 128, 64, 8, 2, true},
      {{128, 128, 2}, "bf16", 16, 32, 1, 3},
      {{192, 128, 2}, "bf16", 64, 32, 4, 2},
      {{256, 256, 2}, "f16", 64, 32, 4, 1, true},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(attentionOf(c));
    OwningOpRef<ModuleOp> module = compile(c, "sm_90a", Level::NVVM);
    ASSERT_TRUE(module);
    SmallVector<int64_t> found;
    module->walk([&](LLVM::LLVMFuncOp func) {
      if (auto bytes = func->getAttrOfType<IntegerAttr>("cta.shared_bytes"))
        found.push_back(bytes.getInt());
    });
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(computeResources(c.problem, scheduleOf(c)).sharedBytes, found[0]);
  }
}

/// What ptxas says of the one kernel of `module`.
DictionaryAttr reportOf(ModuleOp module) {
  DictionaryAttr report;
  module.walk([&](gpu::BinaryOp binary) {
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    auto ptxas = object.getProperties().getAs<DictionaryAttr>("fa.ptxas");
    report = ptxas.getAs<DictionaryAttr>("kernels").getAs<DictionaryAttr>(
        "attention");
  });
  return report;
}

/// What every target is given for a head dimension, and what ptxas makes of it.
/// The parameters: the head dimension, and whether the mask is causal.
class ChosenKernelTest
    : public KernelTest,
      public ::testing::WithParamInterface<std::pair<int64_t, bool>> {};

TEST_P(ChosenKernelTest, RunsOnEveryTarget) {
  if (!findPtxas())
    GTEST_SKIP() << "no ptxas";
  auto [headDim, causal] = GetParam();
  ScheduleProblem problem{headDim, headDim, 2};
  for (const fa::Target &target : fa::Target::all()) {
    SCOPED_TRACE(target.name);
    std::optional<Schedule> schedule = chooseForTarget(problem, target);
    ASSERT_TRUE(schedule);
    Case c{problem,         "bf16",           schedule->br, schedule->bc,
           schedule->teams, schedule->stages, causal};
    OwningOpRef<ModuleOp> module = compile(c, target.name, Level::Cubin);
    ASSERT_TRUE(module) << "ptxas refused it, or it spilled";
    DictionaryAttr report = reportOf(*module);
    ASSERT_TRUE(report);
    Resources resources = computeResources(problem, *schedule);
    EXPECT_EQ(report.getAs<IntegerAttr>("dynamic_shared").getInt(),
              resources.sharedBytes);
    EXPECT_LE(resources.sharedBytes, target.sharedBytesPerBlock);
    int64_t registers = report.getAs<IntegerAttr>("registers").getInt();
    EXPECT_LE(registers, target.maxRegistersPerThread);
    EXPECT_GE(registers, kLeastRegisters * resources.registersPerThread);
    EXPECT_LE(registers, kMostRegisters * resources.registersPerThread);
  }
}

// D 192 without a mask: with one, ptxas 13.0 gives up 4 bytes to a spill on
// sm_80 to sm_89 for a third resident block.
INSTANTIATE_TEST_SUITE_P(HeadDimensions, ChosenKernelTest,
                         ::testing::Values(std::pair(64, true),
                                           std::pair(128, true),
                                           std::pair(192, false),
                                           std::pair(256, true)));

} // namespace
