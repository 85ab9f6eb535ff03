//===- Variants.cpp - What each variant lets a row see --------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Variants.h"

using namespace fa::bench;

static bool seesAll(int64_t, int64_t, int64_t, int64_t) { return true; }

/// Bottom-right: the last row sees the last key.
static bool seesCausal(int64_t i, int64_t j, int64_t seqQ, int64_t seqKv) {
  return i + seqKv - seqQ >= j;
}

static double shareOne(int64_t) { return 1; }
static double shareHalf(int64_t) { return 0.5; }

static const Variant kVariants[] = {
    {"full", seesAll, shareOne},
    {"causal", seesCausal, shareHalf},
};

const Variant *fa::bench::findVariant(const std::string &name) {
  for (const Variant &variant : kVariants)
    if (name == variant.name)
      return &variant;
  return nullptr;
}

std::string fa::bench::variantNames() {
  std::string names;
  for (const Variant &variant : kVariants)
    names += (names.empty() ? "" : ", ") + std::string(variant.name);
  return names;
}
