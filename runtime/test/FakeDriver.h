//===- FakeDriver.h - A driver that records its calls -----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_TEST_FAKEDRIVER_H
#define FLASHLOOM_RUNTIME_TEST_FAKEDRIVER_H

#include "DriverApi.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fa::test {

/// A launch as the driver saw it. `slots` has the first 8 bytes of each
/// parameter, as many as the fake was told to read.
struct RecordedLaunch {
  rt::CuFunction function;
  unsigned grid[3], block[3], sharedBytes;
  rt::CuStream stream;
  std::vector<uint64_t> slots;
  bool follows = false; ///< it may begin before the one before it has ended
  /// All parameters, where they came as one buffer.
  std::vector<unsigned char> buffer = {};
};

/// Words that the driver was to set, and how many launches were before.
struct RecordedMemset {
  unsigned long long address;
  unsigned value;
  size_t count, launches;
  rt::CuStream stream;
};

/// A tensor map as the driver was asked for it.
struct RecordedMap {
  int type, swizzle;
  void *address;
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box, steps;
};

/// Stands for the driver while it lives. One at a time. Any thread may call the
/// driver; what is recorded is read when they have ended.
class FakeDriver {
public:
  FakeDriver();
  ~FakeDriver();

  /// The current context: 0 is none, its id is its number.
  uintptr_t context = 1;
  /// What the driver says that it is for.
  int version = 12040;
  int device = 0, major = 9, minor = 0;
  size_t paramCount = 0;
  /// Bytes of each parameter, which lie at multiples of them, tensor maps at
  /// multiples of 64; none: the driver does not say where parameters lie.
  std::vector<size_t> paramSizes;
  /// Results to return from named functions, instead of success.
  std::map<std::string, int> failures;

  std::vector<std::string> calls;
  std::vector<std::string> images;
  std::vector<std::pair<int, int>> functionAttributes;
  std::vector<RecordedLaunch> launches;
  std::vector<RecordedMemset> memsets;
  /// The number of a map in here is what its first 8 bytes hold.
  std::vector<RecordedMap> maps;
  int multiprocessors = 4;
  /// Blocks that a multiprocessor holds of any function.
  int residentBlocks = 2;
  /// The calling thread's.
  static inline thread_local int captureMode = 0;

  size_t count(const std::string &call) const;

  rt::DriverApi table;
};

} // namespace fa::test

#endif // FLASHLOOM_RUNTIME_TEST_FAKEDRIVER_H
