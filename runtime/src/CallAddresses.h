//===- CallAddresses.h - The addresses of a call ----------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What changes from one call of a problem to the next.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_CALLADDRESSES_H
#define FLASHLOOM_RUNTIME_CALLADDRESSES_H

#include "Kernel.h"
#include "Problem.h"

namespace fa::rt {

/// The number of an address among those that a call gives: of q, k, v, o and
/// lse as Argument has them, of the workspace, then of the extras in the
/// caller's order.
using AddressNumber = unsigned;
inline constexpr AddressNumber kWorkspaceAddress = 5;
inline constexpr AddressNumber kFirstExtraAddress = 6;

static_assert(int(Argument::Q) == 0 && int(Argument::Lse) == 4);

/// The number of the address of a tensor: q, k, v, o, lse or an extra. Throws
/// Failure where there is no such extra.
AddressNumber addressNumberOf(Argument argument, const std::string &extra,
                              const fa_forward_params &params);

/// The addresses of a call, by their numbers.
class CallAddresses {
public:
  explicit CallAddresses(const fa_forward_params &params)
      : first{params.q.data, params.k.data,   params.v.data,
              params.o.data, params.lse.data, workspaceOf(params).data},
        extras(extrasOf(params).first) {}

  uint64_t operator[](AddressNumber number) const {
    const void *address = number < kFirstExtraAddress
                              ? first[number]
                              : extras[number - kFirstExtraAddress].tensor.data;
    return reinterpret_cast<uintptr_t>(address);
  }

private:
  const void *first[kFirstExtraAddress];
  const fa_extra *extras;
};

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_CALLADDRESSES_H
