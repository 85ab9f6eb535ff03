//===- TestLibrary.cpp - Libraries and problems made for tests ------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestLibrary.h"

#include "Failure.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace fa::test;

json fa::test::kernelJson(const std::string &name) {
  json kernel = json::parse(R"({
    "format": "cubin", "arch": "sm_80", "pass": "fwd", "dtype": "bf16",
    "head_dim": 128, "head_dim_v": 128, "variant": "causal",
    "pipeline": "fa2", "gqa": false, "entry": "attention", "hash": "0af3",
    "params": [{"kind": "tensor", "name": "q", "rank": 4},
               {"kind": "tensor", "name": "k", "rank": 4},
               {"kind": "tensor", "name": "v", "rank": 4},
               {"kind": "f32", "name": "scale"},
               {"kind": "tensor", "name": "o", "rank": 4},
               {"kind": "tensor", "name": "lse", "rank": 3}],
    "grid": [{"tensor": "q", "dim": 2, "tile": 128},
             {"tensor": "q", "dim": 1, "tile": 1},
             {"tensor": "q", "dim": 0, "tile": 1}],
    "block": 128, "shared_bytes": 98304, "registers": 255, "spill_bytes": 0,
    "ptxas": "13.0.88", "schedule": "br=128 bc=64"})");
  kernel["name"] = name;
  kernel["file"] = name + ".cubin";
  return kernel;
}

json fa::test::decodeJson(const std::string &name) {
  json kernel = kernelJson(name);
  for (const char *field :
       {"entry", "grid", "block", "shared_bytes", "registers", "spill_bytes"})
    kernel.erase(field);
  kernel.update(json::parse(R"({
    "variant": "full", "gqa": true, "max_rows": 16, "packs_heads": true,
    "splits": {"max": 128, "keys": 64},
    "workspaces": [
      {"name": "acc", "dtype": "f32",
       "sizes": ["splits", "batch", "heads", "seq_q", 128]},
      {"name": "max", "dtype": "f32",
       "sizes": ["splits", "batch", "heads", "seq_q"]}],
    "launches": [
      {"entry": "parts", "args": ["q", "k", "v", "scale", "acc", "max"],
       "grid": [{"arg": 4, "dim": 0, "tile": 1},
                {"arg": 4, "dim": 3, "tile": 16},
                {"arg": 4, "dim": 2, "tile": 1},
                {"arg": 4, "dim": 1, "tile": 1}],
       "block": 32, "shared_bytes": 65536, "registers": 200, "spill_bytes": 0},
      {"entry": "merge", "args": ["acc", "max", "scale", "o", "lse"],
       "grid": [{"arg": 3, "dim": 2, "tile": 16},
                {"arg": 3, "dim": 1, "tile": 1},
                {"arg": 3, "dim": 0, "tile": 1}],
       "block": 32, "shared_bytes": 0, "registers": 80, "spill_bytes": 0}]})"));
  return kernel;
}

json fa::test::programJson(const std::string &name) {
  json program = json::parse(R"({
    "format": "cubin", "arch": "sm_80", "entry": "gemm", "hash": "0af3",
    "params": [
      {"kind": "tensor", "name": "a", "dtype": "bf16", "sizes": ["any", 64]},
      {"kind": "tensor", "name": "b", "dtype": "bf16", "sizes": [64, 32]},
      {"kind": "scalar", "name": "bias", "dtype": "f32"},
      {"kind": "tensor", "name": "result", "dtype": "bf16", "output": true,
       "sizes": [{"tensor": "a", "dim": 0}, 32]}],
    "grid": [{"tensor": "result", "dim": 0, "tile": 64},
             {"tensor": "result", "dim": 1, "tile": 16}],
    "block": 64, "shared_bytes": 24576, "registers": 128, "spill_bytes": 0,
    "ptxas": "13.0", "schedule": "br=64 bc=64"})");
  program["name"] = name;
  program["file"] = name + ".cubin";
  return program;
}

json fa::test::programManifest(const std::vector<json> &programs) {
  json manifest = manifestJson({});
  manifest["kernels"] = json::array();
  manifest["programs"] = programs;
  return manifest;
}

json fa::test::manifestJson(const std::vector<json> &kernels) {
  return {{"flashloom", 1}, {"generator", "test 1"}, {"kernels", kernels}};
}

TestFolder::TestFolder(const std::string &manifestText) {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "fa-test-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw std::runtime_error("no temporary folder");
  folder = pattern;
  write("manifest.json", manifestText);
}

TestFolder::TestFolder(const json &manifest) : TestFolder(manifest.dump()) {
  for (const char *list : {"kernels", "programs"})
    if (manifest.contains(list))
      for (const json &kernel : manifest[list])
        write(kernel["file"], "image of " + kernel["name"].get<std::string>());
}

TestFolder::~TestFolder() { std::filesystem::remove_all(folder); }

void TestFolder::write(const std::string &name, const std::string &text) const {
  std::ofstream(folder + "/" + name, std::ios::binary) << text;
}

void TestFolder::remove(const std::string &name) const {
  std::filesystem::remove(folder + "/" + name);
}

void fa::test::makeDense(fa_tensor &tensor) {
  int64_t stride = 1;
  for (int dim = tensor.rank - 1; dim >= 0; --dim) {
    tensor.strides[dim] = stride;
    stride *= tensor.sizes[dim];
  }
}

static fa_tensor dense(uintptr_t address, fa_dtype dtype,
                       const std::vector<int64_t> &sizes) {
  fa_tensor tensor = {};
  tensor.data = reinterpret_cast<void *>(address);
  tensor.dtype = dtype;
  tensor.rank = int32_t(sizes.size());
  std::copy(sizes.begin(), sizes.end(), tensor.sizes);
  makeDense(tensor);
  return tensor;
}

fa_forward_params fa::test::forwardParams() {
  fa_forward_params params = {};
  params.struct_size = sizeof(params);
  params.q = dense(0x10000, FA_BF16, {2, 3, 300, 128});
  params.k = dense(0x20000, FA_BF16, {2, 3, 200, 128});
  params.v = dense(0x30000, FA_BF16, {2, 3, 200, 128});
  params.o = dense(0x40000, FA_BF16, {2, 3, 300, 128});
  params.lse = dense(0x50000, FA_F32, {2, 3, 300});
  params.scale = 0.125f;
  params.variant = "causal";
  return params;
}

std::string fa::test::failureOf(const std::function<void()> &call) {
  try {
    call();
    return "";
  } catch (const rt::Failure &failure) {
    return failure.what();
  }
}
