//===- HostTensor.cpp - Tensors in host memory -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/HostTensor.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace fa::execute;

static int64_t product(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool fa::execute::isHostElement(Type element) {
  if (isa<IndexType>(element))
    return true;
  if (auto floatType = dyn_cast<FloatType>(element))
    return floatType.getWidth() % 8 == 0 && floatType.getWidth() <= 64;
  auto integer = dyn_cast<IntegerType>(element);
  return integer && llvm::is_contained({1, 8, 16, 32, 64}, integer.getWidth());
}

/// How much memory compiled code gives one element.
static unsigned countBytes(Type element) {
  return isa<IndexType>(element)
             ? sizeof(int64_t)
             : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

HostTensor::HostTensor(Type element, ArrayRef<int64_t> shape)
    : element(element), elementBytes(countBytes(element)), shape(shape),
      numElements(product(shape)),
      bytes(numElements * elementBytes, char(0xff)) {}

HostTensor::HostTensor(Type element, unsigned rank,
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

int64_t HostTensor::loadInteger(int64_t index) const {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * elementBytes, elementBytes);
  return element.isInteger(1) ? int64_t(bits & 1)
                              : llvm::SignExtend64(bits, 8 * elementBytes);
}

void HostTensor::storeInteger(int64_t index, int64_t value) {
  std::memcpy(bytes.data() + index * elementBytes, &value, elementBytes);
}

/// The bits of a float, or the float of bits.
template <typename To, typename From> static To castBits(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}

double HostTensor::load(int64_t index) const {
  auto type = dyn_cast<FloatType>(element);
  if (!type)
    return double(loadInteger(index));
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * elementBytes, elementBytes);
  if (type.isF64())
    return castBits<double>(bits);
  if (type.isF32())
    return castBits<float>(uint32_t(bits));
  if (type.isBF16())
    return castBits<float>(uint32_t(bits) << 16);
  return APFloat(type.getFloatSemantics(), APInt(8 * elementBytes, bits))
      .convertToDouble();
}

void HostTensor::store(int64_t index, double value) {
  auto type = dyn_cast<FloatType>(element);
  if (!type)
    return storeInteger(index, int64_t(value));
  uint64_t bits = type.isF64() ? castBits<uint64_t>(value)
                  : type.isF32()
                      ? castBits<uint32_t>(float(value))
                      : convert(type, value).bitcastToAPInt().getZExtValue();
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
