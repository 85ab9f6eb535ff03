//===- Cell.h - What a timed launch works on -----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_CELL_H
#define FLASHLOOM_BENCH_CELL_H

#include "Device.h"
#include "Kernel.h"
#include "Sampling.h"

#include <string>

namespace fa::bench {

/// Buffers that every cell of one element type views with its own shape.
struct Buffers {
  Buffers(const Device &device, fa_dtype dtype, int64_t elements,
          uint64_t seed);

  fa_dtype dtype;
  DeviceBuffer q, k, v, o, lse;
};

/// The arguments of a launch of `kernel` on `sizes`, but for extras.
fa_forward_params cellParams(const rt::Kernel &kernel, const Sizes &sizes,
                             const Buffers &buffers, Layout layout);

/// The columns of the CSV that say which cell it is: dtype to seq_kv.
std::string cellColumns(const rt::Kernel &kernel, const Sizes &sizes);
/// The CSV's first line.
inline constexpr const char *kCsvHeader =
    "peer,pass,dtype,head_dim,head_dim_v,variant,batch,heads,kv_heads,seq_q,"
    "seq_kv,median_ms,rate\n";

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_CELL_H
