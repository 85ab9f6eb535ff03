//===- DlpackCall.cpp - A framework's tensors for a repeated call ---------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asking a PyTorch tensor for its sizes and strides makes Python objects, which
// takes longer than the launch. DLPack's exchange API fills a structure
// instead.
//
//===----------------------------------------------------------------------===//

#include "DlpackCall.h"

#include "Failure.h"

#include <cstdint>

using namespace fa::rt;

namespace {

/// DLDevice, DLDataType and DLTensor, whose layout DLPack keeps within a major
/// version (https://dmlc.github.io/dlpack, version 1).
struct DlDevice {
  int32_t type;
  int32_t id;
};

struct DlDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DlTensor {
  void *data;
  DlDevice device;
  int32_t rank;
  DlDataType dtype;
  int64_t *sizes;
  int64_t *strides; ///< In elements; null: compact, the last dimension fastest.
  uint64_t byteOffset;
};

constexpr int32_t kDlCpu = 1;
constexpr int32_t kDlCuda = 2;
constexpr uint8_t kDlFloat = 2;
constexpr uint8_t kDlBfloat = 4;

} // namespace

static bool isOnDevice(const DlTensor &tensor, int32_t device) {
  if (device < 0)
    return tensor.device.type == kDlCpu;
  return tensor.device.type == kDlCuda && tensor.device.id == device;
}

/// The types of q, k, v and o; a kernel takes no others there.
static bool hasType(const DlTensor &tensor, fa_dtype dtype) {
  if (tensor.dtype.bits != 16 || tensor.dtype.lanes != 1)
    return false;
  return (dtype == FA_BF16 && tensor.dtype.code == kDlBfloat) ||
         (dtype == FA_F16 && tensor.dtype.code == kDlFloat);
}

static bool hasLayout(const DlTensor &tensor, const fa_tensor &like) {
  if (tensor.rank != like.rank)
    return false;
  int64_t compact = 1;
  for (int32_t dim = like.rank - 1; dim >= 0; --dim) {
    if (tensor.sizes[dim] != like.sizes[dim])
      return false;
    int64_t stride = tensor.strides ? tensor.strides[dim] : compact;
    if (stride != like.strides[dim] && like.sizes[dim] != 1)
      return false;
    compact *= tensor.sizes[dim];
  }
  return true;
}

bool fa::rt::bindTensors(const fa_dlpack_call &call) {
  void *addresses[4];
  for (int i = 0; i < 4; ++i) {
    DlTensor tensor;
    if (call.read(call.objects[i], &tensor) != 0)
      throw Failure(FA_INVALID_ARGUMENT,
                    "the framework could not read an object as a tensor");
    const fa_tensor &like = call.like[i];
    if (!isOnDevice(tensor, call.device) || !hasType(tensor, like.dtype) ||
        !hasLayout(tensor, like))
      return false;
    addresses[i] = static_cast<char *>(tensor.data) + tensor.byteOffset;
  }
  fa_forward_params &params = *call.params;
  params.q.data = addresses[0];
  params.k.data = addresses[1];
  params.v.data = addresses[2];
  params.o.data = addresses[3];
  return true;
}
