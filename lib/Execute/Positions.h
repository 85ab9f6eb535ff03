//===- Positions.h - Where regions read outside of tensors -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_EXECUTE_POSITIONS_H
#define FA_LIB_EXECUTE_POSITIONS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <utility>

namespace fa::execute::positions {

/// The function that compiled code calls for an index outside of a tensor:
/// (argument, dimension, index, size), each i64. The argument is -1 where the
/// tensor is none.
inline constexpr llvm::StringLiteral kOutsideFunction("flashloom_outside");

/// The function's name and address.
std::pair<llvm::StringLiteral, void *> getSymbol();

/// Forgets what was called.
void reset();
/// A message about the first call, empty where there was none.
std::string getMessage();

} // namespace fa::execute::positions

#endif // FA_LIB_EXECUTE_POSITIONS_H
