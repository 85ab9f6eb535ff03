//===- Manifest.h - Reading manifest.json -----------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_MANIFEST_H
#define FLASHLOOM_RUNTIME_MANIFEST_H

#include "Kernel.h"

#include <string>
#include <vector>

namespace fa::rt {

/// The schema version that this runtime reads.
inline constexpr int kManifestVersion = 1;

struct Manifest {
  std::string generator;
  std::vector<Kernel> kernels;
  std::vector<Kernel> programs; ///< kernels that are no attention
};

/// Reads a manifest's text; `file` names it in messages. Throws
/// Failure(FA_INVALID_LIBRARY) on everything that docs/kernel-library.md does
/// not allow; fields that the page does not name are ignored.
Manifest parseManifest(const std::string &text, const std::string &file);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_MANIFEST_H
