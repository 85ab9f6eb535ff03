//===- Extras.cpp - What variants read beside q, k and v ------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extras.h"

#include "CallAddresses.h"
#include "Failure.h"
#include "TensorView.h"

#include <algorithm>

using namespace fa::rt;

static const fa_extra *findExtra(const std::string &name,
                                 const fa_forward_params &params) {
  for (const fa_extra &extra : extrasOf(params))
    if (extra.name && name == extra.name)
      return &extra;
  return nullptr;
}

static const Param *findParam(const Kernel &kernel, const std::string &name) {
  for (const Param &param : kernel.params)
    if (param.argument == Argument::Extra && param.name == name)
      return &param;
  return nullptr;
}

/// "bias, slopes", "none".
static std::string extraNames(const Kernel &kernel) {
  std::string names;
  for (const Param &param : kernel.params)
    if (param.argument == Argument::Extra)
      names += (names.empty() ? "" : ", ") + param.name;
  return names.empty() ? "none" : names;
}

/// Each extra of the caller is one of the kernel's, and there once.
static void checkNames(const Kernel &kernel, const fa_forward_params &params) {
  const ExtraRange extras = extrasOf(params);
  for (size_t i = 0; i != extras.count; ++i) {
    const fa_extra &extra = extras.first[i];
    std::string place = "extras[" + std::to_string(i) + "]";
    if (!extra.name)
      refuse(place, "name must not be NULL", "NULL");
    std::string name = extra.name;
    if (!findParam(kernel, name))
      refuse(place,
             "name must be an extra argument of kernel " + kernel.name +
                 ", which takes " + extraNames(kernel),
             name);
    if (findExtra(name, params) != &extra)
      refuse(place, "name must not occur twice", name);
  }
}

static void checkDtype(const Param &param, fa_dtype found) {
  if (found != param.dtype)
    refuse(param.name, std::string("dtype must be ") + dtypeName(param.dtype),
           dtypeName(found));
}

static std::string describe(const SizeRule &rule) {
  switch (rule.argument) {
  case Argument::Batch:
    return " (batch)";
  case Argument::Heads:
    return " (heads)";
  case Argument::KvHeads:
    return " (kv_heads)";
  case Argument::SeqQ:
    return " (seq_q)";
  case Argument::SeqKv:
    return " (seq_kv)";
  case Argument::SequenceStarts:
    return " (sequence_starts, as of the tensor before it)";
  case Argument::ExtraSize:
    return " (as dimension " + std::to_string(rule.dim) + " of " + rule.tensor +
           ")";
  default:
    return "";
  }
}

/// The size that a rule asks of a dimension of `size`. The first dimension
/// that holds the sequences' starts says how many there are.
static int64_t wantedSize(const SizeRule &rule, const Problem &problem,
                          const fa_forward_params &params, int64_t size,
                          int64_t &sequenceStarts) {
  if (rule.argument == Argument::Extra)
    return rule.constant;
  if (rule.argument == Argument::ExtraSize)
    return extraOf(rule.tensor, params).tensor.sizes[rule.dim];
  if (rule.argument != Argument::SequenceStarts)
    return sizeOf(rule.argument, problem);
  if (!sequenceStarts)
    sequenceStarts = std::max<int64_t>(size, 1);
  return sequenceStarts;
}

static void checkTensor(const Param &param, const Problem &problem,
                        const fa_forward_params &params,
                        int64_t &sequenceStarts) {
  const fa_tensor &tensor = extraOf(param.name, params).tensor;
  int64_t unit = param.unitBytes ? param.unitBytes : dtypeBytes(param.dtype);
  TensorView view{param.name.c_str(), tensor, {"", "", "", ""},
                  param.isOutput,     unit,   true};
  checkDtype(param, tensor.dtype);
  checkRank(view, param.rank);
  for (int dim = 0; dim < param.rank; ++dim)
    for (const SizeRule &rule : param.sizes[dim]) {
      int64_t wanted =
          wantedSize(rule, problem, params, tensor.sizes[dim], sequenceStarts);
      if (tensor.sizes[dim] != wanted)
        refuse(param.name,
               dimName(view, "size", dim) + " must be " +
                   std::to_string(wanted) + describe(rule),
               std::to_string(tensor.sizes[dim]));
    }
  checkLayout(view);
}

void fa::rt::checkExtras(const Kernel &kernel, const Problem &problem,
                         const fa_forward_params &params) {
  checkNames(kernel, params);
  int64_t sequenceStarts = 0;
  for (const Param &param : kernel.params) {
    if (param.argument != Argument::Extra)
      continue;
    const fa_extra *extra = findExtra(param.name, params);
    bool isTensor = param.kind == ParamKind::Tensor;
    if (!extra)
      refuse("extras",
             "kernel " + kernel.name + " needs the " +
                 (isTensor ? "tensor " : "scalar ") + param.name + " of " +
                 dtypeName(param.dtype),
             "none of that name");
    if (extra->kind != (isTensor ? FA_EXTRA_TENSOR : FA_EXTRA_SCALAR))
      refuse(param.name,
             std::string("kind must be ") +
                 (isTensor ? "FA_EXTRA_TENSOR" : "FA_EXTRA_SCALAR"),
             std::to_string(int(extra->kind)));
    if (isTensor)
      checkTensor(param, problem, params, sequenceStarts);
    else
      checkDtype(param, extra->dtype);
  }
}

const fa_extra &fa::rt::extraOf(const std::string &name,
                                const fa_forward_params &params) {
  if (const fa_extra *extra = findExtra(name, params))
    return *extra;
  throw Failure(FA_INTERNAL_ERROR, "the extra " + name + " is missing");
}

const fa_tensor &fa::rt::tensorOf(Argument argument, const std::string &extra,
                                  const fa_forward_params &params) {
  return argument == Argument::Extra ? extraOf(extra, params).tensor
                                     : tensorOf(argument, params);
}

AddressNumber fa::rt::addressNumberOf(Argument argument,
                                      const std::string &extra,
                                      const fa_forward_params &params) {
  if (argument != Argument::Extra)
    return AddressNumber(argument);
  return kFirstExtraAddress +
         AddressNumber(&extraOf(extra, params) - extrasOf(params).first);
}
