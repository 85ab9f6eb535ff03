//===- TensorView.cpp - Checks of one tensor argument ---------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorView.h"

#include "Failure.h"

#include <cstdio>

using namespace fa::rt;

void fa::rt::refuse(const std::string &argument, const std::string &rule,
                    const std::string &found) {
  throw Failure(FA_INVALID_ARGUMENT,
                argument + ": " + rule + " (found " + found + ")");
}

std::string fa::rt::dimName(const TensorView &view, const char *what, int dim) {
  std::string name = std::string(what) + " of dimension " + std::to_string(dim);
  if (*view.dimNames[dim])
    name += std::string(" (") + view.dimNames[dim] + ")";
  return name;
}

static bool hasElements(const TensorView &view) {
  for (int dim = 0; dim < view.tensor.rank; ++dim)
    if (view.tensor.sizes[dim] == 0)
      return false;
  return true;
}

void fa::rt::checkRank(const TensorView &view, int rank) {
  const fa_tensor &tensor = view.tensor;
  if (tensor.rank != rank)
    refuse(view.name, "rank must be " + std::to_string(rank),
           std::to_string(tensor.rank));
  for (int dim = 0; dim < rank; ++dim)
    if (tensor.sizes[dim] < 0)
      refuse(view.name, dimName(view, "size", dim) + " must not be negative",
             std::to_string(tensor.sizes[dim]));
}

/// What is wrong with a stride; "" where nothing is.
static std::string strideRule(const TensorView &view, int dim) {
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

static void checkStride(const TensorView &view, int dim) {
  std::string rule = strideRule(view, dim);
  if (!rule.empty())
    refuse(view.name, dimName(view, "stride", dim) + rule,
           std::to_string(view.tensor.strides[dim]));
}

/// The byte offset of the last element must fit into 64 bits.
static void checkExtent(const TensorView &view) {
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

static void checkAddress(const TensorView &view) {
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

void fa::rt::checkLayout(const TensorView &view) {
  for (int dim = 0; dim < view.tensor.rank; ++dim)
    checkStride(view, dim);
  if (!hasElements(view))
    return;
  checkExtent(view);
  checkAddress(view);
}
