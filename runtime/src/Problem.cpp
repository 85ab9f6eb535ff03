//===- Problem.cpp - Sizes and checks of a forward pass -------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include "Failure.h"
#include "TensorView.h"

#include <cmath>
#include <cstddef>
#include <cstring>

using namespace fa::rt;

namespace {

/// The size of fa_forward_params in version 0.1.
constexpr size_t kSizeWithoutExtras = offsetof(fa_forward_params, extras);
/// And in the version with extras, but without workspaces.
constexpr size_t kSizeWithoutWorkspace = offsetof(fa_forward_params, workspace);
/// And in the version with workspaces, but without flags, which do not lie in
/// what that version had behind its last field.
constexpr size_t kSizeWithoutFlags = offsetof(fa_forward_params, flags);
static_assert(kSizeWithoutFlags ==
              offsetof(fa_forward_params, splits) + alignof(size_t));

/// All bits of fa_forward_flag.
constexpr uint64_t kAllFlags = FA_REUSE_LISTS;

struct Views {
  TensorView q, k, v, o, lse;
  explicit Views(const fa_forward_params &p)
      : q{"q",   p.q,         {"batch", "heads", "seq_q", "head_dim"},
          false, kPieceBytes, true},
        k{"k",   p.k,         {"batch", "kv_heads", "seq_kv", "head_dim"},
          false, kPieceBytes, true},
        v{"v",   p.v,         {"batch", "kv_heads", "seq_kv", "head_dim_v"},
          false, kPieceBytes, true},
        o{"o",  p.o,         {"batch", "heads", "seq_q", "head_dim_v"},
          true, kPieceBytes, true},
        lse{"lse", p.lse,     {"batch", "heads", "seq_q", ""},
            true,  kLseBytes, false} {}
};

} // namespace

static void checkKind(const TensorView &view, int rank) {
  checkRank(view, rank);
  fa_dtype dtype = view.tensor.dtype;
  if (dtype < FA_BF16 || dtype > FA_F32)
    refuse(view.name, "dtype must be FA_BF16, FA_F16 or FA_F32",
           std::to_string(int(dtype)));
}

static void checkDtype(const TensorView &view, fa_dtype wanted,
                       const char *why) {
  if (view.tensor.dtype != wanted)
    refuse(view.name, std::string("dtype must be ") + dtypeName(wanted) + why,
           dtypeName(view.tensor.dtype));
}

/// The size of `view`'s dimension must be that of `model`'s.
static void checkSameSize(const TensorView &view, int dim,
                          const TensorView &model, int modelDim) {
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
  for (const TensorView *view : {&views.q, &views.k, &views.v, &views.o})
    checkKind(*view, 4);
  checkKind(views.lse, 3);
  for (const TensorView *view : {&views.k, &views.v, &views.o})
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
  for (const TensorView *view : {&views.q, &views.v})
    if (view->tensor.sizes[3] == 0)
      refuse(view->name, dimName(*view, "size", 3) + " must be at least 1",
             "0");
}

static void checkScale(float scale) {
  if (!std::isfinite(scale) || scale <= 0)
    refuse("scale", "must be finite and positive", std::to_string(scale));
}

static void checkStructSize(const fa_forward_params &params) {
  for (size_t size : {sizeof(fa_forward_params), kSizeWithoutFlags,
                      kSizeWithoutWorkspace, kSizeWithoutExtras})
    if (params.struct_size == size)
      return;
  refuse("params",
         "struct_size must be " + std::to_string(sizeof(fa_forward_params)),
         std::to_string(params.struct_size));
}

static void checkFlags(uint64_t flags) {
  if (flags & ~kAllFlags)
    refuse("flags", "must be bits of fa_forward_flag", std::to_string(flags));
}

Problem fa::rt::checkProblem(const fa_forward_params *params) {
  if (!params)
    refuse("params", "must not be NULL", "NULL");
  checkStructSize(*params);
  checkFlags(flagsOf(*params));
  Views views(*params);
  checkShapes(views);
  for (const TensorView *view :
       {&views.q, &views.k, &views.v, &views.o, &views.lse})
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

void fa::rt::checkRowStride(const fa_forward_params &params) {
  const fa_tensor &lse = params.lse;
  if (lse.sizes[2] > 1 && lse.strides[2] != 1)
    refuse("lse", "stride of dimension 2 (seq_q) must be 1",
           std::to_string(lse.strides[2]));
}

int64_t fa::rt::sizeOf(Argument argument, const Problem &problem) {
  switch (argument) {
  case Argument::Batch:
    return problem.batch;
  case Argument::Heads:
    return problem.heads;
  case Argument::KvHeads:
    return problem.kvHeads;
  case Argument::SeqQ:
    return problem.seqQ;
  case Argument::SeqKv:
    return problem.seqKv;
  default:
    throw Failure(FA_INTERNAL_ERROR, "this argument is no size");
  }
}

ExtraRange fa::rt::extrasOf(const fa_forward_params &params) {
  if (params.struct_size == kSizeWithoutExtras)
    return {};
  if (params.num_extras && !params.extras)
    refuse("extras", "must not be NULL", "NULL");
  return {params.extras, params.num_extras};
}

WorkspaceArguments fa::rt::workspaceOf(const fa_forward_params &params) {
  if (params.struct_size <= kSizeWithoutWorkspace)
    return {};
  return {params.workspace, params.workspace_bytes, params.splits};
}

uint64_t fa::rt::flagsOf(const fa_forward_params &params) {
  return params.struct_size <= kSizeWithoutFlags ? 0 : params.flags;
}

fa_forward_params fa::rt::copyOf(const fa_forward_params &params) {
  fa_forward_params copy = {};
  std::memcpy(&copy, &params, params.struct_size);
  return copy;
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
