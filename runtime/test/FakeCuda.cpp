//===- FakeCuda.cpp - A CUDA driver on the CPU, for fa-bench --------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libcuda.so.1 whose device memory is the host's and whose kernels are one
// attention routine on bf16. A module's image is text, whose words choose what
// the kernel does wrong: "unwritten", "wrong", "guard", "nan-keys", "fault",
// "hang"; "causal" chooses the mask, "small" leaves batches of more than 4
// alone, "fast" takes half the time. The parameters are those of
// TestLibrary.h's kernelJson; "drifting" adds what no other launch did; "idle"
// does nothing, with any parameters, "second-wrong" is wrong once, and "gemm"
// is the product of programJson.
//
//===----------------------------------------------------------------------===//

#include "Float16.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace fa::bench;

namespace {

struct Image {
  std::string text;
  bool has(const char *word) const {
    return text.find(word) != std::string::npos;
  }
};

/// A memref descriptor as it arrives.
struct Descriptor {
  uint8_t *data;
  const uint64_t *sizes, *strides;

  uint16_t *at(uint64_t b, uint64_t h, uint64_t s) const {
    return reinterpret_cast<uint16_t *>(data) + b * strides[0] +
           h * strides[1] + s * strides[2];
  }
};

struct Arguments {
  Descriptor q, k, v, o, lse;
  float scale;

  /// The head of k and v that a head of q reads.
  uint64_t kvHead(uint64_t h) const { return h / (q.sizes[1] / k.sizes[1]); }
};

} // namespace

static int streamState = 0;
static int launches = 0;
/// Of the launch that events are asked about.
static float lastMs = 0.5f;
/// What "small" computes.
static constexpr uint64_t kSmallBatch = 4;
static constexpr int kNotReady = 600, kIllegalAddress = 700;

static Arguments unpack(const std::vector<uint64_t> &slots) {
  auto descriptor = [&](size_t at, size_t rank) {
    return Descriptor{reinterpret_cast<uint8_t *>(slots[at]), &slots[at + 3],
                      &slots[at + 3 + rank]};
  };
  Arguments args{descriptor(0, 4),  descriptor(11, 4), descriptor(22, 4),
                 descriptor(34, 4), descriptor(45, 3), 0};
  std::memcpy(&args.scale, &slots[33], sizeof(float));
  return args;
}

/// Stores as a GPU does, whose NaN has one form.
static uint16_t narrowed(float value) {
  return std::isnan(value) ? 0x7fff : toBf16(value);
}

/// Scores of one row, -inf where masked.
static std::vector<float> scoresOf(const Image &image, const Arguments &args,
                                   uint64_t b, uint64_t h, uint64_t i) {
  int64_t seqQ = args.q.sizes[2], seqKv = args.k.sizes[2];
  uint64_t kvHead = args.kvHead(h);
  std::vector<float> scores(seqKv, -INFINITY);
  for (int64_t j = 0; j < seqKv; ++j) {
    if (image.has("causal") && int64_t(i) + seqKv - seqQ < j)
      continue;
    scores[j] = 0;
    for (uint64_t d = 0; d < args.q.sizes[3]; ++d)
      scores[j] += args.scale * fromBf16(args.q.at(b, h, i)[d]) *
                   fromBf16(args.k.at(b, kvHead, j)[d]);
  }
  return scores;
}

static bool isWrong(const Image &image) {
  return image.has("second-wrong") ? launches == 2 : image.has("wrong");
}

static void computeRow(const Image &image, const Arguments &args, uint64_t b,
                       uint64_t h, uint64_t i) {
  std::vector<float> scores = scoresOf(image, args, b, h, i);
  uint64_t dimV = args.v.sizes[3];
  std::vector<float> o(dimV, 0);
  float max = -INFINITY, sum = 0;
  for (float score : scores)
    max = std::max(max, score);
  for (uint64_t j = 0; max != -INFINITY && j < scores.size(); ++j) {
    float p = std::exp(scores[j] - max);
    sum += p;
    for (uint64_t d = 0; p != 0 && d < dimV; ++d)
      o[d] += p * fromBf16(args.v.at(b, args.kvHead(h), j)[d]);
  }
  // The fault of a kernel that multiplies keys behind the end by 0.
  if (image.has("nan-keys"))
    o[0] += 0 * fromBf16(args.v.at(b, args.kvHead(h), scores.size())[0]);
  for (uint64_t d = 0; d < dimV; ++d)
    args.o.at(b, h, i)[d] =
        narrowed((sum > 0 ? o[d] / sum : o[d]) + (isWrong(image) && !d) +
                 (image.has("drifting") && !d ? float(launches) : 0));
  float lse = sum > 0 ? max + std::log(sum) : -INFINITY;
  uint64_t offset = b * args.lse.strides[0] + h * args.lse.strides[1] +
                    i * args.lse.strides[2];
  std::memcpy(args.lse.data + offset * sizeof(lse), &lse, sizeof(lse));
}

static void runKernel(const Image &image, const Arguments &args) {
  if (image.has("small") && args.q.sizes[0] > kSmallBatch)
    return;
  for (uint64_t b = 0; b < args.q.sizes[0]; ++b)
    for (uint64_t h = 0; h < args.q.sizes[1]; ++h) {
      uint64_t rows = args.q.sizes[2];
      for (uint64_t i = 0; i < rows; ++i)
        if (!image.has("unwritten") || i + 1 < rows)
          computeRow(image, args, b, h, i);
      if (image.has("guard"))
        *args.o.at(b, h, rows) = 0;
    }
}

/// result = relu(a b + bias) of matrices.
static void runGemm(const Image &image, const std::vector<uint64_t> &slots) {
  auto matrix = [&](size_t at) {
    return Descriptor{reinterpret_cast<uint8_t *>(slots[at]), &slots[at + 3],
                      &slots[at + 5]};
  };
  auto element = [](const Descriptor &m, uint64_t i, uint64_t j) -> uint16_t & {
    return reinterpret_cast<uint16_t *>(m.data)[i * m.strides[0] + j];
  };
  Descriptor a = matrix(0), b = matrix(7), result = matrix(15);
  float bias;
  std::memcpy(&bias, &slots[14], sizeof(bias));
  const uint64_t rows = result.sizes[0], cols = result.sizes[1];
  for (uint64_t i = 0; i < rows; ++i)
    for (uint64_t j = 0; j < cols; ++j) {
      if (image.has("unwritten") && i + 1 == rows)
        continue;
      float sum = bias;
      for (uint64_t k = 0; k < a.sizes[1]; ++k)
        sum += fromBf16(element(a, i, k)) * fromBf16(element(b, k, j));
      if (image.has("wrong") && !i && !j)
        sum += 8;
      element(result, i, j) = narrowed(std::max(sum, 0.0f));
    }
  if (image.has("guard"))
    element(result, rows, 0) = 0;
}

#define FAKE extern "C" __attribute__((visibility("default"))) int

FAKE cuGetErrorName(int, const char **name) {
  *name = "CUDA_ERROR_FAKE";
  return 0;
}
FAKE cuGetErrorString(int, const char **text) {
  *text = "a fake error";
  return 0;
}
FAKE cuInit(unsigned) { return 0; }
FAKE cuDriverGetVersion(int *version) {
  *version = 13000;
  return 0;
}
FAKE cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}
FAKE cuDeviceGet(int *device, int) {
  *device = 0;
  return 0;
}
FAKE cuDeviceGetName(char *name, int size, int) {
  std::strncpy(name, "Fake GPU", size);
  return 0;
}
FAKE cuDeviceGetPCIBusId(char *id, int size, int) {
  std::strncpy(id, "0000:00:00.0", size);
  return 0;
}
FAKE cuDeviceGetAttribute(int *value, int attribute, int) {
  *value = attribute == 75 ? 8 : 0;
  return 0;
}
FAKE cuDevicePrimaryCtxRetain(void **context, int) {
  *context = &streamState;
  return 0;
}
FAKE cuCtxSetCurrent(void *) { return 0; }
FAKE cuCtxGetCurrent(void **context) {
  *context = &streamState;
  return 0;
}
FAKE cuCtxGetId(void *, unsigned long long *id) {
  *id = 1;
  return 0;
}
FAKE cuCtxGetDevice(int *device) {
  *device = 0;
  return 0;
}
FAKE cuCtxPushCurrent_v2(void *) { return 0; }
FAKE cuCtxPopCurrent_v2(void **) { return 0; }
FAKE cuMemAlloc_v2(uint64_t *address, size_t size) {
  *address = reinterpret_cast<uint64_t>(
      std::aligned_alloc(256, (size + 255) / 256 * 256));
  return 0;
}
FAKE cuMemFree_v2(uint64_t address) {
  std::free(reinterpret_cast<void *>(address));
  return 0;
}
FAKE cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) {
  std::memcpy(reinterpret_cast<void *>(to), from, size);
  return 0;
}
FAKE cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) {
  std::memcpy(to, reinterpret_cast<void *>(from), size);
  return 0;
}
FAKE cuMemsetD8_v2(uint64_t to, unsigned char value, size_t size) {
  std::memset(reinterpret_cast<void *>(to), value, size);
  return 0;
}
FAKE cuMemsetD32Async(uint64_t, unsigned, size_t, void *) { return 0; }
FAKE cuMemHostAlloc(void **memory, size_t size, unsigned) {
  *memory = std::malloc(size);
  return 0;
}
FAKE cuMemHostGetDevicePointer_v2(uint64_t *address, void *memory, unsigned) {
  *address = reinterpret_cast<uint64_t>(memory);
  return 0;
}
FAKE cuMemFreeHost(void *memory) {
  std::free(memory);
  return 0;
}
FAKE cuStreamCreate(void **stream, unsigned) {
  *stream = &streamState;
  return 0;
}
FAKE cuStreamQuery(void *) { return streamState; }
FAKE cuEventCreate(void **event, unsigned) {
  *event = &streamState;
  return 0;
}
FAKE cuEventRecord(void *, void *) { return 0; }
FAKE cuEventElapsedTime(float *ms, void *, void *) {
  *ms = lastMs;
  return 0;
}
FAKE cuEventDestroy_v2(void *) { return 0; }
FAKE cuModuleLoadData(void **module, const void *image) {
  *module = new Image{static_cast<const char *>(image)};
  return 0;
}
FAKE cuModuleUnload(void *module) {
  delete static_cast<Image *>(module);
  return 0;
}
FAKE cuModuleGetFunction(void **function, void *module, const char *) {
  *function = module;
  return 0;
}
FAKE cuFuncSetAttribute(void *, int, int) { return 0; }
FAKE cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int,
                                                 size_t) {
  *blocks = 1;
  return 0;
}

/// Each of 8 bytes but for the scale of attention and the bias of a product. Of
/// an idle kernel's it is not known.
FAKE cuFuncGetParamInfo(void *function, size_t index, size_t *offset,
                        size_t *size) {
  if (static_cast<Image *>(function)->has("idle"))
    return 1;
  const bool isGemm = static_cast<Image *>(function)->has("gemm");
  *offset = index * 8;
  *size = index == (isGemm ? 14 : 33) ? 4 : 8;
  return index < size_t(isGemm ? 22 : 54) ? 0 : 1;
}

FAKE cuLaunchKernel(void *function, unsigned, unsigned, unsigned, unsigned,
                    unsigned, unsigned, unsigned, void *, void **params,
                    void **list) {
  const Image &image = *static_cast<Image *>(function);
  ++launches;
  lastMs = image.has("fast") ? 0.25f : 0.5f;
  if (image.has("idle"))
    return 0;
  // By the address of each, or by those of a buffer and of its size.
  const bool isGemm = image.has("gemm");
  const size_t count = isGemm ? 22 : 54;
  std::vector<uint64_t> slots(count);
  if (!params && *static_cast<size_t *>(list[3]) != count * sizeof(uint64_t))
    return 1;
  for (size_t i = 0; i < count; ++i)
    slots[i] = params ? *static_cast<uint64_t *>(params[i])
                      : static_cast<uint64_t *>(list[1])[i];
  if (isGemm) {
    runGemm(image, slots);
    return 0;
  }
  if (image.has("hang"))
    streamState = kNotReady;
  else if (image.has("fault"))
    streamState = kIllegalAddress;
  else
    runKernel(image, unpack(slots));
  return 0;
}
