//===- ParamList.h - A launch's parameters ----------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver takes the address of each parameter. Where they lie among one
// another is the kernel's own business: ptxas places tensor maps by where the
// parameters begin in the constant bank, so that a buffer cannot be laid out
// without asking it.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_PARAMLIST_H
#define FLASHLOOM_RUNTIME_PARAMLIST_H

#include "Failure.h"
#include "TensorMap.h"

#include <cstring>

namespace fa::rt {

/// The parameters of a launch in their order, without an allocation. Holds
/// addresses of itself: neither copied nor moved.
class ParamList {
public:
  ParamList() = default;
  ParamList(const ParamList &) = delete;
  ParamList &operator=(const ParamList &) = delete;

  void add(uint64_t value) { append(&value, sizeof(value)); }
  void add(uint32_t value) { append(&value, sizeof(value)); }
  void add(float value) { append(&value, sizeof(value)); }
  void add(const TensorMap &map) {
    used = (used + kMapWords - 1) / kMapWords * kMapWords;
    append(&map, sizeof(map));
  }

  size_t size() const { return count; }
  /// The address of each; as the driver takes them.
  void **addresses() { return pointers; }

private:
  /// Parameters, and words for them. Devices take 4096 bytes or more.
  static constexpr size_t kMostParams = 512, kMostWords = 1024;
  /// What a map's address is a multiple of, as in the driver's header.
  static constexpr size_t kMapWords = 64 / sizeof(uint64_t);

  void append(const void *value, size_t bytes) {
    size_t end = used + (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    if (count == kMostParams || end > kMostWords)
      throw Failure(FA_INVALID_LIBRARY,
                    "a kernel takes more parameters than a launch can pass");
    words[end - 1] = 0; // behind a parameter of 4 bytes
    std::memcpy(&words[used], value, bytes);
    pointers[count++] = &words[used];
    used = end;
  }

  alignas(64) uint64_t words[kMostWords];
  void *pointers[kMostParams];
  size_t used = 0, count = 0;
};

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_PARAMLIST_H
