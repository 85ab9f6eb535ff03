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

/// A dense float tensor in row-major order whose elements are read and written
/// as doubles.
class HostTensor {
public:
  /// A tensor whose bytes are all 0xff, which is NaN in each float type.
  HostTensor(mlir::FloatType element, llvm::ArrayRef<int64_t> shape);
  /// A dense copy of the memref that compiled code returned.
  HostTensor(mlir::FloatType element, unsigned rank,
             llvm::ArrayRef<int64_t> descriptor);

  mlir::FloatType getElementType() const { return element; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getNumElements() const { return numElements; }

  double load(int64_t index) const;
  /// Rounds to the nearest element, ties to even.
  void store(int64_t index, double value);

  MemRefDescriptor getDescriptor() const;

private:
  mlir::FloatType element;
  unsigned elementBytes;
  llvm::SmallVector<int64_t> shape;
  int64_t numElements;
  std::vector<char> bytes;
};

/// `value` rounded to `element`, ties to even.
double roundTo(mlir::FloatType element, double value);

} // namespace fa::execute

#endif // FA_EXECUTE_HOSTTENSOR_H
