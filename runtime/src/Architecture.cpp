//===- Architecture.cpp - Which kernels run on which GPUs -----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Architecture.h"

#include <tuple>

using namespace fa::rt;

std::string ComputeCapability::str() const {
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

std::optional<Architecture> Architecture::parse(const std::string &text) {
  const std::string prefix = "sm_";
  if (text.compare(0, prefix.size(), prefix) != 0)
    return std::nullopt;
  std::string digits = text.substr(prefix.size());
  Architecture arch;
  if (!digits.empty() && digits.back() == 'a') {
    arch.exact = true;
    digits.pop_back();
  }
  if (digits.size() < 2 || digits.size() > 3 || digits[0] == '0' ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  arch.minor = digits.back() - '0';
  digits.pop_back();
  arch.major = std::stoi(digits);
  return arch;
}

std::string Architecture::str() const {
  return ComputeCapability{major, minor}.str() + (exact ? "a" : "");
}

bool Architecture::cubinRunsOn(ComputeCapability device) const {
  if (exact)
    return device.major == major && device.minor == minor;
  return device.major == major && device.minor >= minor;
}

bool Architecture::ptxRunsOn(ComputeCapability device) const {
  if (exact)
    return device.major == major && device.minor == minor;
  return std::tie(device.major, device.minor) >= std::tie(major, minor);
}

bool Architecture::operator<(const Architecture &other) const {
  return std::tie(major, minor, exact) <
         std::tie(other.major, other.minor, other.exact);
}
