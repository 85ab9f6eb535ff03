//===- ParamList.h - A launch's parameters ----------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver takes all parameters as one buffer, which costs it less than the
// address of each. Where they lie in it is the kernel's own business: ptxas
// places tensor maps by where the parameters begin in the constant bank, so
// that the driver is asked. Drivers before CUDA 12.4 do not say; they take
// addresses.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_PARAMLIST_H
#define FLASHLOOM_RUNTIME_PARAMLIST_H

#include "CallAddresses.h"
#include "TensorMap.h"

#include <cstddef>
#include <vector>

namespace fa::rt {

/// Where a parameter lies among a kernel's, in bytes.
struct ParamPlace {
  size_t offset, size;
};

/// A parameter that holds an address which the caller gave, plus `delta`.
struct AddressPlace {
  size_t offset;
  AddressNumber address;
  uint64_t delta;
};

/// The parameters of a launch in their order.
class ParamList {
public:
  /// Parameters of `kernel` at `places`, both of which stay where they are
  /// until the last one is added; one behind another where there are none.
  ParamList(const Kernel &kernel, const std::vector<ParamPlace> &places);
  ParamList() = default;

  /// Each throws Failure(FA_INVALID_LIBRARY) where the kernel has no such
  /// parameter, or a launch no room for it.
  void add(uint64_t value) { append(&value, sizeof(value)); }
  void add(uint32_t value) { append(&value, sizeof(value)); }
  void add(float value) { append(&value, sizeof(value)); }
  /// `delta` bytes behind the caller's address `number`, which is `base`.
  void addAddress(const void *base, AddressNumber number, uint64_t delta);
  /// Returns where the map lies.
  size_t add(const TensorMap &map);

  /// To be called behind the last `add`. Throws Failure(FA_INVALID_LIBRARY)
  /// where the kernel has more parameters.
  void finish();

  /// Writes the caller's addresses anew.
  void setAddresses(const CallAddresses &addresses);
  /// Writes the map at `offset` anew.
  void setMap(size_t offset, const TensorMap &map);

  size_t size() const { return offsets.size(); }
  const void *at(size_t number) const { return bytes() + offsets[number]; }

  /// Whether the driver takes the list as one buffer, of `numBytes` bytes.
  bool isBuffer() const { return places != nullptr; }
  void *buffer() { return bytes(); }
  size_t *numBytes() { return &used; }
  /// The address of each; where it is no buffer.
  void **addresses() { return pointers.data(); }

private:
  /// Of the alignment of tensor maps.
  struct alignas(64) Line {
    unsigned char bytes[64];
  };

  unsigned char *bytes() { return lines.data()->bytes; }
  const unsigned char *bytes() const { return lines.data()->bytes; }
  size_t append(const void *value, size_t numBytes);
  size_t placeBehind(size_t numBytes) const;
  size_t placeInKernel(size_t numBytes) const;
  [[noreturn]] void refuse(const std::string &why) const;

  const Kernel *kernel = nullptr;
  const std::vector<ParamPlace> *places = nullptr;
  std::vector<Line> lines;
  size_t used = 0; ///< bytes of `lines`
  std::vector<size_t> offsets;
  std::vector<AddressPlace> addressPlaces;
  std::vector<void *> pointers;
};

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_PARAMLIST_H
