//===- HostMemory.cpp - The memory of compiled code -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/HostMemory.h"

#include "llvm/Support/MemAlloc.h"

#include <atomic>
#include <cstring>

using namespace fa::execute;

static std::atomic<bool> shouldPoison{false};
static std::atomic<int64_t> liveBytes{0}, peakBytes{0};

/// What stands before each buffer; as long as the strictest alignment.
struct alignas(64) Header {
  int64_t bytes;
};

static void *allocate(int64_t bytes) {
  auto *header = static_cast<Header *>(
      llvm::allocate_buffer(sizeof(Header) + bytes, alignof(Header)));
  header->bytes = bytes;
  void *buffer = header + 1;
  if (shouldPoison)
    std::memset(buffer, 0xff, bytes);
  int64_t live = liveBytes += bytes, peak = peakBytes;
  while (live > peak && !peakBytes.compare_exchange_weak(peak, live))
    ;
  return buffer;
}

void fa::execute::memory::release(void *buffer) {
  if (!buffer)
    return;
  auto *header = static_cast<Header *>(buffer) - 1;
  liveBytes -= header->bytes;
  llvm::deallocate_buffer(header, sizeof(Header) + header->bytes,
                          alignof(Header));
}

void fa::execute::memory::setPoison(bool poison) { shouldPoison = poison; }
int64_t fa::execute::memory::getLiveBytes() { return liveBytes; }
int64_t fa::execute::memory::getPeakBytes() { return peakBytes; }
void fa::execute::memory::resetPeak() { peakBytes = liveBytes.load(); }

llvm::ArrayRef<std::pair<llvm::StringLiteral, void *>>
fa::execute::memory::getSymbols() {
  static const std::pair<llvm::StringLiteral, void *> symbols[] = {
      {"_mlir_memref_to_llvm_alloc", reinterpret_cast<void *>(&allocate)},
      {"_mlir_memref_to_llvm_free", reinterpret_cast<void *>(&release)}};
  return symbols;
}
