//===- ManifestProgram.cpp - Reading a program's parameters ---------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManifestProgram.h"

#include "ManifestLaunch.h"

#include <algorithm>
#include <limits>
#include <set>

using namespace fa::rt;

namespace {
constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
constexpr int kMaxRank = 4;
/// Kernels read and write matrices in pieces of 16 bytes.
constexpr int64_t kPieceBytes = 16;
} // namespace

/// The tensor of this name. Its number of dimensions bounds what is read next.
static const Param &findTensor(const JsonField &field,
                               const std::vector<Param> &params) {
  std::string name = field.name();
  for (const Param &param : params)
    if (param.kind == ParamKind::Tensor && param.rank > 0 && param.name == name)
      return param;
  field.refuse("must name a tensor of params that has dimensions");
}

/// A dimension's size: an integer, any, or that of another tensor.
static std::vector<SizeRule> readSize(const JsonField &field,
                                      const std::vector<Param> &params) {
  if (field.isInteger())
    return {{Argument::Extra, field.integer(0, kMaxInt64)}};
  if (!field.isObject()) {
    field.choice({"any"});
    return {};
  }
  const Param &other = findTensor(field["tensor"], params);
  SizeRule rule{Argument::ExtraSize};
  rule.tensor = other.name;
  rule.dim = int(field["dim"].integer(0, other.rank - 1));
  return {rule};
}

static Param readTensor(const JsonField &field) {
  Param param;
  param.kind = ParamKind::Tensor;
  param.argument = Argument::Extra;
  param.name = field["name"].name();
  param.dtype =
      fa_dtype(FA_BF16 + field["dtype"].choice({"bf16", "f16", "f32", "i32"}));
  param.isOutput = field.has("output") && field["output"].boolean();
  JsonField sizes = field["sizes"];
  if (sizes.arraySize() > size_t(kMaxRank))
    sizes.refuse("must have at most 4 entries");
  param.rank = int(sizes.arraySize());
  if (param.rank > 1)
    param.unitBytes = kPieceBytes;
  return param;
}

static Param readScalar(const JsonField &field) {
  Param param;
  param.kind = ParamKind::Scalar;
  param.argument = Argument::Extra;
  param.name = field["name"].name();
  size_t dtype = field["dtype"].choice({"f32", "i32", "index"});
  param.dtype = dtype == 0 ? FA_F32 : FA_I32;
  param.isWide = dtype == 2;
  return param;
}

static std::vector<Param> readParams(const JsonField &field) {
  // 1. What there is.
  std::vector<Param> params;
  std::set<std::string> seen;
  for (size_t i = 0, e = field.arraySize(); i != e; ++i) {
    JsonField entry = field.at(i);
    bool isTensor = entry["kind"].choice({"tensor", "scalar"}) == 0;
    params.push_back(isTensor ? readTensor(entry) : readScalar(entry));
    if (!seen.insert(params.back().name).second)
      entry["name"].refuse("must not occur twice");
  }
  // 2. Sizes, which may name any of the tensors.
  for (size_t i = 0; i != params.size(); ++i)
    for (int dim = 0; dim < params[i].rank; ++dim)
      params[i].sizes.push_back(readSize(field.at(i)["sizes"].at(dim), params));
  return params;
}

static std::vector<GridFactor> readGrid(const JsonField &field,
                                        const std::vector<Param> &params) {
  std::vector<GridFactor> grid;
  for (size_t i = 0, e = field.arraySize(); i != e; ++i) {
    JsonField entry = field.at(i);
    const Param &tensor = findTensor(entry["tensor"], params);
    GridFactor factor{Argument::Extra,
                      int(entry["dim"].integer(0, tensor.rank - 1)),
                      entry["tile"].integer(1, kMaxInt32)};
    factor.extra = tensor.name;
    grid.push_back(factor);
  }
  if (grid.empty())
    field.refuse("must not be empty");
  return grid;
}

void fa::rt::readProgram(const JsonField &field, Kernel &program) {
  program.params = readParams(field["params"]);
  bool hasOutput =
      std::any_of(program.params.begin(), program.params.end(),
                  [](const Param &param) { return param.isOutput; });
  if (!hasOutput)
    field["params"].refuse("must have a tensor that is an output");
  program.grid = readGrid(field["grid"], program.params);
  readGridLaunch(field, program, program);
}
