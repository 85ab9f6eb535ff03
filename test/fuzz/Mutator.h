//===- Mutator.h - One text into another -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TEST_FUZZ_MUTATOR_H
#define FA_TEST_FUZZ_MUTATOR_H

#include "Corpus.h"
#include "Random.h"

namespace fa::fuzz {

/// A text of `corpus` with up to four changes, of which some may be none:
/// tokens swapped, deleted, repeated or exchanged for others of their kind;
/// numbers, element types and dimensions changed; operations repeated, deleted
/// and moved; the end cut off; two texts spliced.
std::string mutate(const Corpus &corpus, Random &random);

} // namespace fa::fuzz

#endif // FA_TEST_FUZZ_MUTATOR_H
