//===- Npy.h - Arrays in NumPy's files --------------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_NPY_H
#define FLASHLOOM_BENCH_NPY_H

#include <cstdint>
#include <string>
#include <vector>

namespace fa::bench {

/// An array in row-major order.
struct NpyArray {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

/// Reads a .npy file of versions 1.0 to 3.0: little-endian, in C order, of
/// floats (f2, f4, f8), integers (i4, i8) or the bits of bf16 (V2). Throws
/// rt::Failure that names the file.
NpyArray readNpy(const std::string &path);

/// Writes floats as f4. Throws rt::Failure that names the file.
void writeNpy(const std::string &path, const NpyArray &array);

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_NPY_H
