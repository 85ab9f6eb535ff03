//===- HostTensor.cpp - Tensors in host memory -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/HostTensor.h"

#include "llvm/ADT/APFloat.h"

#include <cstring>

using namespace mlir;
using namespace fa::execute;

static int64_t product(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

HostTensor::HostTensor(FloatType element, ArrayRef<int64_t> shape)
    : element(element), elementBytes(element.getWidth() / 8), shape(shape),
      numElements(product(shape)),
      bytes(numElements * elementBytes, char(0xff)) {}

HostTensor::HostTensor(FloatType element, unsigned rank,
                       ArrayRef<int64_t> descriptor)
    : HostTensor(element, descriptor.slice(3, rank)) {
  ArrayRef<int64_t> strides = descriptor.slice(3 + rank, rank);
  const char *base = reinterpret_cast<const char *>(descriptor[1]);
  for (int64_t index = 0; index < numElements; ++index) {
    int64_t rest = index, position = descriptor[2];
    for (unsigned dim = rank; dim-- > 0; rest /= shape[dim])
      position += (rest % shape[dim]) * strides[dim];
    std::memcpy(bytes.data() + index * elementBytes,
                base + position * elementBytes, elementBytes);
  }
}

/// `value` in the format of `element`.
static APFloat convert(FloatType element, double value) {
  APFloat result(value);
  bool losesInfo;
  result.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return result;
}

double fa::execute::roundTo(FloatType element, double value) {
  return convert(element, value).convertToDouble();
}

double HostTensor::load(int64_t index) const {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * elementBytes, elementBytes);
  FloatType type = element;
  return APFloat(type.getFloatSemantics(), APInt(8 * elementBytes, bits))
      .convertToDouble();
}

void HostTensor::store(int64_t index, double value) {
  uint64_t bits = convert(element, value).bitcastToAPInt().getZExtValue();
  std::memcpy(bytes.data() + index * elementBytes, &bits, elementBytes);
}

MemRefDescriptor HostTensor::getDescriptor() const {
  auto address = reinterpret_cast<int64_t>(bytes.data());
  MemRefDescriptor words = {address, address, 0};
  words.insert(words.end(), shape.begin(), shape.end());
  for (size_t dim = 0; dim < shape.size(); ++dim)
    words.push_back(product(getShape().drop_front(dim + 1)));
  return words;
}
