//===- attention.cpp - A program that runs a kernel library ---------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Causal attention from memory allocation to results, in f16, on the first GPU:
//
//   ninja -C build fa-example-attention
//   build/bin/fa-example-attention kernels     (a folder that fa-gen wrote,
//   with
//                                               head_dim 64)
//
// It uses the CUDA driver alone, found at run time, so that it builds without a
// CUDA toolkit; a program that has the toolkit includes <cuda.h> or uses the
// runtime API (cudaMalloc, cudaStream_t) instead. docs/runtime-api.md explains
// it.
//
//===----------------------------------------------------------------------===//

#include "flashloom/fa_runtime.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <vector>

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

namespace {

/// The functions of the CUDA driver that this program needs.
struct Cuda {
  int (*init)(unsigned);
  int (*deviceGet)(int *, int);
  int (*retainContext)(void **, int);
  int (*setContext)(void *);
  int (*allocate)(uint64_t *, size_t);
  int (*free)(uint64_t);
  int (*upload)(uint64_t, const void *, size_t);
  int (*download)(void *, uint64_t, size_t);
  int (*streamCreate)(fa_stream *, unsigned);
  int (*streamQuery)(fa_stream);
};

} // namespace

template <typename Function>
static void find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function)
    return;
  std::fprintf(stderr, "the CUDA driver has no %s\n", name);
  std::exit(1);
}

static void check(int result, const char *what) {
  if (result == 0)
    return;
  std::fprintf(stderr, "%s failed: CUDA error %d\n", what, result);
  std::exit(1);
}

static Cuda openDriver() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "no CUDA driver: %s\n", dlerror());
    std::exit(77);
  }
  Cuda cuda;
  find(library, "cuInit", cuda.init);
  find(library, "cuDeviceGet", cuda.deviceGet);
  find(library, "cuDevicePrimaryCtxRetain", cuda.retainContext);
  find(library, "cuCtxSetCurrent", cuda.setContext);
  find(library, "cuMemAlloc_v2", cuda.allocate);
  find(library, "cuMemFree_v2", cuda.free);
  find(library, "cuMemcpyHtoD_v2", cuda.upload);
  find(library, "cuMemcpyDtoH_v2", cuda.download);
  find(library, "cuStreamCreate", cuda.streamCreate);
  find(library, "cuStreamQuery", cuda.streamQuery);
  return cuda;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

namespace {
/// The problem: [batch, seq, heads, dim] in memory, as most models have it.
struct Shape {
  int64_t batch, seq, heads, dim;
  int64_t elements() const { return batch * seq * heads * dim; }
};
} // namespace

/// Such a buffer as the [batch, heads, seq, dim] view that the API takes.
static fa_tensor viewOf(uint64_t address, const Shape &shape) {
  return {reinterpret_cast<void *>(address),
          FA_F16,
          4,
          {shape.batch, shape.heads, shape.seq, shape.dim},
          {shape.seq * shape.heads * shape.dim, shape.dim,
           shape.heads * shape.dim, 1}};
}

/// 0, 1, 2 or 3 as an f16: what q, k and v are filled with.
static uint16_t smallNumber(int64_t index) {
  const uint16_t numbers[] = {0x0000, 0x3c00, 0x4000, 0x4200};
  return numbers[index % 4];
}

static uint64_t uploadNumbers(const Cuda &cuda, const Shape &shape) {
  std::vector<uint16_t> host(shape.elements());
  for (size_t i = 0; i < host.size(); ++i)
    host[i] = smallNumber(int64_t(i * 7));
  uint64_t address = 0;
  check(cuda.allocate(&address, host.size() * sizeof(uint16_t)), "cuMemAlloc");
  check(cuda.upload(address, host.data(), host.size() * sizeof(uint16_t)),
        "cuMemcpyHtoD");
  return address;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Prints why a call failed: the status by its name, and what was wrong.
static int fail(fa_status status) {
  std::fprintf(stderr, "%s: %s\n", fa_status_name(status), fa_last_error());
  return 1;
}

int main(int argc, char **argv) {
  // 1. The library. No kernel is loaded yet, and no GPU is needed.
  fa_library *library = nullptr;
  fa_status status = fa_library_open(argc > 1 ? argv[1] : "kernels", &library);
  if (status)
    return fail(status);
  std::printf("%zu kernels\n", fa_library_kernel_count(library));

  // 2. A context, a stream and memory: the program's own.
  Cuda cuda = openDriver();
  int device = 0;
  void *context = nullptr;
  fa_stream stream = nullptr;
  check(cuda.init(0), "cuInit");
  check(cuda.deviceGet(&device, 0), "cuDeviceGet");
  check(cuda.retainContext(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuda.setContext(context), "cuCtxSetCurrent");
  check(cuda.streamCreate(&stream, 0), "cuStreamCreate");
  Shape shape{/*batch=*/2, /*seq=*/100, /*heads=*/4, /*dim=*/64};
  uint64_t q = uploadNumbers(cuda, shape), k = uploadNumbers(cuda, shape);
  uint64_t v = uploadNumbers(cuda, shape), o = uploadNumbers(cuda, shape);
  uint64_t lse = 0;
  int64_t rows = shape.batch * shape.heads * shape.seq;
  check(cuda.allocate(&lse, rows * sizeof(float)), "cuMemAlloc");

  // 3. The arguments. Everything that is not set is 0.
  fa_forward_params params = {};
  params.struct_size = sizeof(params);
  params.q = viewOf(q, shape);
  params.k = viewOf(k, shape);
  params.v = viewOf(v, shape);
  params.o = viewOf(o, shape);
  params.lse = {reinterpret_cast<void *>(lse),
                FA_F32,
                3,
                {shape.batch, shape.heads, shape.seq},
                {shape.heads * shape.seq, shape.seq, 1}};
  params.scale = 1 / std::sqrt(float(shape.dim));
  params.variant = "causal";

  // 4. The launch: it returns before the kernel has run.
  status = fa_forward(library, &params, stream);
  if (status)
    return fail(status);
  const int notReady = 600;
  int result = notReady;
  while (result == notReady)
    result = cuda.streamQuery(stream);
  check(result, "the kernel");

  // 5. Results. The first row of a causal problem sees the first key alone.
  float first = 0;
  uint16_t element = 0;
  check(cuda.download(&first, lse, sizeof(first)), "cuMemcpyDtoH");
  check(cuda.download(&element, o + sizeof(element), sizeof(element)),
        "cuMemcpyDtoH");
  std::printf("lse[0] %.3f, o[1] %s v[1]\n", first,
              element == smallNumber(7) ? "is" : "is not");

  // 6. A wrong argument: nothing is launched, and the message says what it is.
  params.k.sizes[1] = 3;
  status = fa_forward(library, &params, stream);
  std::printf("%s: %s\n", fa_status_name(status), fa_last_error());

  fa_library_close(library);
  for (uint64_t address : {q, k, v, o, lse})
    check(cuda.free(address), "cuMemFree");
  return status == FA_INVALID_ARGUMENT ? 0 : 1;
}
