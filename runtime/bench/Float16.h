//===- Float16.h - bf16 and f16 on the host ---------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions between float and the 16-bit formats, bit by bit, so that they
// depend on no compiler's or library's own types.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_FLOAT16_H
#define FLASHLOOM_BENCH_FLOAT16_H

#include "flashloom/fa_runtime.h"

#include <cstdint>

namespace fa::bench {

/// Rounds to nearest even; a NaN stays one; over the range becomes infinity.
uint16_t toBf16(float value);
uint16_t toF16(float value);

float fromBf16(uint16_t bits);
float fromF16(uint16_t bits);

/// `value` rounded to an element type and back.
float roundTo(fa_dtype dtype, float value);

/// Writes `count` elements of an element type.
void narrow(fa_dtype dtype, const float *from, void *to, int64_t count);

/// Reads `count` elements of an element type.
void widen(fa_dtype dtype, const void *from, float *to, int64_t count);

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_FLOAT16_H
