//===- LocalGpu.h - The GPUs of this machine -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_LOCALGPU_H
#define FA_TOOLS_FA_GEN_LOCALGPU_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace fa {

/// The architectures of this machine's GPUs as ptxas names them, with the
/// instructions of their own ("sm_90a") where they have some; each once, in the
/// driver's order. Empty without a driver or a GPU.
std::vector<std::string> findLocalGpus();

/// The target whose kernels are the best that run on a GPU of the architecture
/// `gpu`: itself, or the latest of the same major number before it. Nothing
/// where no target's do.
std::optional<std::string> findTargetFor(llvm::StringRef gpu);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_LOCALGPU_H
