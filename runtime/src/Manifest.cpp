//===- Manifest.cpp - Reading manifest.json -------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"

#include "JsonField.h"
#include "ManifestLaunch.h"
#include "ManifestPlan.h"
#include "ManifestProgram.h"

#include <limits>
#include <optional>
#include <set>

using namespace fa::rt;

namespace {

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxUInt32 = std::numeric_limits<uint32_t>::max();
/// Tensor maps take addresses and strides in multiples of this.
constexpr int64_t kMapUnitBytes = 16;

/// What a parameter's name stands for, and the kind and rank it must have.
struct KnownParam {
  const char *name;
  Argument argument;
  ParamKind kind;
  int rank;
};

constexpr KnownParam kKnownParams[] = {
    {"q", Argument::Q, ParamKind::Tensor, 4},
    {"k", Argument::K, ParamKind::Tensor, 4},
    {"v", Argument::V, ParamKind::Tensor, 4},
    {"o", Argument::O, ParamKind::Tensor, 4},
    {"lse", Argument::Lse, ParamKind::Tensor, 3},
    {"scale", Argument::Scale, ParamKind::F32, 0},
    {"batch", Argument::Batch, ParamKind::Index, 0},
    {"heads", Argument::Heads, ParamKind::Index, 0},
    {"kv_heads", Argument::KvHeads, ParamKind::Index, 0},
    {"seq_q", Argument::SeqQ, ParamKind::Index, 0},
    {"seq_kv", Argument::SeqKv, ParamKind::Index, 0},
};

/// A forward pass cannot do without these.
constexpr const char *kRequiredParams[] = {"q", "k", "v", "o", "lse", "scale"};

constexpr const char *kKindNames[] = {"tensor", "f32", "index"};

} // namespace

static const KnownParam *findKnownParam(const std::string &name) {
  for (const KnownParam &known : kKnownParams)
    if (name == known.name)
      return &known;
  return nullptr;
}

/// The one of a list of JSON sizes: the name of one of the problem's, or an
/// integer.
static SizeRule readSize(const JsonField &field) {
  if (field.isInteger())
    return {Argument::Extra,
            field.integer(0, std::numeric_limits<int64_t>::max())};
  constexpr Argument sizes[] = {Argument::Batch,   Argument::Heads,
                                Argument::KvHeads, Argument::SeqQ,
                                Argument::SeqKv,   Argument::SequenceStarts};
  return {sizes[field.choice(
      {"batch", "heads", "kv_heads", "seq_q", "seq_kv", "sequence_starts"})]};
}

/// A parameter whose name is none that the runtime knows: what the caller
/// gives as an extra argument.
static Param readExtra(const JsonField &field) {
  Param param;
  param.argument = Argument::Extra;
  param.name = field["name"].name();
  if (field["kind"].choice({"tensor", "scalar"}) == 1) {
    param.kind = ParamKind::Scalar;
    size_t dtype = field["dtype"].choice({"f32", "i32", "index"});
    param.dtype = dtype == 0 ? FA_F32 : FA_I32;
    param.isWide = dtype == 2;
    return param;
  }
  param.kind = ParamKind::Tensor;
  param.dtype =
      fa_dtype(FA_BF16 + field["dtype"].choice({"bf16", "f16", "f32", "i32"}));
  param.rank = int(field["rank"].integer(0, 4));
  JsonField sizes = field["sizes"];
  if (sizes.arraySize() != size_t(param.rank))
    sizes.refuse("must have one entry for each dimension");
  for (int dim = 0; dim < param.rank; ++dim) {
    JsonField rules = sizes.at(dim);
    param.sizes.emplace_back();
    for (size_t i = 0, e = rules.arraySize(); i != e; ++i)
      param.sizes.back().push_back(readSize(rules.at(i)));
  }
  return param;
}

/// A tensor's rank: with the batch dimension or, where the kernel takes packed
/// sequences, without. All tensors must agree, as `isPacked` says once it is
/// known.
static int readRank(const JsonField &field, const KnownParam &known,
                    std::optional<bool> &isPacked) {
  int rank = int(field.integer(0, 4));
  if (!isPacked)
    isPacked = rank == known.rank - 1;
  int wanted = known.rank - (*isPacked ? 1 : 0);
  if (rank != wanted)
    field.refuse("must be " + std::to_string(wanted) + " for " + known.name);
  return rank;
}

static Param readParam(const JsonField &field, std::optional<bool> &isPacked) {
  const KnownParam *found = findKnownParam(field["name"].name());
  if (!found)
    return readExtra(field);
  const KnownParam &known = *found;
  size_t kind = field["kind"].choice({"tensor", "f32", "index"});
  if (kind != size_t(known.kind))
    field["kind"].refuse(std::string("must be ") +
                         kKindNames[size_t(known.kind)] + " for " + known.name);
  Param param;
  param.kind = known.kind;
  param.argument = known.argument;
  param.name = known.name;
  if (known.kind == ParamKind::Tensor)
    param.rank = readRank(field["rank"], known, isPacked);
  return param;
}

static std::vector<Param> readParams(const JsonField &field, bool &isPacked) {
  std::vector<Param> params;
  std::set<std::string> seen;
  std::optional<bool> packed;
  for (size_t i = 0, e = field.arraySize(); i != e; ++i) {
    params.push_back(readParam(field.at(i), packed));
    JsonField name = field.at(i)["name"];
    if (!seen.insert(name.string()).second)
      name.refuse("must not occur twice");
  }
  for (const char *name : kRequiredParams)
    if (!seen.count(name))
      field.refuse(std::string("must have a parameter named ") + name);
  isPacked = packed.value_or(false);
  return params;
}

/// What is added to a factor: the size of a dimension of an extra tensor.
static void readPlus(const JsonField &field, const std::vector<Param> &params,
                     GridFactor &factor) {
  factor.plusExtra = field["tensor"].name();
  for (const Param &param : params)
    if (param.argument == Argument::Extra && param.name == factor.plusExtra &&
        param.kind == ParamKind::Tensor && param.rank > 0) {
      factor.plusDim = int(field["dim"].integer(0, param.rank - 1));
      return;
    }
  field["tensor"].refuse("must name an extra tensor of params with dimensions");
}

/// `tensor` must be among `params`, which bounds `dim` by its rank.
static GridFactor readGridFactor(const JsonField &field,
                                 const std::vector<Param> &params) {
  const KnownParam *known = findKnownParam(field["tensor"].name());
  const Param *listed = nullptr;
  for (const Param &param : params)
    if (known && param.argument == known->argument)
      listed = &param;
  if (!listed || known->kind != ParamKind::Tensor)
    field["tensor"].refuse("must name a tensor of params that is no extra");
  GridFactor factor = {known->argument,
                       int(field["dim"].integer(0, listed->rank - 1)),
                       field["tile"].integer(1, kMaxInt32)};
  if (field.has("plus"))
    readPlus(field["plus"], params, factor);
  return factor;
}

static std::vector<GridFactor> readGrid(const JsonField &field,
                                        const std::vector<Param> &params) {
  std::vector<GridFactor> grid;
  for (size_t i = 0, e = field.arraySize(); i != e; ++i)
    grid.push_back(readGridFactor(field.at(i), params));
  if (grid.empty())
    field.refuse("must not be empty");
  return grid;
}

static std::string readFileName(const JsonField &field) {
  std::string file = field.name();
  // A library is one folder: nothing outside it is ever opened.
  if (file.find('/') != std::string::npos || file == "." || file == "..")
    field.refuse("must be a file name without a folder");
  return file;
}

static void readArchitecture(const JsonField &field, Kernel &kernel) {
  kernel.archText = field.name();
  std::optional<Architecture> arch = Architecture::parse(kernel.archText);
  if (!arch)
    field.refuse("must be like sm_80 or sm_90a");
  kernel.arch = *arch;
}

/// Tensors that maps are of lie as maps want them.
static void alignMapped(const GridLaunch &launch, std::vector<Param> &params) {
  for (const TensorMapParam &map : launch.tensorMaps)
    for (Param &param : params)
      if (map.tensor == Argument::Extra && param.name == map.extra)
        param.unitBytes = kMapUnitBytes;
}

static void readLaunches(const JsonField &field, Kernel &kernel) {
  kernel.params = readParams(field["params"], kernel.isPacked);
  if (field.has("launches")) {
    readPlan(field, kernel);
    for (const PlannedLaunch &launch : kernel.plan.launches)
      alignMapped(launch, kernel.params);
    return;
  }
  kernel.grid = readGrid(field["grid"], kernel.params);
  readGridLaunch(field, kernel, kernel);
  alignMapped(kernel, kernel.params);
}

/// What is the same of kernels and programs.
static Kernel readCode(const JsonField &field) {
  Kernel kernel;
  kernel.name = field["name"].name();
  kernel.file = readFileName(field["file"]);
  kernel.format = Format(field["format"].choice({"cubin", "ptx"}));
  if (field.has("crc32"))
    kernel.crc32 = uint32_t(field["crc32"].integer(0, kMaxUInt32));
  readArchitecture(field["arch"], kernel);
  kernel.hash = field["hash"].name();
  if (kernel.format == Format::Cubin)
    kernel.ptxas = field["ptxas"].name();
  kernel.schedule = field["schedule"].string();
  return kernel;
}

static Kernel readKernel(const JsonField &field) {
  Kernel kernel = readCode(field);
  field["pass"].choice({"fwd"});
  kernel.pass = "fwd";
  kernel.dtype =
      fa_dtype(FA_BF16 + field["dtype"].choice({"bf16", "f16", "f32"}));
  kernel.headDim = field["head_dim"].integer(1, kMaxHeadDim);
  kernel.headDimV = field["head_dim_v"].integer(1, kMaxHeadDim);
  kernel.variant = field["variant"].name();
  kernel.pipeline = field["pipeline"].name();
  kernel.gqa = field["gqa"].boolean();
  if (field.has("max_rows"))
    kernel.maxRows = field["max_rows"].integer(1, kMaxInt32);
  if (field.has("packs_heads"))
    kernel.packsHeads = field["packs_heads"].boolean();
  readLaunches(field, kernel);
  return kernel;
}

Manifest fa::rt::parseManifest(const std::string &text,
                               const std::string &file) {
  nlohmann::json document = parseJson(text, file);
  JsonField root(document, file);
  root["flashloom"].integer(kManifestVersion, kManifestVersion);
  Manifest manifest;
  manifest.generator = root["generator"].name();
  std::set<std::string> names;
  auto requireNew = [&](const JsonField &name) {
    if (!names.insert(name.string()).second)
      name.refuse("must not occur twice");
  };
  JsonField kernels = root["kernels"];
  for (size_t i = 0, e = kernels.arraySize(); i != e; ++i) {
    manifest.kernels.push_back(readKernel(kernels.at(i)));
    requireNew(kernels.at(i)["name"]);
  }
  if (!root.has("programs"))
    return manifest;
  JsonField programs = root["programs"];
  for (size_t i = 0, e = programs.arraySize(); i != e; ++i) {
    manifest.programs.push_back(readCode(programs.at(i)));
    readProgram(programs.at(i), manifest.programs.back());
    requireNew(programs.at(i)["name"]);
  }
  return manifest;
}
