//===- Levels.cpp - A kernel's IR at each level ---------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Levels.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace fa;

namespace {
/// A level that a pipeline can stop at, and what it is called.
struct LevelName {
  Level level;
  const char *file, *title;
};
} // namespace

static constexpr LevelName kArithmetic = {
    Level::Arithmetic, "c-arithmetic.mlir", "C: arithmetic on tiles"};
static constexpr LevelName kLevels[] = {
    {Level::Blocks, "b-blocks.mlir", "B: attention on blocks"},
    kArithmetic,
    {Level::Cta, "d-cta.mlir", "D: what one thread block does"},
    {Level::NVVM, "e-nvvm.mlir", "E: what one thread does"}};

/// The IR at one level.
static FailureOr<std::string>
printLevel(MLIRContext &context, const KernelRequest &request, Level level) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(request.spec.source, &context);
  if (!module)
    return failure();
  PassManager passes(&context);
  PipelineOptions options;
  setPipelineOptions(options, request);
  options.level = level;
  buildPasses(passes, options, request);
  if (failed(passes.run(*module)))
    return failure();
  std::string text;
  llvm::raw_string_ostream(text) << *module << "\n";
  return text;
}

FailureOr<std::vector<LevelText>>
fa::printLevels(const DialectRegistry &registry, const KernelRequest &request) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // Whatever there is to say was said when the kernel was made.
  ScopedDiagnosticHandler silence(&context,
                                  [](Diagnostic &) { return success(); });
  std::vector<LevelText> levels;
  // A program begins at level C.
  if (request.spec.isProgram)
    levels.push_back(
        {kArithmetic.file, kArithmetic.title, request.spec.source});
  else
    levels.push_back({"a-problem.mlir", "A: the problem", request.spec.source});
  for (const LevelName &name : kLevels) {
    if (request.spec.isProgram && name.level <= kArithmetic.level)
      continue;
    FailureOr<std::string> text = printLevel(context, request, name.level);
    if (failed(text))
      return failure();
    levels.push_back({name.file, name.title, std::move(*text)});
  }
  return levels;
}
