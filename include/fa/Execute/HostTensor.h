//===- HostTensor.h - Tensors in host memory -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_HOSTTENSOR_H
#define FA_EXECUTE_HOSTTENSOR_H

#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace fa::execute {

/// What compiled code takes for a memref: two pointers, an offset, sizes and
/// strides, each one word.
using MemRefDescriptor = std::vector<int64_t>;

/// Whether a HostTensor can have this element type: a float of up to 64 bits,
/// index, or an integer of 1, 8, 16, 32 or 64 bits.
bool isHostElement(mlir::Type element);

/// A dense tensor in row-major order whose elements are read and written as
/// doubles, signless integers as signed ones and i1 as 0 or 1.
class HostTensor {
public:
  /// A tensor whose bytes are all 0xff, which is NaN in each float type.
  /// `element` must be one for which isHostElement holds.
  HostTensor(mlir::Type element, llvm::ArrayRef<int64_t> shape);
  /// A dense copy of the memref that compiled code returned.
  HostTensor(mlir::Type element, unsigned rank,
             llvm::ArrayRef<int64_t> descriptor);

  mlir::Type getElementType() const { return element; }
  unsigned getElementBytes() const { return elementBytes; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getNumElements() const { return numElements; }

  double load(int64_t index) const;
  /// Rounds to the nearest element, ties to even. An integer must fit.
  void store(int64_t index, double value);

  /// For tensors of integers; `value` must fit.
  void storeInteger(int64_t index, int64_t value);
  int64_t loadInteger(int64_t index) const;

  MemRefDescriptor getDescriptor() const;
  /// The elements as they lie in memory.
  llvm::MutableArrayRef<char> getBytes() { return bytes; }
  llvm::ArrayRef<char> getBytes() const { return bytes; }

private:
  mlir::Type element;
  unsigned elementBytes;
  llvm::SmallVector<int64_t> shape;
  int64_t numElements;
  std::vector<char> bytes;
};

/// `value` rounded to `element`, ties to even.
double roundTo(mlir::FloatType element, double value);

} // namespace fa::execute

#endif // FA_EXECUTE_HOSTTENSOR_H
