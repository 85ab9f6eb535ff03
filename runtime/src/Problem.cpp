//===- Problem.cpp - Sizes and checks of a forward pass -------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include "Failure.h"

#include <cmath>
#include <cstdio>

using namespace fa::rt;

namespace {

/// Kernels read q, k and v in pieces of 16 bytes and write o in pieces of 4.
constexpr int64_t kLoadBytes = 16;
constexpr int64_t kStoreBytes = 4;

/// A tensor of the arguments with what messages and checks need to know of it.
struct View {
  const char *name;
  const fa_tensor &tensor;
  const char *dimNames[4];
  bool output;
  /// Address and strides are multiples of this many bytes.
  int64_t unitBytes;
  /// The last stride must be 1.
  bool dense;
};

struct Views {
  View q, k, v, o, lse;
  explicit Views(const fa_forward_params &p)
      : q{"q",   p.q,        {"batch", "heads", "seq_q", "head_dim"},
          false, kLoadBytes, true},
        k{"k",   p.k,        {"batch", "kv_heads", "seq_kv", "head_dim"},
          false, kLoadBytes, true},
        v{"v",   p.v,        {"batch", "kv_heads", "seq_kv", "head_dim_v"},
          false, kLoadBytes, true},
        o{"o",  p.o,         {"batch", "heads", "seq_q", "head_dim_v"},
          true, kStoreBytes, true},
        lse{"lse", p.lse,       {"batch", "heads", "seq_q", ""},
            true,  kStoreBytes, false} {}
};

} // namespace

[[noreturn]] static void refuse(const std::string &argument,
                                const std::string &rule,
                                const std::string &found) {
  throw Failure(FA_INVALID_ARGUMENT,
                argument + ": " + rule + " (found " + found + ")");
}

/// "size of dimension 2 (seq_q)".
static std::string dimName(const View &view, const char *what, int dim) {
  return std::string(what) + " of dimension " + std::to_string(dim) + " (" +
         view.dimNames[dim] + ")";
}

static bool hasElements(const View &view) {
  for (int dim = 0; dim < view.tensor.rank; ++dim)
    if (view.tensor.sizes[dim] == 0)
      return false;
  return true;
}

static void checkKind(const View &view, int rank) {
  const fa_tensor &tensor = view.tensor;
  if (tensor.rank != rank)
    refuse(view.name, "rank must be " + std::to_string(rank),
           std::to_string(tensor.rank));
  if (tensor.dtype < FA_BF16 || tensor.dtype > FA_F32)
    refuse(view.name, "dtype must be FA_BF16, FA_F16 or FA_F32",
           std::to_string(int(tensor.dtype)));
  for (int dim = 0; dim < rank; ++dim)
    if (tensor.sizes[dim] < 0)
      refuse(view.name, dimName(view, "size", dim) + " must not be negative",
             std::to_string(tensor.sizes[dim]));
}

static void checkDtype(const View &view, fa_dtype wanted, const char *why) {
  if (view.tensor.dtype != wanted)
    refuse(view.name, std::string("dtype must be ") + dtypeName(wanted) + why,
           dtypeName(view.tensor.dtype));
}

/// The size of `view`'s dimension must be that of `model`'s.
static void checkSameSize(const View &view, int dim, const View &model,
                          int modelDim) {
  int64_t wanted = model.tensor.sizes[modelDim], size = view.tensor.sizes[dim];
  if (size != wanted)
    refuse(view.name,
           dimName(view, "size", dim) + " must be " + std::to_string(wanted) +
               ", as of " + model.name,
           std::to_string(size));
}

/// The heads of q must be a multiple of those of k.
static void checkHeads(const Views &views) {
  int64_t heads = views.q.tensor.sizes[1], kvHeads = views.k.tensor.sizes[1];
  if (heads != kvHeads && (kvHeads == 0 || heads % kvHeads != 0))
    refuse("k",
           dimName(views.k, "size", 1) + " must divide q's " +
               std::to_string(heads) + " heads",
           std::to_string(kvHeads));
}

static void checkShapes(const Views &views) {
  for (const View *view : {&views.q, &views.k, &views.v, &views.o})
    checkKind(*view, 4);
  checkKind(views.lse, 3);
  for (const View *view : {&views.k, &views.v, &views.o})
    checkDtype(*view, views.q.tensor.dtype, ", as of q");
  checkDtype(views.lse, FA_F32, "");

  checkSameSize(views.k, 0, views.q, 0);
  checkHeads(views);
  checkSameSize(views.k, 3, views.q, 3);
  for (int dim = 0; dim < 3; ++dim)
    checkSameSize(views.v, dim, views.k, dim);
  for (int dim = 0; dim < 3; ++dim)
    checkSameSize(views.o, dim, views.q, dim);
  checkSameSize(views.o, 3, views.v, 3);
  for (int dim = 0; dim < 3; ++dim)
    checkSameSize(views.lse, dim, views.q, dim);
  for (const View *view : {&views.q, &views.v})
    if (view->tensor.sizes[3] == 0)
      refuse(view->name, dimName(*view, "size", 3) + " must be at least 1",
             "0");
}

/// What is wrong with a stride; "" where nothing is.
static std::string strideRule(const View &view, int dim) {
  const fa_tensor &tensor = view.tensor;
  int64_t stride = tensor.strides[dim];
  if (stride < 0)
    return " must not be negative";
  // No second element is ever reached along such a dimension.
  if (tensor.sizes[dim] == 1 || !hasElements(view))
    return "";
  if (view.dense && dim + 1 == tensor.rank)
    return stride == 1 ? "" : " must be 1";
  if (view.output && stride == 0)
    return " must not be 0, since outputs would overlap";
  int64_t unit = view.unitBytes / dtypeBytes(tensor.dtype);
  if (stride % unit != 0)
    return " must be a multiple of " + std::to_string(unit) + " elements (" +
           std::to_string(view.unitBytes) + " bytes)";
  return "";
}

static void checkStride(const View &view, int dim) {
  std::string rule = strideRule(view, dim);
  if (!rule.empty())
    refuse(view.name, dimName(view, "stride", dim) + rule,
           std::to_string(view.tensor.strides[dim]));
}

/// The byte offset of the last element must fit into 64 bits.
static void checkExtent(const View &view) {
  int64_t sum = dtypeBytes(view.tensor.dtype), term = 0;
  for (int dim = 0; dim < view.tensor.rank; ++dim) {
    int64_t steps = view.tensor.sizes[dim] - 1;
    if (__builtin_mul_overflow(steps, view.tensor.strides[dim], &term) ||
        __builtin_mul_overflow(term, dtypeBytes(view.tensor.dtype), &term) ||
        __builtin_add_overflow(sum, term, &sum))
      refuse(view.name,
             dimName(view, "stride", dim) +
                 " must keep the last element within 2^63 bytes",
             std::to_string(view.tensor.strides[dim]));
  }
}

static void checkAddress(const View &view) {
  uintptr_t address = reinterpret_cast<uintptr_t>(view.tensor.data);
  if (!address)
    refuse(view.name, "data must not be NULL", "NULL");
  if (address % view.unitBytes == 0)
    return;
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
  refuse(view.name,
         "data must be aligned to " + std::to_string(view.unitBytes) + " bytes",
         text);
}

static void checkLayout(const View &view) {
  for (int dim = 0; dim < view.tensor.rank; ++dim)
    checkStride(view, dim);
  if (!hasElements(view))
    return;
  checkExtent(view);
  checkAddress(view);
}

static void checkScale(float scale) {
  if (!std::isfinite(scale) || scale <= 0)
    refuse("scale", "must be finite and positive", std::to_string(scale));
}

Problem fa::rt::checkProblem(const fa_forward_params *params) {
  if (!params)
    refuse("params", "must not be NULL", "NULL");
  if (params->struct_size != sizeof(fa_forward_params))
    refuse("params",
           "struct_size must be " + std::to_string(sizeof(fa_forward_params)),
           std::to_string(params->struct_size));
  Views views(*params);
  checkShapes(views);
  for (const View *view : {&views.q, &views.k, &views.v, &views.o, &views.lse})
    checkLayout(*view);
  checkScale(params->scale);
  const int64_t *q = params->q.sizes, *k = params->k.sizes;
  return {params->q.dtype,
          params->variant ? params->variant : "full",
          q[0],
          q[1],
          k[1],
          q[2],
          k[2],
          q[3],
          params->v.sizes[3]};
}

const fa_tensor &fa::rt::tensorOf(Argument argument,
                                  const fa_forward_params &params) {
  switch (argument) {
  case Argument::Q:
    return params.q;
  case Argument::K:
    return params.k;
  case Argument::V:
    return params.v;
  case Argument::O:
    return params.o;
  case Argument::Lse:
    return params.lse;
  default:
    throw Failure(FA_INTERNAL_ERROR, "this argument is no tensor");
  }
}

std::string Problem::describe() const {
  return std::string("fwd ") + dtypeName(dtype) + ", head_dim " +
         std::to_string(headDim) + ", head_dim_v " + std::to_string(headDimV) +
         ", variant " + variant;
}
