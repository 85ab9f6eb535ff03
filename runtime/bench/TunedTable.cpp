//===- TunedTable.cpp - Writing tuned tables ------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TunedTable.h"

#include "Failure.h"
#include "Files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

using namespace fa;
using namespace fa::bench;

/// The format that is written here.
static constexpr int kTableVersion = 1;

/// The fields that say which problem was measured.
static const char *const kKeys[] = {"dtype", "head_dim", "head_dim_v",
                                    "variant"};

static bool isProblem(const Json &problem) {
  bool hasKeys =
      std::all_of(std::begin(kKeys), std::end(kKeys),
                  [&](const char *key) { return problem.contains(key); });
  return hasKeys && problem.contains("classes") &&
         problem["classes"].is_array();
}

static bool isTableOf(const Json &table, const std::string &arch) {
  return table.is_object() &&
         table.value("flashloom_tuned", 0) == kTableVersion &&
         table.value("arch", "") == arch && table.contains("problems") &&
         table["problems"].is_array() &&
         std::all_of(table["problems"].begin(), table["problems"].end(),
                     isProblem);
}

TunedTable TunedTable::read(const std::string &path, const std::string &arch) {
  TunedTable table(arch);
  if (access(path.c_str(), F_OK) != 0)
    return table;
  std::string refusal =
      path + " is no tuned table of " + arch + ": it is left as it is";
  try {
    Json read = Json::parse(rt::readFile(path));
    if (!isTableOf(read, arch))
      throw rt::Failure(FA_INVALID_ARGUMENT, refusal);
    for (const Json &problem : read["problems"])
      table.problems.push_back(problem);
  } catch (const Json::exception &error) {
    throw rt::Failure(FA_INVALID_ARGUMENT, refusal + " (" + error.what() + ")");
  }
  return table;
}

void TunedTable::add(const Json &problem) {
  auto isSame = [&](const Json &other) {
    return std::all_of(
        std::begin(kKeys), std::end(kKeys),
        [&](const char *key) { return problem[key] == other[key]; });
  };
  auto place = std::find_if(problems.begin(), problems.end(), isSame);
  if (place == problems.end())
    problems.push_back(problem);
  else
    *place = problem;
}

/// A problem's object, with a line for each class.
static std::string textOf(Json problem) {
  Json classes = problem["classes"];
  problem.erase("classes");
  std::string text = problem.dump();
  text.back() = ',';
  text += "\"classes\":[";
  for (size_t i = 0; i < classes.size(); ++i)
    text += (i ? ",\n    " : "\n    ") + classes[i].dump();
  return text + "]}";
}

std::string TunedTable::text() const {
  std::string text = "{\"flashloom_tuned\":" + std::to_string(kTableVersion) +
                     ",\"arch\":" + Json(arch).dump() + ",\"problems\":[";
  for (size_t i = 0; i < problems.size(); ++i)
    text += (i ? ",\n  " : "\n  ") + textOf(problems[i]);
  return text + "]}\n";
}

void TunedTable::write(const std::string &path) const {
  std::string temporary = path + ".new";
  std::ofstream file(temporary);
  file << text();
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0)
    throw rt::Failure(FA_INVALID_ARGUMENT,
                      path + ": cannot be written: " + std::strerror(errno));
}
