//===- Files.cpp - Reading files ------------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files.h"

#include "Failure.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sys/stat.h>

using namespace fa::rt;

[[noreturn]] static void refuse(const std::string &path, int error) {
  throw Failure(FA_INVALID_LIBRARY,
                path + ": cannot be read: " + std::strerror(error));
}

std::string fa::rt::readFile(const std::string &path) {
  std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path.c_str(), "rb"),
                                              std::fclose);
  if (!file)
    refuse(path, errno);
  std::string bytes;
  char buffer[1 << 16];
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), file.get()))
    bytes.append(buffer, count);
  // Opening a folder succeeds; reading from it is what fails.
  if (std::ferror(file.get()))
    refuse(path, errno);
  return bytes;
}

void fa::rt::requireFile(const std::string &path, const std::string &user) {
  struct stat status;
  std::string reason;
  if (stat(path.c_str(), &status) != 0)
    reason = std::strerror(errno);
  else if (!S_ISREG(status.st_mode))
    reason = "not a file";
  else if (status.st_size == 0)
    reason = "empty";
  if (!reason.empty())
    throw Failure(FA_INVALID_LIBRARY,
                  path + ": the file of kernel " + user + ": " + reason);
}
