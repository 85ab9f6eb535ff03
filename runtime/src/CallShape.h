//===- CallShape.h - All of a call but its addresses ------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_CALLSHAPE_H
#define FLASHLOOM_RUNTIME_CALLSHAPE_H

#include "flashloom/fa_runtime.h"

#include <string>
#include <vector>

namespace fa::rt {

/// A copy of the arguments of a call that was checked, by which another call is
/// known to be right too.
class CallShape {
public:
  CallShape() = default;
  explicit CallShape(const fa_forward_params &checked);

  /// Whether a call can be kept: not one of an earlier version's caller, nor
  /// one with a tensor without elements, which has no address.
  static bool canKeep(const fa_forward_params &checked);

  /// Whether `params`, of which nothing was checked, are as valid as those of
  /// the copy: they differ from it in addresses alone, which are there and
  /// aligned. False is no verdict.
  bool matches(const fa_forward_params &params) const;

private:
  bool matchesExtras(const fa_forward_params &params) const;

  fa_forward_params copy = {}; ///< of which addresses do not count
  std::string variant;
  std::vector<fa_extra> extras;
  std::vector<std::string> names; ///< of the extras
};

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_CALLSHAPE_H
