//===- forward.cpp - Launches attention from C++ --------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The example of runtime/README.md: causal attention on tensors that a program
// already has on the GPU, in [batch, seq, heads, head_dim] order. Its own batch
// is empty, so that it runs without one:
//
//   ninja -C build fa-runtime-example
//   build/bin/fa-runtime-example kernels     (a folder that fa-gen wrote)
//
//===----------------------------------------------------------------------===//

#include "flashloom/fa_runtime.h"

#include <cmath>
#include <cstdio>

/// A [batch, seq, heads, dim] bf16 buffer as the [batch, heads, seq, dim] view
/// that the API takes.
static fa_tensor bshd(void *data, int64_t batch, int64_t seq, int64_t heads,
                      int64_t dim) {
  return {data,
          FA_BF16,
          4,
          {batch, heads, seq, dim},
          {seq * heads * dim, dim, heads * dim, 1}};
}

/// o = softmax(causal(q k^T / sqrt(dim))) v on `stream`; lse is f32,
/// [batch, heads, seq]. The stream's context is current on this thread.
static fa_status attention(fa_library *library, void *q, void *k, void *v,
                           void *o, void *lse, int64_t batch, int64_t seq,
                           int64_t heads, int64_t dim, fa_stream stream) {
  fa_forward_params params = {};
  params.struct_size = sizeof(params);
  params.q = bshd(q, batch, seq, heads, dim);
  params.k = bshd(k, batch, seq, heads, dim);
  params.v = bshd(v, batch, seq, heads, dim);
  params.o = bshd(o, batch, seq, heads, dim);
  params.lse = {lse, FA_F32, 3, {batch, heads, seq}, {heads * seq, seq, 1}};
  params.scale = 1 / std::sqrt(float(dim));
  params.variant = "causal";
  return fa_forward(library, &params, stream);
}

int main(int argc, char **argv) {
  fa_library *library = nullptr;
  if (fa_library_open(argc > 1 ? argv[1] : "kernels", &library)) {
    std::fprintf(stderr, "%s\n", fa_last_error());
    return 1;
  }
  std::printf("%zu kernels\n", fa_library_kernel_count(library));
  // An empty batch shows the call; a program passes its own device memory.
  fa_status status = attention(library, nullptr, nullptr, nullptr, nullptr,
                               nullptr, 0, 128, 16, 128, nullptr);
  if (status != FA_SUCCESS)
    std::fprintf(stderr, "%s: %s\n", fa_status_name(status), fa_last_error());
  fa_library_close(library);
  return status != FA_SUCCESS;
}
