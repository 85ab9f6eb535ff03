//===- Requests.h - What a program asks of a library ------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_TEST_FUZZ_REQUESTS_H
#define FLASHLOOM_RUNTIME_TEST_FUZZ_REQUESTS_H

#include "flashloom/fa_runtime.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fa::test {

/// Arguments that fit a kernel of a manifest, at made-up addresses.
class Request {
public:
  /// `kernel` is its entry, which is valid.
  explicit Request(const nlohmann::json &kernel);

  /// The arguments, which point into this object.
  fa_forward_params params() const;

private:
  fa_forward_params problem;
  std::string variant;
  std::vector<std::string> names;
  std::vector<fa_extra> extras;
};

/// The arguments of a program of a manifest, at made-up addresses.
class ProgramRequest {
public:
  /// `program` is its entry, which is valid.
  explicit ProgramRequest(const nlohmann::json &program);

  const std::string &name() const { return program; }
  const std::string &file() const { return programFile; }
  /// They point into this object.
  const std::vector<fa_extra> &arguments() const { return extras; }

private:
  std::string program, programFile;
  std::vector<std::string> names;
  std::vector<fa_extra> extras;
};

} // namespace fa::test

#endif // FLASHLOOM_RUNTIME_TEST_FUZZ_REQUESTS_H
