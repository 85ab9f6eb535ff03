//===- Steps.h - By which steps a kernel is made ----------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_STEPS_H
#define FA_TOOLS_FA_GEN_STEPS_H

#include "Spec.h"

#include "fa/Pipelines/Pipelines.h"

namespace fa {

/// Whether `spec` has a kernel for short sequences that is better there than
/// the one for any: two teams of warpgroups instead of three (docs/perf-log.md,
/// "Lost"), which was measured for causal problems of head dimension 64.
bool hasShortKernel(const KernelSpec &spec, const std::string &arch);

/// The steps that make kernels of `spec` for `arch`, of those that are asked
/// for; the best one where none is. Fails where there is none, and `reason`
/// says why.
mlir::FailureOr<std::vector<const AblationStep *>>
chooseSteps(const KernelSpec &spec, const std::string &arch,
            const std::vector<const AblationStep *> &asked,
            std::string &reason);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_STEPS_H
