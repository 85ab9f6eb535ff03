//===- Positions.cpp - Where regions read outside of tensors -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Positions.h"

#include <mutex>

using namespace fa::execute;

/// Several threads may call at once.
static std::mutex mutex;
static std::string message;

static void noteOutside(int64_t argument, int64_t dim, int64_t index,
                        int64_t size) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!message.empty())
    return;
  std::string tensor =
      argument < 0 ? "a tensor" : "argument " + std::to_string(argument);
  message = "a score or mask region leaves the bounds of " + tensor +
            ": index " + std::to_string(index) + " of " + std::to_string(size) +
            " in dimension " + std::to_string(dim);
}

std::pair<llvm::StringLiteral, void *> positions::getSymbol() {
  return {kOutsideFunction, reinterpret_cast<void *>(&noteOutside)};
}

void positions::reset() {
  std::lock_guard<std::mutex> lock(mutex);
  message.clear();
}

std::string positions::getMessage() {
  std::lock_guard<std::mutex> lock(mutex);
  return message;
}
