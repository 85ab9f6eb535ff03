//===- Image.cpp - A kernel's file as the driver takes it -----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Image.h"

#include "Failure.h"
#include "Files.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <elf.h>

using namespace fa::rt;

/// The remainders of all bytes; the polynomial with its bits reversed.
static std::array<uint32_t, 256> makeRemainders() {
  std::array<uint32_t, 256> remainders;
  for (uint32_t byte = 0; byte != 256; ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit != 8; ++bit)
      remainder = remainder >> 1 ^ (remainder & 1 ? 0xEDB88320u : 0);
    remainders[byte] = remainder;
  }
  return remainders;
}

uint32_t fa::rt::crc32(const std::string &bytes) {
  static const std::array<uint32_t, 256> remainders = makeRemainders();
  uint32_t crc = ~0u;
  for (unsigned char byte : bytes)
    crc = crc >> 8 ^ remainders[(crc ^ byte) & 0xFF];
  return ~crc;
}

static std::string hex(uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof(text), "%08x", value);
  return text;
}

/// Whether `count` entries of `size` bytes from `offset` on lie in `bytes`.
static bool holdsTable(const std::string &bytes, uint64_t offset,
                       uint64_t count, uint64_t size) {
  return offset <= bytes.size() && count * size <= bytes.size() - offset;
}

/// Whether an ELF file has its header and both of its tables, which ptxas
/// writes behind all else.
static bool isWhole(const std::string &bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header))
    return false;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return holdsTable(bytes, header.e_shoff, header.e_shnum,
                    header.e_shentsize) &&
         holdsTable(bytes, header.e_phoff, header.e_phnum, header.e_phentsize);
}

std::string fa::rt::readImage(const std::string &path, const Kernel &kernel) {
  std::string bytes = readFile(path);
  if (kernel.crc32 && *kernel.crc32 != crc32(bytes))
    throw Failure(
        FA_INVALID_LIBRARY,
        path + ": not the file that was compiled: its CRC-32 must be " +
            hex(*kernel.crc32) + " (found " + hex(crc32(bytes)) + ")");
  bool isElf = bytes.compare(0, SELFMAG, ELFMAG) == 0;
  if (isElf && !isWhole(bytes))
    throw Failure(FA_INVALID_LIBRARY,
                  path + ": cut off: its tables end after its " +
                      std::to_string(bytes.size()) + " bytes");
  return bytes;
}
