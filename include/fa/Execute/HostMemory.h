//===- HostMemory.h - The memory of compiled code -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_HOSTMEMORY_H
#define FA_EXECUTE_HOSTMEMORY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <utility>

namespace fa::execute {

/// Buffers of compiled code live in memory that this counts and, on demand,
/// poisons: every byte is 0xff, a NaN in each float type, so that whatever is
/// read before it was written shows.
namespace memory {

/// Whether buffers are poisoned from now on.
void setPoison(bool poison);
/// The bytes that are allocated now.
int64_t getLiveBytes();
/// The most bytes that were allocated at once since the last reset.
int64_t getPeakBytes();
void resetPeak();
/// Frees a buffer that compiled code returned.
void release(void *buffer);

/// The functions by which compiled code allocates and frees, by name.
llvm::ArrayRef<std::pair<llvm::StringLiteral, void *>> getSymbols();

} // namespace memory
} // namespace fa::execute

#endif // FA_EXECUTE_HOSTMEMORY_H
