//===- Folders.h - Folders that tools write to ------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_SUPPORT_FOLDERS_H
#define FA_SUPPORT_FOLDERS_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include <system_error>

namespace fa {

/// Makes the folder `path`, and those that it is in, where they are missing.
/// Who else may read and write there is the user's umask's to say, not that of
/// LLVM's default, which is for the owner and the group alone.
inline std::error_code makeFolder(const llvm::Twine &path) {
  return llvm::sys::fs::create_directories(path, /*IgnoreExisting=*/true,
                                           llvm::sys::fs::all_all);
}

} // namespace fa

#endif // FA_SUPPORT_FOLDERS_H
