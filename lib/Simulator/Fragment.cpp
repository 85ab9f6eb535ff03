//===- Fragment.cpp - Register values of the simulator -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Simulator/Fragment.h"

#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace fa::sim;

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

std::optional<FloatFormat> fa::sim::getFloatFormat(Type type) {
  if (type.isF32())
    return FloatFormat::F32;
  if (type.isF16())
    return FloatFormat::F16;
  if (type.isBF16())
    return FloatFormat::BF16;
  return std::nullopt;
}

int64_t fa::sim::getByteSize(FloatFormat format) {
  return format == FloatFormat::F32 ? 4 : 2;
}

/// Rounds the mantissa of finite `bits` to what is left without its `dropped`
/// lowest bits. A carry into the exponent is the right result.
static uint32_t roundMantissa(uint32_t bits, unsigned dropped) {
  uint32_t half = (1u << (dropped - 1)) - 1;
  bits += half + ((bits >> dropped) & 1);
  return bits & ~((1u << dropped) - 1);
}

static float roundToBF16(float value) {
  if (std::isnan(value))
    return value;
  return llvm::bit_cast<float>(
      roundMantissa(llvm::bit_cast<uint32_t>(value), 16));
}

/// The smallest normal value of f16, and what rounds to infinity.
static constexpr float kMinNormalF16 = 0x1p-14f, kOverflowF16 = 65520.0f;

static float roundToF16(float value) {
  float magnitude = std::fabs(value);
  if (std::isnan(value))
    return value;
  if (magnitude >= kOverflowF16)
    return std::copysign(std::numeric_limits<float>::infinity(), value);
  // Values around 0.5 have the distance of f16's subnormals, 2^-24.
  if (magnitude < kMinNormalF16)
    return std::copysign((magnitude + 0.5f) - 0.5f, value);
  return llvm::bit_cast<float>(
      roundMantissa(llvm::bit_cast<uint32_t>(value), 13));
}

float fa::sim::roundTo(FloatFormat format, float value) {
  switch (format) {
  case FloatFormat::F32:
    return value;
  case FloatFormat::F16:
    return roundToF16(value);
  case FloatFormat::BF16:
    return roundToBF16(value);
  }
  llvm_unreachable("all formats are handled");
}

void fa::sim::roundInPlace(FloatFormat format, MutableArrayRef<float> values) {
  if (format == FloatFormat::F32)
    return;
  for (float &value : values)
    value = roundTo(format, value);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static float decodeF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t rest = bits & 0x7fff;
  if (rest >= 0x7c00) // infinity or NaN
    return llvm::bit_cast<float>(sign | 0x7f800000 | (rest << 13));
  // The exponent's bias differs by 112; the product is exact, also where the
  // f16 is subnormal.
  float magnitude = llvm::bit_cast<float>(rest << 13) * 0x1p112f;
  return llvm::bit_cast<float>(sign | llvm::bit_cast<uint32_t>(magnitude));
}

/// The bits of a `value` that f16 holds.
static uint16_t encodeF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint16_t sign = (bits >> 16) & 0x8000;
  if (std::isnan(value))
    return sign | 0x7e00;
  if (std::isinf(value))
    return sign | 0x7c00;
  float scaled = std::fabs(value) * 0x1p-112f;
  return sign | uint16_t(llvm::bit_cast<uint32_t>(scaled) >> 13);
}

void fa::sim::decode(FloatFormat format, const char *memory, int64_t count,
                     float *out) {
  if (format == FloatFormat::F32) {
    std::memcpy(out, memory, count * sizeof(float));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, memory + 2 * i, 2);
    out[i] = format == FloatFormat::BF16
                 ? llvm::bit_cast<float>(uint32_t(bits) << 16)
                 : decodeF16(bits);
  }
}

void fa::sim::encode(FloatFormat format, const float *values, int64_t count,
                     char *memory) {
  if (format == FloatFormat::F32) {
    std::memcpy(memory, values, count * sizeof(float));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits = format == FloatFormat::BF16
                        ? llvm::bit_cast<uint32_t>(values[i]) >> 16
                        : encodeF16(values[i]);
    std::memcpy(memory + 2 * i, &bits, 2);
  }
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

Fragment::Fragment(VectorType type)
    : shape(type.getShape().begin(), type.getShape().end()) {
  if (isa<FloatType>(type.getElementType()))
    floats.resize(type.getNumElements());
  else
    ints.resize(type.getNumElements());
}

void fa::sim::multiplyAdd(const float *a, const float *b, bool transposed,
                          float *c, int64_t m, int64_t n, int64_t k) {
  // The innermost loop runs along rows of b and c, which vectorises.
  std::vector<float> swapped;
  if (transposed) {
    swapped.resize(k * n);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t d = 0; d < k; ++d)
        swapped[d * n + j] = b[j * k + d];
    b = swapped.data();
  }
  for (int64_t i = 0; i < m; ++i)
    for (int64_t d = 0; d < k; ++d) {
      float factor = a[i * k + d];
      const float *row = b + d * n;
      float *sum = c + i * n;
      for (int64_t j = 0; j < n; ++j)
        sum[j] += factor * row[j];
    }
}
