//===- Files.h - Reading files ----------------------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_FILES_H
#define FLASHLOOM_RUNTIME_FILES_H

#include <string>

namespace fa::rt {

/// A file's bytes. Throws Failure(FA_INVALID_LIBRARY) with the path and the
/// system's reason.
std::string readFile(const std::string &path);

/// Throws Failure(FA_INVALID_LIBRARY) unless `path` is a regular file that is
/// not empty; `user` names what needs it.
void requireFile(const std::string &path, const std::string &user);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_FILES_H
