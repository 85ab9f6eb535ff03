//===- Image.h - A kernel's file as the driver takes it ---------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_IMAGE_H
#define FLASHLOOM_RUNTIME_IMAGE_H

#include "Kernel.h"

#include <cstdint>
#include <string>

namespace fa::rt {

/// The bytes of a kernel's file. The driver is not told how many there are and
/// trusts what they say of themselves, so a file that is not the one of the
/// manifest (`crc32`), or an ELF file that ends before its tables do, is
/// refused. Throws Failure(FA_INVALID_LIBRARY) that begins with the path.
std::string readImage(const std::string &path, const Kernel &kernel);

/// The CRC-32 of ISO 3309, as of zlib and PNG.
uint32_t crc32(const std::string &bytes);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_IMAGE_H
