//===- ParamList.cpp - A launch's parameters ------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParamList.h"

#include "Failure.h"

#include <algorithm>
#include <cstring>

using namespace fa::rt;

namespace {
/// Parameters, and bytes of them, that any device takes.
constexpr size_t kMostParams = 512, kMostBytes = 8192;
/// What parameters lie at multiples of, where the list places them.
constexpr size_t kWordBytes = 8, kMapAlignment = 64;
} // namespace

static size_t roundUp(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

ParamList::ParamList(const Kernel &kernel, const std::vector<ParamPlace> &given)
    : kernel(&kernel) {
  if (given.empty())
    return;
  places = &given;
  offsets.reserve(given.size());
}

void ParamList::refuse(const std::string &why) const {
  throw Failure(FA_INVALID_LIBRARY, "kernel " + kernel->name + ": " + why);
}

/// The offset of the next parameter, where the list places them.
size_t ParamList::placeBehind(size_t numBytes) const {
  const size_t unit =
      numBytes == sizeof(TensorMap) ? kMapAlignment : kWordBytes;
  const size_t offset = roundUp(used, unit);
  if (offsets.size() == kMostParams || offset + numBytes > kMostBytes)
    refuse("it takes more parameters than a launch can pass");
  return offset;
}

/// The offset of the next parameter, where the kernel has it.
size_t ParamList::placeInKernel(size_t numBytes) const {
  const size_t number = offsets.size();
  if (number == places->size())
    refuse("the manifest has more parameters than the kernel's file (" +
           std::to_string(number) + ")");
  const ParamPlace &place = (*places)[number];
  if (place.size != numBytes)
    refuse("parameter " + std::to_string(number) + " is of " +
           std::to_string(numBytes) + " bytes in the manifest, but of " +
           std::to_string(place.size) + " in the kernel's file");
  return place.offset;
}

size_t ParamList::append(const void *value, size_t numBytes) {
  const size_t offset =
      places ? placeInKernel(numBytes) : placeBehind(numBytes);
  // Whole words, so that what is behind a parameter of 4 bytes is 0.
  const size_t end = roundUp(offset + numBytes, kWordBytes);
  if (end > lines.size() * sizeof(Line))
    lines.resize((end + sizeof(Line) - 1) / sizeof(Line));
  std::memcpy(bytes() + offset, value, numBytes);
  used = std::max(used, offset + numBytes);
  offsets.push_back(offset);
  return offset;
}

void ParamList::addAddress(const void *base, AddressNumber number,
                           uint64_t delta) {
  const uint64_t address = reinterpret_cast<uintptr_t>(base) + delta;
  addressPlaces.push_back({append(&address, sizeof(address)), number, delta});
}

size_t ParamList::add(const TensorMap &map) {
  return append(&map, sizeof(map));
}

void ParamList::finish() {
  if (!places) {
    for (size_t offset : offsets)
      pointers.push_back(bytes() + offset);
  } else if (offsets.size() != places->size()) {
    refuse("the manifest has fewer parameters (" +
           std::to_string(offsets.size()) + ") than the kernel's file (" +
           std::to_string(places->size()) + ")");
  }
}

void ParamList::setAddresses(const CallAddresses &addresses) {
  for (const AddressPlace &place : addressPlaces) {
    const uint64_t address = addresses[place.address] + place.delta;
    std::memcpy(bytes() + place.offset, &address, sizeof(address));
  }
}

void ParamList::setMap(size_t offset, const TensorMap &map) {
  std::memcpy(bytes() + offset, &map, sizeof(map));
}
