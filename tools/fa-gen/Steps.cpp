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

/// Why kernels of `spec` are not made by `step` for `arch`; "" where they are.
static std::string whyNotMade(const KernelSpec &spec, const AblationStep &step,
                              const std::string &arch) {
  if (!step.passes.warpgroups)
    return "";
  if (!Target::lookup(arch)->has(Instruction::Wgmma))
    return "needs wgmma, which " + arch + " has not";
  if (spec.isDecode)
    return "makes no kernels for decoding yet";
  for (const char *name : {"kv_lens", "cu_seqlens_q"})
    if (llvm::is_contained(spec.params, name))
      return std::string("takes no ") + name + " yet";
  return "";
}

FailureOr<std::vector<const AblationStep *>>
fa::chooseSteps(const KernelSpec &spec, const std::string &arch,
                const std::vector<const AblationStep *> &asked,
                std::string &reason) {
  std::vector<const AblationStep *> steps;
  if (asked.empty()) {
    bool isFa3 = whyNotMade(spec, getFa3Step(), arch).empty();
    steps.push_back(isFa3 ? &getFa3Step() : &getFa2Step());
    return steps;
  }
  for (const AblationStep *step : asked)
    if (whyNotMade(spec, *step, arch).empty())
      steps.push_back(step);
  if (!steps.empty())
    return steps;
  const AblationStep &first = *asked.front();
  reason =
      ("pipeline '" + first.name.str() + "' " + whyNotMade(spec, first, arch) +
       " (--pipelines=fa2," + first.name.str() + " makes such kernels by fa2)");
  return failure();
}
