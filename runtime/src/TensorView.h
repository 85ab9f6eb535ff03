//===- TensorView.h - Checks of one tensor argument -------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of a tensor's kind, strides and address, and the form of refusals.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_TENSORVIEW_H
#define FLASHLOOM_RUNTIME_TENSORVIEW_H

#include "Kernel.h"

namespace fa::rt {

/// A tensor of the arguments with what messages and checks need to know of it.
struct TensorView {
  const char *name;
  const fa_tensor &tensor;
  const char *dimNames[4]; ///< "": none
  bool output;
  /// Address and strides are multiples of this many bytes.
  int64_t unitBytes;
  /// The last stride must be 1.
  bool dense;
};

/// Throws Failure(FA_INVALID_ARGUMENT): "argument: rule (found ...)".
[[noreturn]] void refuse(const std::string &argument, const std::string &rule,
                         const std::string &found);

/// "size of dimension 2 (seq_q)".
std::string dimName(const TensorView &view, const char *what, int dim);

/// Checks the rank, and that no size is negative.
void checkRank(const TensorView &view, int rank);

/// Checks strides, the last element's offset, and the address.
void checkLayout(const TensorView &view);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_TENSORVIEW_H
