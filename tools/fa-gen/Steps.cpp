//===- Steps.cpp - By which steps a kernel is made ------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Steps.h"

#include "fa/Target/Target.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fa;

bool fa::hasShortKernel(const KernelSpec &spec, const std::string &arch) {
  constexpr int64_t kHeadDim = 64;
  return spec.variant == "causal" && spec.headDim == kHeadDim &&
         spec.headDimV == kHeadDim &&
         Target::lookup(arch)->has(Instruction::Wgmma);
}

/// Why kernels of `spec` are not made by `step` for `arch`; "" where they are.
static std::string whyNotMade(const KernelSpec &spec, const AblationStep &step,
                              const std::string &arch) {
  if (spec.lengths == Lengths::Short && !hasShortKernel(spec, arch))
    return "makes no other kernel for short sequences of this problem for " +
           arch;
  /// Columns of one product of a warpgroup.
  constexpr int64_t kMostColumns = 256;
  if (!step.passes.warpgroups)
    return spec.lengths == Lengths::Short
               ? "has no smaller blocks for short sequences"
               : "";
  if (!Target::lookup(arch)->has(Instruction::Wgmma))
    return "needs wgmma, which " + arch + " has not";
  if (spec.lengths == Lengths::Decode)
    return "makes no kernels for decoding yet";
  for (int64_t dim : {spec.headDim, spec.headDimV})
    if (dim > kMostColumns)
      return "takes head dimensions up to 256, found " + std::to_string(dim);
  return "";
}

/// A program brings its schedule along, which says whether its teams are
/// warpgroups.
static FailureOr<std::vector<const AblationStep *>>
chooseProgramStep(const KernelSpec &spec, const std::string &arch,
                  const std::vector<const AblationStep *> &asked,
                  std::string &reason) {
  constexpr int64_t kGroupWarps = 4;
  bool hasWarpgroups = spec.teamWarps == kGroupWarps &&
                       Target::lookup(arch)->has(Instruction::Wgmma);
  const AblationStep *step = hasWarpgroups ? &getFa3Step() : &getFa2Step();
  if (asked.empty() || llvm::is_contained(asked, step))
    return std::vector{step};
  reason = "program '" + spec.function + "' has a schedule that '" +
           step->name.str() + "' makes kernels of for " + arch +
           ": leave --pipelines out, or name that one";
  return failure();
}

FailureOr<std::vector<const AblationStep *>>
fa::chooseSteps(const KernelSpec &spec, const std::string &arch,
                const std::vector<const AblationStep *> &asked,
                std::string &reason) {
  std::vector<const AblationStep *> steps;
  if (spec.isProgram)
    return chooseProgramStep(spec, arch, asked, reason);
  if (asked.empty()) {
    for (const AblationStep *step : {&getFa3Step(), &getFa2Step()}) {
      std::string why = whyNotMade(spec, *step, arch);
      if (why.empty())
        return std::vector{step};
      if (reason.empty())
        reason = "pipeline '" + step->name.str() + "' " + why;
    }
    return failure();
  }
  for (const AblationStep *step : asked)
    if (whyNotMade(spec, *step, arch).empty())
      steps.push_back(step);
  if (!steps.empty())
    return steps;
  const AblationStep &first = *asked.front();
  reason =
      "pipeline '" + first.name.str() + "' " + whyNotMade(spec, first, arch);
  if (spec.lengths != Lengths::Short)
    reason +=
        " (--pipelines=fa2," + first.name.str() + " makes such kernels by fa2)";
  return failure();
}
