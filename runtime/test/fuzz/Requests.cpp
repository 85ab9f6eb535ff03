//===- Requests.cpp - What a program asks of a library --------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Requests.h"

#include "TestLibrary.h"

#include <algorithm>
#include <map>

using namespace fa::test;

/// Packed sequences.
static constexpr int64_t kSequences = 3;

/// The size of a program's dimension that may have any.
static constexpr int64_t kAnySize = 144;

static fa_dtype dtypeOf(const json &name) {
  static const std::map<std::string, fa_dtype> dtypes = {
      {"bf16", FA_BF16}, {"f16", FA_F16}, {"f32", FA_F32}, {"i32", FA_I32}};
  auto found = dtypes.find(name.get<std::string>());
  return found == dtypes.end() ? FA_I32 : found->second;
}

static void setSizes(fa_tensor &tensor, std::vector<int64_t> sizes) {
  std::copy(sizes.begin(), sizes.end(), tensor.sizes);
  tensor.rank = int32_t(sizes.size());
  makeDense(tensor);
}

/// The size that a rule of a manifest stands for.
static int64_t sizeOf(const json &rule, const fa_forward_params &problem) {
  if (rule.is_number())
    return rule.get<int64_t>();
  std::map<std::string, int64_t> sizes = {
      {"batch", problem.q.sizes[0]},    {"heads", problem.q.sizes[1]},
      {"kv_heads", problem.k.sizes[1]}, {"seq_q", problem.q.sizes[2]},
      {"seq_kv", problem.k.sizes[2]},   {"sequence_starts", kSequences + 1}};
  return sizes.at(rule.get<std::string>());
}

/// An extra of a parameter's kind and type, a tensor without its sizes.
static fa_extra makeExtra(const json &param) {
  fa_extra extra = {};
  if (param["kind"] == "scalar") {
    extra.kind = FA_EXTRA_SCALAR;
    extra.dtype = dtypeOf(param["dtype"]);
    return extra;
  }
  extra.kind = FA_EXTRA_TENSOR;
  extra.tensor.data = reinterpret_cast<void *>(uintptr_t(0x60000));
  extra.tensor.dtype = dtypeOf(param["dtype"]);
  return extra;
}

static fa_extra makeExtra(const json &param, const fa_forward_params &problem) {
  fa_extra extra = makeExtra(param);
  if (extra.kind == FA_EXTRA_SCALAR)
    return extra;
  std::vector<int64_t> sizes;
  for (const json &rules : param["sizes"])
    sizes.push_back(rules.empty() ? 1 : sizeOf(rules[0], problem));
  setSizes(extra.tensor, sizes);
  return extra;
}

/// Names do not move any more.
static void setNames(std::vector<fa_extra> &extras,
                     const std::vector<std::string> &names) {
  for (size_t i = 0; i != names.size(); ++i)
    extras[i].name = names[i].c_str();
}

Request::Request(const json &kernel)
    : problem(forwardParams()), variant(kernel["variant"]) {
  bool isPacked = false;
  for (const json &param : kernel["params"])
    isPacked |= param["name"] == "q" && param["rank"] == 3;
  int64_t batch = isPacked ? 1 : 2, heads = 4, rows = 130, keys = 200;
  int64_t kvHeads = kernel["gqa"] ? 2 : heads;
  int64_t dim = kernel["head_dim"], dimV = kernel["head_dim_v"];
  for (fa_tensor *t : {&problem.q, &problem.k, &problem.v, &problem.o})
    t->dtype = dtypeOf(kernel["dtype"]);
  setSizes(problem.q, {batch, heads, rows, dim});
  setSizes(problem.k, {batch, kvHeads, keys, dim});
  setSizes(problem.v, {batch, kvHeads, keys, dimV});
  setSizes(problem.o, {batch, heads, rows, dimV});
  setSizes(problem.lse, {batch, heads, rows});
  for (const json &param : kernel["params"]) {
    // What the manifest says of q, k, v, o and lse has no sizes.
    if (!param.contains("sizes") && param["kind"] != "scalar")
      continue;
    names.push_back(param["name"]);
    extras.push_back(makeExtra(param, problem));
  }
  setNames(extras, names);
}

ProgramRequest::ProgramRequest(const json &entry)
    : program(entry["name"]), programFile(entry["file"]) {
  std::map<std::string, std::vector<int64_t>> sizesOf;
  for (const json &param : entry["params"]) {
    names.push_back(param["name"]);
    extras.push_back(makeExtra(param));
    if (extras.back().kind == FA_EXTRA_SCALAR)
      continue;
    std::vector<int64_t> &sizes = sizesOf[names.back()];
    for (const json &size : param["sizes"])
      sizes.push_back(size.is_number() ? size.get<int64_t>()
                      : size.is_object()
                          ? sizesOf.at(size["tensor"]).at(size["dim"])
                          : kAnySize);
    setSizes(extras.back().tensor, sizes);
  }
  setNames(extras, names);
}

fa_forward_params Request::params() const {
  fa_forward_params params = problem;
  params.variant = variant.c_str();
  params.extras = extras.data();
  params.num_extras = extras.size();
  // Never read here, and large enough for any kernel of a library that fits
  // these sizes.
  params.workspace = reinterpret_cast<void *>(uintptr_t(0x70000));
  params.workspace_bytes = size_t(1) << 40;
  return params;
}
