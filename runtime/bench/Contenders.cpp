//===- Contenders.cpp - Candidates of a problem and the fastest -----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contenders.h"

#include "Files.h"
#include "Variants.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

using namespace fa;
using namespace fa::bench;

/// The limits of the classes; longer sequences are the last one.
static constexpr int64_t kLimits[] = {1024, 4096};

/// By how much another candidate must be faster to replace the default: less
/// is within what two runs differ by.
static constexpr double kGain = 1.01;

std::vector<LengthClass>
fa::bench::classesOf(const std::vector<int64_t> &seqs) {
  std::map<int64_t, LengthClass> classes;
  for (size_t cell = 0; cell < seqs.size(); ++cell) {
    const int64_t *limit =
        std::find_if(std::begin(kLimits), std::end(kLimits),
                     [&](int64_t limit) { return seqs[cell] <= limit; });
    LengthClass &lengths = classes[limit - kLimits];
    lengths.maxRows = limit == std::end(kLimits) ? 0 : *limit;
    lengths.cells.push_back(cell);
  }
  std::vector<LengthClass> list;
  for (const auto &entry : classes)
    list.push_back(entry.second);
  if (!list.empty())
    list.back().maxRows = 0;
  return list;
}

void Contest::drop(size_t index) {
  if (contenders.front().index == index)
    hasDefault = false;
  contenders.erase(std::remove_if(contenders.begin(), contenders.end(),
                                  [&](const Contender &contender) {
                                    return contender.index == index;
                                  }),
                   contenders.end());
}

/// How much faster a candidate is than the first one, over the lengths of a
/// class: the geometric mean.
double Contest::compare(size_t candidate, const LengthClass &lengths) const {
  double sum = 0;
  for (size_t cell : lengths.cells)
    sum += std::log(contenders[candidate].tflops[cell] /
                    contenders.front().tflops[cell]);
  return std::exp(sum / double(lengths.cells.size()));
}

Contest::Result Contest::decide(const LengthClass &lengths) const {
  std::vector<size_t> order;
  for (size_t i = 0; i < contenders.size(); ++i)
    order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return compare(a, lengths) > compare(b, lengths);
  });
  size_t winner = order.front();
  if (hasDefault && compare(winner, lengths) <= kGain)
    winner = 0;
  for (size_t place : order)
    if (place != winner)
      return {winner, place};
  return {winner, winner};
}

//===----------------------------------------------------------------------===//
// What is said of it
//===----------------------------------------------------------------------===//

/// A rate to a tenth, as the CSV has it.
static double rounded(double rate) { return std::round(rate * 10) / 10; }

Json Contest::describeClasses(const std::vector<int64_t> &seqs) const {
  Json classes = Json::array();
  for (const LengthClass &lengths : classesOf(seqs)) {
    auto rates = [&](size_t candidate) {
      Json list = Json::array();
      for (size_t cell : lengths.cells)
        list.push_back(rounded(contenders[candidate].tflops[cell]));
      return list;
    };
    Result result = decide(lengths);
    Json entry;
    if (lengths.maxRows)
      entry["max_rows"] = lengths.maxRows;
    entry["schedule"] = contenders[result.winner].schedule;
    entry["seqs"] = Json::array();
    for (size_t cell : lengths.cells)
      entry["seqs"].push_back(seqs[cell]);
    entry["tflops"] = rates(result.winner);
    if (hasDefault)
      entry["default_tflops"] = rates(0);
    if (result.runnerUp != result.winner)
      entry["runner_up"] = {{"schedule", contenders[result.runnerUp].schedule},
                            {"tflops", rates(result.runnerUp)}};
    classes.push_back(entry);
  }
  return classes;
}

void Contest::print(const std::vector<int64_t> &seqs) const {
  std::printf("\n%s, TFLOP/s\n  %-52s", title.c_str(), "");
  for (int64_t seq : seqs)
    std::printf(" %7lld", static_cast<long long>(seq));
  std::printf("\n");
  for (const Contender &contender : contenders) {
    std::printf("  %-52s", contender.name.c_str());
    for (double rate : contender.tflops)
      std::printf(" %7.1f", rate);
    std::printf("\n");
  }
  for (const LengthClass &lengths : classesOf(seqs)) {
    Result result = decide(lengths);
    std::string rows =
        lengths.maxRows ? "up to " + std::to_string(lengths.maxRows) : "any";
    std::printf("  rows %-10s: %s, %.3f of the first\n", rows.c_str(),
                contenders[result.winner].name.c_str(),
                compare(result.winner, lengths));
  }
  std::fflush(stdout);
}

//===----------------------------------------------------------------------===//
// From the manifest
//===----------------------------------------------------------------------===//

/// The `tuning` of the library's kernels, by name. The runtime has read the
/// manifest and found nothing wrong with it.
static std::map<std::string, Json> readTunings(const rt::Library &library) {
  std::map<std::string, Json> tunings;
  Json manifest =
      Json::parse(rt::readFile(library.directory() + "/manifest.json"));
  for (const Json &kernel : manifest["kernels"])
    if (kernel.contains("tuning"))
      tunings[kernel["name"].get<std::string>()] = kernel["tuning"];
  return tunings;
}

static std::string titleOf(const rt::Kernel &kernel) {
  std::string dims = std::to_string(kernel.headDim);
  if (kernel.headDimV != kernel.headDim)
    dims += "/" + std::to_string(kernel.headDimV);
  return std::string(rt::dtypeName(kernel.dtype)) + ", D " + dims + ", " +
         kernel.variant;
}

std::vector<Contest>
fa::bench::collectContests(const rt::Library &library,
                           const std::vector<size_t> &kernels) {
  std::map<std::string, Json> tunings = readTunings(library);
  std::vector<Contest> contests;
  std::string arch;
  for (size_t index : kernels) {
    const rt::Kernel &kernel = library.kernel(index);
    auto tuning = tunings.find(kernel.name);
    if (tuning == tunings.end() || !findVariant(kernel.variant))
      continue;
    if (arch.empty())
      arch = kernel.archText;
    if (kernel.archText != arch)
      continue;
    std::string title = titleOf(kernel);
    auto contest = std::find_if(
        contests.begin(), contests.end(),
        [&](const Contest &other) { return other.title == title; });
    if (contest == contests.end()) {
      contests.push_back({title, {}});
      contest = contests.end() - 1;
    }
    contest->contenders.push_back({index, kernel.name, tuning->second, {}});
  }
  return contests;
}
