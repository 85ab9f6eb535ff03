//===- Architecture.h - Which kernels run on which GPUs ---------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_ARCHITECTURE_H
#define FLASHLOOM_RUNTIME_ARCHITECTURE_H

#include <optional>
#include <string>

namespace fa::rt {

/// A device's compute capability.
struct ComputeCapability {
  int major = 0, minor = 0;

  /// "sm_80".
  std::string str() const;
};

/// What a kernel was compiled for: "sm_80", or "sm_90a", whose instructions
/// exist on exactly that capability.
struct Architecture {
  int major = 0, minor = 0;
  bool exact = false;

  /// Parses "sm_XY" or "sm_XYa" (XY of two or three digits); nothing else.
  static std::optional<Architecture> parse(const std::string &text);

  /// "sm_90a".
  std::string str() const;

  /// Whether a cubin for this architecture runs on a device: the same major
  /// and at least the minor; exactly equal for an exact one.
  bool cubinRunsOn(ComputeCapability device) const;

  /// Whether the driver can compile PTX for this architecture for a device:
  /// any capability that is at least this one; exactly equal for an exact one.
  bool ptxRunsOn(ComputeCapability device) const;

  /// Orders by capability, an exact one after the plain one of its number.
  bool operator<(const Architecture &other) const;
};

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_ARCHITECTURE_H
