//===- Lookup.cpp - Single elements of global memory -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadBlock.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace fa;
using namespace fa::sim;

/// The integer of `type` at `address`; i1 as 0 or 1, others sign-extended.
static int64_t readInteger(Type type, const char *address) {
  unsigned bits = getIntegerBits(type);
  int64_t value = 0;
  std::memcpy(&value, address, llvm::divideCeil(bits, 8));
  return wrapInteger(value, bits);
}

ThreadBlock::Step ThreadBlock::loadScalar(Team &team, Operation *op) {
  auto load = cast<memref::LoadOp>(op);
  SmallVector<int64_t> position;
  for (Value index : load.getIndices())
    position.push_back(get<int64_t>(team, index));
  const char *address = nullptr;
  std::string error = get<GlobalTensor *>(team, load.getMemRef())
                          ->find(position, getAgent(team), address);
  if (!error.empty()) {
    fault(team, op) << error;
    return Step::Failed;
  }
  if (std::optional<FloatFormat> format = getFloatFormat(load.getType())) {
    float value = 0;
    decode(*format, address, 1, &value);
    set(team, load.getResult(), value);
  } else {
    set(team, load.getResult(), readInteger(load.getType(), address));
  }
  spend(team, costs.scalar);
  return Step::Next;
}

ThreadBlock::Step ThreadBlock::storeScalar(Team &team, Operation *op) {
  auto store = cast<memref::StoreOp>(op);
  SmallVector<int64_t> position;
  for (Value index : store.getIndices())
    position.push_back(get<int64_t>(team, index));
  char *address = nullptr;
  std::string error = get<GlobalTensor *>(team, store.getMemRef())
                          ->claim(position, getAgent(team), address);
  if (!error.empty()) {
    fault(team, op) << error;
    return Step::Failed;
  }
  Type type = store.getValueToStore().getType();
  if (std::optional<FloatFormat> format = getFloatFormat(type)) {
    float value = get<float>(team, store.getValueToStore());
    encode(*format, &value, 1, address);
  } else {
    int64_t value = get<int64_t>(team, store.getValueToStore());
    std::memcpy(address, &value, llvm::divideCeil(getIntegerBits(type), 8));
  }
  spend(team, costs.scalar);
  return Step::Next;
}

/// The position that an index gives the element at `row` and `col`.
static int64_t getPosition(const Datum &index, int64_t row, int64_t col) {
  if (const auto *scalar = std::get_if<int64_t>(&index))
    return *scalar;
  const Fragment &fragment = **std::get_if<FragmentPtr>(&index);
  if (fragment.shape.size() == 1)
    return fragment.ints[row];
  return fragment
      .ints[(fragment.shape[0] == 1 ? 0 : row) * fragment.shape[1] + col];
}

ThreadBlock::Step ThreadBlock::lookUp(Team &team, cta::LookupOp op) {
  auto *tensor = get<GlobalTensor *>(team, op.getSource());
  SmallVector<Datum> indices = getAll(team, op.getIndices());
  VectorType type = op.getResult().getType();
  std::optional<FloatFormat> format = getFloatFormat(type.getElementType());
  auto result = std::make_shared<Fragment>(type);
  int64_t cols = type.getRank() == 2 ? type.getDimSize(1) : 1;
  SmallVector<int64_t> position(indices.size());
  for (int64_t n = 0; n < type.getNumElements(); ++n) {
    for (auto [place, index] : llvm::zip_equal(position, indices))
      place = getPosition(index, n / cols, n % cols);
    const char *address = nullptr;
    std::string error = tensor->find(position, getAgent(team), address);
    if (!error.empty()) {
      fault(team, op) << error;
      return Step::Failed;
    }
    if (format)
      decode(*format, address, 1, &result->floats[n]);
    else
      result->ints[n] = readInteger(type.getElementType(), address);
  }
  set(team, op.getResult(), FragmentPtr(std::move(result)));
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  spend(team, costs.getStore(bytes));
  return Step::Next;
}
