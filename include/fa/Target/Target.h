//===- Target.h - GPUs in numbers -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Public figures of the GPUs that kernels are made for: NVIDIA's "CUDA C++
// Programming Guide", section "Compute Capabilities", and the datasheets.
//
//===----------------------------------------------------------------------===//

#ifndef FA_TARGET_TARGET_H
#define FA_TARGET_TARGET_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace fa {

/// A GPU architecture as the resource model and the passes see it.
struct Target {
  const char *name; ///< as ptxas names it, "sm_80"
  int computeMajor;
  int computeMinor;
  int64_t sharedBytesPerBlock; ///< dynamic shared memory a block may ask for
  int64_t sharedBytesPerSM;
  int64_t registersPerSM; ///< 32-bit registers
  int64_t maxRegistersPerThread;
  int64_t maxThreadsPerSM;
  int64_t numSMs; ///< of the part named in Target.cpp
  int64_t l2Bytes;

  /// The target of this name, or null.
  static const Target *lookup(llvm::StringRef name);
};

} // namespace fa

#endif // FA_TARGET_TARGET_H
