//===- Npy.cpp - Arrays in NumPy's files ----------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format: https://numpy.org/doc/stable/reference/generated/
// numpy.lib.format.html. Six bytes of magic, two of version, the header's
// length in 2 (version 1) or 4 bytes, and the header, a Python dictionary of
// descr, fortran_order and shape.
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include "Failure.h"
#include "Files.h"
#include "Float16.h"

#include <cstring>
#include <fstream>
#include <regex>

using namespace fa;
using namespace fa::bench;

namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicBytes = 6, kVersionBytes = 2;
/// The data begins at a multiple of this.
constexpr size_t kAlignment = 64;

/// Reads one element at the address.
using ReadElement = double (*)(const char *);

struct ElementType {
  const char *name;
  size_t bytes;
  ReadElement read;
};

template <typename T> T copyOf(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <typename T> double readAs(const char *from) {
  return double(copyOf<T>(from));
}
double readF16(const char *from) { return fromF16(copyOf<uint16_t>(from)); }
double readBf16(const char *from) { return fromBf16(copyOf<uint16_t>(from)); }

constexpr ElementType kElements[] = {
    {"<f2", 2, readF16},         {"<f4", 4, readAs<float>},
    {"<f8", 8, readAs<double>},  {"<i4", 4, readAs<int32_t>},
    {"<i8", 8, readAs<int64_t>}, {"|V2", 2, readBf16},
    {"<V2", 2, readBf16}};

[[noreturn]] void refuse(const std::string &path, const std::string &what) {
  throw rt::Failure(FA_INVALID_ARGUMENT, path + ": " + what);
}

} // namespace

/// The header's text; `at` moves behind it.
static std::string readHeader(const std::string &data, const std::string &path,
                              size_t &at) {
  at = kMagicBytes + kVersionBytes;
  if (data.size() < at + 4 || data.compare(0, kMagicBytes, kMagic))
    refuse(path, "is no .npy file");
  const int version = data[kMagicBytes];
  if (version < 1 || version > 3)
    refuse(path, "has version " + std::to_string(version) +
                     " of the format, which is none of 1 to 3");
  size_t length =
      version == 1 ? copyOf<uint16_t>(&data[at]) : copyOf<uint32_t>(&data[at]);
  at += version == 1 ? 2 : 4;
  if (length > data.size() - at)
    refuse(path, "ends in its header");
  std::string header = data.substr(at, length);
  at += length;
  return header;
}

static const ElementType &findElement(const std::string &header,
                                      const std::string &path) {
  std::smatch match;
  if (!std::regex_search(header, match,
                         std::regex("'descr': *['\"]([^'\"]*)['\"]")))
    refuse(path, "has no element type that is known");
  for (const ElementType &element : kElements)
    if (match[1] == element.name)
      return element;
  refuse(path, "has elements of type " + match[1].str() +
                   ", which is none of <f2, <f4, <f8, <i4, <i8 and V2");
}

static std::vector<int64_t> findShape(const std::string &header,
                                      const std::string &path) {
  std::smatch match;
  if (!std::regex_search(header, match,
                         std::regex("'shape': *\\(([0-9, ]*)\\)")))
    refuse(path, "has no shape");
  std::string text = match[1].str();
  static const std::regex number("[0-9]{1,18}");
  std::vector<int64_t> shape;
  for (std::sregex_iterator it(text.begin(), text.end(), number), end;
       it != end; ++it)
    shape.push_back(std::stoll(it->str()));
  return shape;
}

NpyArray fa::bench::readNpy(const std::string &path) {
  std::string data = rt::readFile(path);
  size_t at = 0;
  std::string header = readHeader(data, path, at);
  if (!std::regex_search(header, std::regex("'fortran_order': *False")))
    refuse(path, "is not in C order");
  const ElementType &element = findElement(header, path);
  NpyArray array;
  array.shape = findShape(header, path);
  size_t count = 1;
  for (int64_t size : array.shape)
    if (__builtin_mul_overflow(count, size_t(size), &count))
      refuse(path, "has a shape of too many elements");
  if ((data.size() - at) / element.bytes != count ||
      (data.size() - at) % element.bytes)
    refuse(path, "has not the bytes that its shape says");
  array.values.reserve(count);
  for (size_t i = 0; i != count; ++i)
    array.values.push_back(element.read(&data[at + i * element.bytes]));
  return array;
}

void fa::bench::writeNpy(const std::string &path, const NpyArray &array) {
  std::string shape;
  for (int64_t size : array.shape)
    shape += std::to_string(size) + ", ";
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  const size_t before = kMagicBytes + kVersionBytes + sizeof(uint16_t);
  header.resize(
      (before + header.size() + kAlignment) / kAlignment * kAlignment - before,
      ' ');
  header.back() = '\n';
  const auto length = uint16_t(header.size());
  std::ofstream file(path, std::ios::binary);
  file.write(kMagic, kMagicBytes).write("\1\0", kVersionBytes);
  file.write(reinterpret_cast<const char *>(&length), sizeof(length));
  file << header;
  for (double value : array.values) {
    const auto narrow = float(value);
    file.write(reinterpret_cast<const char *>(&narrow), sizeof(narrow));
  }
  if (!file.flush())
    refuse(path, "cannot be written");
}
