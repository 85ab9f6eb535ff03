//===- Requests.h - Which kernels a library has -----------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_REQUESTS_H
#define FA_TOOLS_FA_GEN_REQUESTS_H

#include "Compile.h"
#include "Tuned.h"

#include "llvm/ADT/StringMap.h"

namespace fa {

/// What a user asks for beside problems.
struct Choices {
  std::vector<std::string> archs;
  /// Empty: the best step for each kernel.
  std::vector<const AblationStep *> steps;
  /// Empty: kernels for any lengths, and for classes of lengths where they are
  /// faster.
  std::vector<Lengths> lengths;
  ScheduleOverrides overrides;
};

/// The kernels of `specs`: each architecture's by its table of `tables`, where
/// that has the problem and nothing was chosen by hand. Fails where there is
/// no step for one, and `reason` says why.
mlir::FailureOr<std::vector<KernelRequest>>
collectKernels(const std::vector<KernelSpec> &specs, const Choices &choices,
               const llvm::StringMap<TunedTable> &tables, std::string &reason);

/// For each of `specs` a kernel of every schedule worth trying, the model's
/// choice first. Fails where there is none, and `reason` says why.
mlir::FailureOr<std::vector<KernelRequest>>
collectCandidates(const std::vector<KernelSpec> &specs,
                  const std::vector<std::string> &archs, std::string &reason);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_REQUESTS_H
