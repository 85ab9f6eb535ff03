//===- Reference.h - Attention in float64 on the CPU ------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The answer that kernels are held against, from the same rounded inputs, by
// code that shares nothing with the compiler; and the naive computation, whose
// error says how exact a kernel can be asked to be.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_REFERENCE_H
#define FLASHLOOM_BENCH_REFERENCE_H

#include "HostTensor.h"
#include "Variants.h"

namespace fa::bench {

/// One row of the output.
struct RowId {
  int64_t b, h, i;
};

struct Inputs {
  const HostTensor &q, &k, &v;
  float scale;
  const Variant &variant;
  const VariantData &data;
};

/// Results for n chosen rows, in their order.
struct Reference {
  std::vector<RowId> rows;
  int64_t dimV = 0;
  /// [n, dimV], float64 throughout; 0 for a row that sees no key.
  std::vector<double> o;
  /// [n]; -inf for a row that sees no key.
  std::vector<double> lse;
  /// [n, dimV]: f32 softmax, P rounded to the input type, products accumulated
  /// in f32, the result rounded to the input type.
  std::vector<float> naive;
};

/// Computes rows on all threads. Rows of one head should be neighbours, since
/// they share the reading of K and V.
Reference computeReference(const Inputs &inputs, std::vector<RowId> rows);

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_REFERENCE_H
