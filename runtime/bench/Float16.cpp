//===- Float16.cpp - bf16 and f16 on the host -----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float16.h"

#include <cmath>
#include <cstring>

using namespace fa::bench;

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

static bool isNan(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

/// `bits` without its lowest `drop` bits, rounded to nearest even.
static uint32_t shiftRounded(uint32_t bits, unsigned drop) {
  uint32_t half = 1u << (drop - 1), odd = (bits >> drop) & 1;
  return (bits + half - 1 + odd) >> drop;
}

uint16_t fa::bench::toBf16(float value) {
  uint32_t bits = bitsOf(value);
  if (isNan(bits))
    return uint16_t((bits >> 16) | 0x40); // quiet, and not infinity
  return uint16_t(shiftRounded(bits, 16));
}

float fa::bench::fromBf16(uint16_t bits) {
  return floatOf(uint32_t(bits) << 16);
}

uint16_t fa::bench::toF16(float value) {
  uint32_t bits = bitsOf(value), sign = (bits >> 16) & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (isNan(bits))
    return uint16_t(sign | 0x7e00 | ((magnitude >> 13) & 0x1ff));
  // 65520 is halfway between the largest finite value and the next power.
  if (magnitude >= bitsOf(65520.0f))
    return uint16_t(sign | 0x7c00);
  // The exponent's bias goes from 127 to 15; a carry out of the mantissa
  // raises the exponent, as it must.
  if (magnitude >= bitsOf(0x1p-14f))
    return uint16_t(sign | shiftRounded(magnitude - (112u << 23), 13));
  // Subnormal: a multiple of 2^-24, rounded by adding 2^-1, whose last mantissa
  // bit stands for just that.
  float shifted = floatOf(magnitude) + 0.5f;
  return uint16_t(sign | (bitsOf(shifted) - bitsOf(0.5f)));
}

float fa::bench::fromF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) // infinity and NaN
    return floatOf(sign | 0x7f800000 | ((magnitude & 0x3ff) << 13));
  if (magnitude >= 0x400)
    return floatOf(sign | ((magnitude << 13) + (112u << 23)));
  float value = float(magnitude) * 0x1p-24f;
  return sign ? -value : value;
}

float fa::bench::roundTo(fa_dtype dtype, float value) {
  switch (dtype) {
  case FA_BF16:
    return fromBf16(toBf16(value));
  case FA_F16:
    return fromF16(toF16(value));
  case FA_F32:
  case FA_I32:
    break;
  }
  return value;
}

void fa::bench::narrow(fa_dtype dtype, const float *from, void *to,
                       int64_t count) {
  if (dtype == FA_F32) {
    std::memcpy(to, from, count * sizeof(float));
    return;
  }
  uint16_t *out = static_cast<uint16_t *>(to);
  for (int64_t i = 0; i < count; ++i)
    out[i] = dtype == FA_BF16 ? toBf16(from[i]) : toF16(from[i]);
}

void fa::bench::widen(fa_dtype dtype, const void *from, float *to,
                      int64_t count) {
  if (dtype == FA_F32) {
    std::memcpy(to, from, count * sizeof(float));
    return;
  }
  const uint16_t *in = static_cast<const uint16_t *>(from);
  if (dtype == FA_BF16)
    for (int64_t i = 0; i < count; ++i)
      to[i] = fromBf16(in[i]);
  else
    for (int64_t i = 0; i < count; ++i)
      to[i] = fromF16(in[i]);
}
