//===- Distribution.cpp - What random inputs are drawn from -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Distribution.h"

#include "llvm/ADT/Twine.h"

#include <cmath>

using namespace fa::execute;

/// 64 random bits for a number (the splitmix64 finalizer).
static uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

double fa::execute::drawNormal(uint64_t stream, uint64_t index) {
  constexpr double twoPi = 6.283185307179586;
  uint64_t bits = mix(mix(stream) ^ index);
  // Box and Muller's transform of two uniform draws; the first is never 0.
  double radius = (double(bits & 0xffffffff) + 1) * 0x1p-32;
  double angle = double(bits >> 32) * 0x1p-32;
  return std::sqrt(-2 * std::log(radius)) * std::cos(twoPi * angle);
}

uint64_t fa::execute::drawBelow(uint64_t stream, uint64_t index, uint64_t end) {
  return mix(mix(stream) ^ index) % end;
}

llvm::Expected<Distribution> Distribution::parse(llvm::StringRef text) {
  if (text == "normal")
    return Distribution{};
  auto [name, number] = text.split(':');
  Distribution result;
  result.kind = name == "large" ? Large : Constant;
  bool known = name == "large" || name == "constant";
  if (!known || number.getAsDouble(result.value))
    return llvm::createStringError(
        "'" + text +
        "' is not a distribution: normal, large:NUMBER or constant:NUMBER is");
  // Not a number is not in the range either.
  if (!(result.value > 0 && result.value <= kMaxValue))
    return llvm::createStringError(
        "the number in '" + text + "' must be positive and at most " +
        llvm::Twine(kMaxValue) + ", above which inputs overflow");
  return result;
}
