//===- TunedTable.h - Writing tuned tables ----------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_TUNEDTABLE_H
#define FLASHLOOM_BENCH_TUNEDTABLE_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fa::bench {

/// The table's objects keep the order of their fields.
using Json = nlohmann::ordered_json;

/// A table of measured schedules (docs/tuning.md), one object a problem with
/// `dtype`, `head_dim`, `head_dim_v`, `variant` and `classes`.
class TunedTable {
public:
  explicit TunedTable(const std::string &arch) : arch(arch) {}

  /// The table in a file; an empty one where there is no file. Throws
  /// rt::Failure where the file is no table of `arch`.
  static TunedTable read(const std::string &path, const std::string &arch);

  /// Adds a problem, in the place of an earlier measurement of the same.
  void add(const Json &problem);

  std::string text() const;
  /// Writes the file whole or not at all. Throws rt::Failure.
  void write(const std::string &path) const;

private:
  std::string arch;
  std::vector<Json> problems;
};

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_TUNEDTABLE_H
