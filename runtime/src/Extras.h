//===- Extras.h - What variants read beside q, k and v ----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_EXTRAS_H
#define FLASHLOOM_RUNTIME_EXTRAS_H

#include "Problem.h"

namespace fa::rt {

/// Checks that the caller's extras are exactly those of the kernel, each of its
/// kind, type, rank and sizes, with strides and an address that kernels can
/// read. Throws Failure(FA_INVALID_ARGUMENT) that names the argument, the rule
/// and the value.
void checkExtras(const Kernel &kernel, const Problem &problem,
                 const fa_forward_params &params);

/// The extra of a name, of arguments that were checked.
const fa_extra &extraOf(const std::string &name,
                        const fa_forward_params &params);

/// The tensor that an argument stands for, or the extra of a name.
const fa_tensor &tensorOf(Argument argument, const std::string &extra,
                          const fa_forward_params &params);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_EXTRAS_H
