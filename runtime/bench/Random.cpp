//===- Random.cpp - Inputs drawn from a seed ------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"

#include <cmath>
#include <cstdlib>

using namespace fa::bench;

uint64_t fa::bench::mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

float fa::bench::normal(uint64_t stream, uint64_t index) {
  uint64_t bits = mix(mix(stream) ^ index);
  // Box and Muller's transform of two uniform draws; the first is never 0.
  float radius = (float(uint32_t(bits) >> 8) + 1) * 0x1p-24f;
  float angle = float(bits >> 40) * 0x1p-24f;
  return std::sqrt(-2 * std::log(radius)) * std::cos(6.2831853f * angle);
}

std::optional<Distribution> Distribution::parse(const std::string &text) {
  if (text == "normal")
    return Distribution{};
  size_t colon = text.find(':');
  std::string kind = text.substr(0, colon);
  if (colon == std::string::npos || (kind != "large" && kind != "constant"))
    return std::nullopt;
  const char *number = text.c_str() + colon + 1;
  char *end = nullptr;
  float value = std::strtof(number, &end);
  if (end == number || *end || !std::isfinite(value))
    return std::nullopt;
  return Distribution{kind == "large" ? Large : Constant, value};
}

float Distribution::draw(uint64_t stream, uint64_t index) const {
  return kind == Constant ? value : value * normal(stream, index);
}
