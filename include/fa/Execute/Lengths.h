//===- Lengths.h - How long sequences are -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_LENGTHS_H
#define FA_EXECUTE_LENGTHS_H

#include <cstdint>
#include <vector>

namespace fa::execute {

/// Draws how long `count` sequences are: from 0 to `longest`, about one in
/// eight 0, one of them `longest`.
std::vector<int64_t> drawLengths(uint64_t stream, int64_t count,
                                 int64_t longest);

/// Draws how long `count` sequences are, `total` together. Any cut of the whole
/// is as likely as another.
std::vector<int64_t> drawParts(uint64_t stream, int64_t count, int64_t total);

/// 0 and the sums of the first 1, 2, ... of `lengths`.
std::vector<int64_t> getStarts(const std::vector<int64_t> &lengths);

} // namespace fa::execute

#endif // FA_EXECUTE_LENGTHS_H
