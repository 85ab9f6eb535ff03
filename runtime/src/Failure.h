//===- Failure.h - The exception used inside the runtime --------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors travel as one exception type inside the runtime and are turned into a
// status and a text at the C boundary; no exception leaves the library.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_FAILURE_H
#define FLASHLOOM_RUNTIME_FAILURE_H

#include "flashloom/fa_runtime.h"

#include <stdexcept>
#include <string>

namespace fa::rt {

class Failure : public std::runtime_error {
public:
  Failure(fa_status status, const std::string &message)
      : std::runtime_error(message), code(status) {}

  fa_status status() const { return code; }

private:
  fa_status code;
};

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_FAILURE_H
