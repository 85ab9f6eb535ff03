//===- Damage.h - One kernel library into a worse one -----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_TEST_FUZZ_DAMAGE_H
#define FLASHLOOM_RUNTIME_TEST_FUZZ_DAMAGE_H

#include "../../../test/fuzz/Random.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace fa::test {

using Random = fuzz::Random;

/// A library: the manifest's text and the files by their names.
struct Content {
  std::string manifest;
  std::map<std::string, std::string> files;
};

/// What was done to a library.
struct Damage {
  std::string description;
  /// The file that is no longer what was compiled; "" where it is the manifest.
  std::string file;
  /// Whether entries still have the checksum of their file.
  bool hasChecksums = true;
};

/// Up to three changes of a manifest's text: bytes replaced, deleted, repeated,
/// the end cut off.
void damageText(std::string &text, Random &random);

/// Up to three changes of a manifest's values: replaced by another of its own
/// or by one that is out of its place, removed, repeated.
void damageValues(nlohmann::json &manifest, Random &random);

/// Damages one thing of `content`, whose manifest is valid.
Damage damage(Content &content, Random &random);

} // namespace fa::test

#endif // FLASHLOOM_RUNTIME_TEST_FUZZ_DAMAGE_H
