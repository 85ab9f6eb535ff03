//===- TestLibrary.h - Libraries and problems made for tests ----*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_TEST_TESTLIBRARY_H
#define FLASHLOOM_RUNTIME_TEST_TESTLIBRARY_H

#include "flashloom/fa_runtime.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fa::test {

using nlohmann::json;

/// A valid entry of a manifest: bf16, head_dim 128, causal, sm_80; its file is
/// NAME.cubin.
json kernelJson(const std::string &name);

/// A valid entry of a kernel for decoding: full, gqa, two launches, the keys in
/// parts of at least 64, heads as rows. Workspaces acc [splits, batch, heads,
/// seq_q, 128] and max [splits, batch, heads, seq_q].
json decodeJson(const std::string &name);

/// A program: result = relu(a b + bias), of bf16, a [any, 64], b [64, 32].
json programJson(const std::string &name);

/// A manifest of programs alone.
json programManifest(const std::vector<json> &programs);

/// A valid manifest around kernels.
json manifestJson(const std::vector<json> &kernels);

/// A temporary folder with manifest.json and, for each kernel of it, a file
/// whose content is "image of NAME"; removed at the end.
class TestFolder {
public:
  explicit TestFolder(const json &manifest);
  explicit TestFolder(const std::string &manifestText);
  ~TestFolder();

  const std::string &path() const { return folder; }
  void write(const std::string &name, const std::string &text) const;
  void remove(const std::string &name) const;

private:
  std::string folder;
};

/// Valid arguments for the kernel above, batch 2, heads 3, seq_q 300, seq_kv
/// 200, dense, at made-up addresses.
fa_forward_params forwardParams();

/// Gives the tensor the strides of a dense array.
void makeDense(fa_tensor &tensor);

/// The text of the rt::Failure that a call throws; "" where it throws none.
std::string failureOf(const std::function<void()> &call);

} // namespace fa::test

#endif // FLASHLOOM_RUNTIME_TEST_TESTLIBRARY_H
