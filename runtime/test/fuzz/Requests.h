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

} // namespace fa::test

#endif // FLASHLOOM_RUNTIME_TEST_FUZZ_REQUESTS_H
