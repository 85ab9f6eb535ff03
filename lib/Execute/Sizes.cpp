//===- Sizes.cpp - The sizes of a problem -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Sizes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace fa::execute;
using llvm::StringRef;

static constexpr llvm::StringLiteral kNames[kNumDims] = {
    "B", "Hq", "Hkv", "Sq", "Skv", "Tq", "Tkv"};
/// How many of these every problem has.
static constexpr unsigned kNumPlainDims = 5;

StringRef fa::execute::getName(Dim dim) { return kNames[unsigned(dim)]; }

llvm::Expected<Sizes> Sizes::parse(StringRef text) {
  Sizes sizes;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [name, number] = part.split('=');
    const auto *found = llvm::find(kNames, name);
    if (found == std::end(kNames))
      return llvm::createStringError(
          "unknown size '" + name + "' in '" + text +
          "'; sizes are B, Hq, Hkv, Sq and Skv, of packed tensors Tq and Tkv");
    unsigned index = found - std::begin(kNames);
    if (number.getAsInteger(10, sizes.values[index]) || sizes.values[index] < 0)
      return llvm::createStringError("'" + part +
                                     "' is not a size: a number from 0 on is");
    sizes.given[index] = true;
  }
  return sizes;
}

llvm::Expected<std::vector<int64_t>> fa::execute::parseLengths(StringRef text) {
  std::vector<int64_t> lengths;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts)
    if (part.getAsInteger(10, lengths.emplace_back()) || lengths.back() < 0)
      return llvm::createStringError(
          "'" + part + "' in '" + text +
          "' is not a length: a number from 0 on is");
  return lengths;
}

static std::string join(llvm::ArrayRef<int64_t> values) {
  return llvm::join(
      llvm::map_range(values,
                      [](int64_t value) { return std::to_string(value); }),
      ",");
}

/// The lengths of sequences that begin at `starts`.
static std::string joinDifferences(llvm::ArrayRef<int64_t> starts) {
  llvm::SmallVector<int64_t> lengths;
  for (auto [start, end] : llvm::zip(starts, starts.drop_front()))
    lengths.push_back(end - start);
  return join(lengths);
}

std::string Sizes::str() const {
  std::string text;
  unsigned count = startsQ.empty() ? kNumPlainDims : kNumDims;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? "," : "") + kNames[i].str() + "=" + std::to_string(values[i]);
  if (!startsQ.empty())
    text += " --q-lens=" + joinDifferences(startsQ) +
            " --kv-lens=" + joinDifferences(startsKV);
  if (!keyLengths.empty())
    text += " --kv-lens=" + join(keyLengths);
  return text;
}
