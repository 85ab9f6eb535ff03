//===- Manifest.h - manifest.json -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_MANIFEST_H
#define FA_TOOLS_FA_GEN_MANIFEST_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <vector>

namespace fa {

/// The entries of a folder's manifest, kernels and programs, by name; none
/// where there is no manifest, or one that cannot be read.
llvm::StringMap<llvm::json::Object> readManifest(llvm::StringRef folder);

/// Writes the folder's manifest.
llvm::Error writeManifest(llvm::StringRef folder,
                          std::vector<llvm::json::Object> kernels,
                          std::vector<llvm::json::Object> programs);

/// Writes a file whole or not at all.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef data);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_MANIFEST_H
