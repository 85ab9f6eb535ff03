//===- Kernel.cpp - A kernel of a library ---------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

using namespace fa::rt;

/// How well a kernel suits so many rows: 0 best.
static int rankFor(const Kernel &kernel, int64_t seqQ, int64_t group) {
  if (kernel.maxRows == 0)
    return 1;
  int64_t rows = kernel.packsHeads ? seqQ * group : seqQ;
  return rows <= kernel.maxRows ? 0 : 2;
}

bool fa::rt::isPreferred(const Kernel &a, const Kernel &b, int64_t seqQ,
                         int64_t group) {
  int rankA = rankFor(a, seqQ, group), rankB = rankFor(b, seqQ, group);
  if (rankA != rankB)
    return rankA < rankB;
  // Of two that are meant for so many rows, the one meant for fewer.
  if (rankA == 0 && a.maxRows != b.maxRows)
    return a.maxRows < b.maxRows;
  if (a.arch < b.arch || b.arch < a.arch)
    return b.arch < a.arch;
  return a.format == Format::Cubin && b.format == Format::Ptx;
}

const char *fa::rt::dtypeName(fa_dtype dtype) {
  switch (dtype) {
  case FA_BF16:
    return "bf16";
  case FA_F16:
    return "f16";
  case FA_F32:
    return "f32";
  case FA_I32:
    return "i32";
  }
  return "none";
}

int64_t fa::rt::dtypeBytes(fa_dtype dtype) {
  return dtype == FA_F32 || dtype == FA_I32 ? 4 : 2;
}

const char *fa::rt::formatName(Format format) {
  return format == Format::Cubin ? "cubin" : "ptx";
}
