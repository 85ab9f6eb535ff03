//===- Sizes.cpp - The sizes of a problem -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Sizes.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

using namespace fa::execute;
using llvm::StringRef;

static constexpr llvm::StringLiteral kNames[kNumDims] = {"B", "Hq", "Hkv", "Sq",
                                                         "Skv"};

StringRef fa::execute::getName(Dim dim) { return kNames[unsigned(dim)]; }

llvm::Expected<Sizes> Sizes::parse(StringRef text) {
  Sizes sizes;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [name, number] = part.split('=');
    const auto *found = llvm::find(kNames, name);
    if (found == std::end(kNames))
      return llvm::createStringError("unknown size '" + name + "' in '" + text +
                                     "'; sizes are B, Hq, Hkv, Sq and Skv");
    unsigned index = found - std::begin(kNames);
    if (number.getAsInteger(10, sizes.values[index]) || sizes.values[index] < 0)
      return llvm::createStringError("'" + part +
                                     "' is not a size: a number from 0 on is");
    sizes.given[index] = true;
  }
  return sizes;
}

std::string Sizes::str() const {
  std::string text;
  for (unsigned i = 0; i < kNumDims; ++i)
    text += (i ? "," : "") + kNames[i].str() + "=" + std::to_string(values[i]);
  return text;
}
