//===- DlpackCall.h - A framework's tensors for a repeated call -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asking a PyTorch tensor for its sizes and strides makes Python objects, which
// takes longer than the launch. DLPack's exchange API fills a structure
// instead.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_DLPACKCALL_H
#define FLASHLOOM_RUNTIME_DLPACKCALL_H

#include "flashloom/fa_runtime.h"

namespace fa::rt {

/// Whether the call's objects are such as it says; then the addresses of q, k,
/// v and o in its params are theirs. Throws Failure(FA_INVALID_ARGUMENT) where
/// an object could not be read.
bool bindTensors(const fa_dlpack_call &call);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_DLPACKCALL_H
