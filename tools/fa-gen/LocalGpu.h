//===- LocalGpu.h - The GPU of this machine -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_LOCALGPU_H
#define FA_TOOLS_FA_GEN_LOCALGPU_H

#include <optional>
#include <string>

namespace fa {

/// The architecture of the first GPU as ptxas names it, with the instructions
/// of its own ("sm_90a") where it has some; nothing without a GPU.
std::optional<std::string> findLocalGpu();

} // namespace fa

#endif // FA_TOOLS_FA_GEN_LOCALGPU_H
