//===- CallShape.cpp - All of a call but its addresses --------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallShape.h"

#include "Problem.h"

#include <algorithm>
#include <cstring>

using namespace fa::rt;

static bool hasElements(const fa_tensor &tensor) {
  return std::count(tensor.sizes, tensor.sizes + tensor.rank, 0) == 0;
}

/// Whether two tensors are the same but for their addresses. Bytes that do not
/// count may make them differ, which costs time and nothing else.
static bool isAlike(const fa_tensor &a, const fa_tensor &b) {
  constexpr size_t first = offsetof(fa_tensor, dtype);
  return std::memcmp(&a.dtype, &b.dtype, sizeof(fa_tensor) - first) == 0;
}

static bool isAligned(const void *address, int64_t unit) {
  return address && reinterpret_cast<uintptr_t>(address) % uintptr_t(unit) == 0;
}

/// What the address of an extra tensor must be a multiple of to be like that of
/// `kept`: the kernel may copy by a tensor map what lies as those want it.
static int64_t unitOf(const fa_tensor &kept) {
  return isAligned(kept.data, kPieceBytes) ? kPieceBytes
                                           : dtypeBytes(kept.dtype);
}

bool CallShape::canKeep(const fa_forward_params &checked) {
  if (checked.struct_size != sizeof(fa_forward_params))
    return false;
  const ExtraRange extras = extrasOf(checked);
  return hasElements(checked.q) && hasElements(checked.k) &&
         hasElements(checked.v) &&
         std::all_of(extras.begin(), extras.end(), [](const fa_extra &extra) {
           return extra.kind != FA_EXTRA_TENSOR || hasElements(extra.tensor);
         });
}

CallShape::CallShape(const fa_forward_params &checked)
    : copy(checked), variant(checked.variant ? checked.variant : "full") {
  for (const fa_extra &extra : extrasOf(checked)) {
    extras.push_back(extra);
    names.push_back(extra.name);
  }
}

bool CallShape::matchesExtras(const fa_forward_params &params) const {
  if (params.num_extras != extras.size() || (!extras.empty() && !params.extras))
    return false;
  for (size_t i = 0; i != extras.size(); ++i) {
    const fa_extra &extra = params.extras[i], &kept = extras[i];
    if (!extra.name || extra.name != names[i] || extra.kind != kept.kind)
      return false;
    if (kept.kind != FA_EXTRA_TENSOR) {
      if (extra.dtype != kept.dtype || extra.i32 != kept.i32 ||
          std::memcmp(&extra.f32, &kept.f32, sizeof(float)) != 0)
        return false;
    } else if (!isAlike(extra.tensor, kept.tensor) ||
               !isAligned(extra.tensor.data, unitOf(kept.tensor))) {
      return false;
    }
  }
  return true;
}

bool CallShape::matches(const fa_forward_params &params) const {
  // 1. The size says which fields there are.
  if (params.struct_size != sizeof(fa_forward_params))
    return false;
  // 2. What is likely to differ.
  if (!isAlike(params.q, copy.q) || !isAlike(params.k, copy.k) ||
      variant != (params.variant ? params.variant : "full"))
    return false;
  // 3. The rest.
  if (!isAlike(params.v, copy.v) || !isAlike(params.o, copy.o) ||
      !isAlike(params.lse, copy.lse) ||
      std::memcmp(&params.scale, &copy.scale, sizeof(float)) != 0 ||
      params.splits != copy.splits || params.flags != copy.flags ||
      params.workspace_bytes != copy.workspace_bytes || !matchesExtras(params))
    return false;
  // 4. Addresses, by the rules that checks have for them.
  const bool hasWorkspace = copy.workspace != nullptr;
  return isAligned(params.q.data, kPieceBytes) &&
         isAligned(params.k.data, kPieceBytes) &&
         isAligned(params.v.data, kPieceBytes) &&
         isAligned(params.o.data, kPieceBytes) &&
         isAligned(params.lse.data, kLseBytes) &&
         (hasWorkspace ? isAligned(params.workspace, kWorkspaceAddressBytes)
                       : !params.workspace);
}
