//===- GlobalTensor.cpp - Tensors in global memory -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalTensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>

using namespace fa::sim;

GlobalTensor::GlobalTensor(unsigned number, mlir::Type element,
                           MemRefArgument argument, bool isWritten)
    : number(number), format(getFloatFormat(element)),
      bytes(element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8),
      argument(std::move(argument)) {
  if (!isWritten)
    return;
  int64_t count = 1;
  for (int64_t size : this->argument.sizes)
    count *= size;
  writers.resize(count);
}

std::string GlobalTensor::name() const {
  return "argument " + std::to_string(number);
}

unsigned GlobalTensor::rowDim(const Window &window) const {
  return window.indices.size() - (window.isRowVector ? 1 : 2);
}

int64_t GlobalTensor::countCols(const Window &window) const {
  if (!window.padsColumns)
    return window.cols;
  return std::clamp<int64_t>(argument.sizes.back() - window.indices.back(), 0,
                             window.cols);
}

int64_t GlobalTensor::getRows(bool isRowVector) const {
  return argument.sizes[argument.sizes.size() - (isRowVector ? 1 : 2)];
}

/// What is wrong with a range of `count` from `begin` in a dimension of `size`,
/// or "".
static std::string checkRange(int64_t begin, int64_t count, int64_t size,
                              llvm::StringRef what, const std::string &name) {
  if (begin >= 0 && begin + count <= size)
    return "";
  std::string range = count == 1 ? std::to_string(begin)
                                 : std::to_string(begin) + " to " +
                                       std::to_string(begin + count - 1);
  return ("leaves the bounds of " + name + ": " + what + " " + range + " of " +
          std::to_string(size))
      .str();
}

std::string GlobalTensor::check(const Window &window) const {
  // What no row is there for is not touched.
  int64_t first = window.firstRow();
  if (first < 0)
    return checkRange(first, window.rows, argument.sizes[rowDim(window)],
                      "rows", name());
  int64_t rows = std::min(window.rows, window.rowEnd - first);
  if (rows <= 0)
    return "";
  for (unsigned dim = 0; dim < rowDim(window); ++dim) {
    std::string fault = checkRange(window.indices[dim], 1, argument.sizes[dim],
                                   "index", name());
    if (!fault.empty())
      return fault + " in dimension " + std::to_string(dim);
  }
  std::string fault =
      checkRange(first, rows, argument.sizes[rowDim(window)], "rows", name());
  if (!fault.empty() || window.isRowVector)
    return fault;
  int64_t cols = countCols(window);
  return cols == 0 ? ""
                   : checkRange(window.indices.back(), cols,
                                argument.sizes.back(), "columns", name());
}

std::pair<int64_t, int64_t> GlobalTensor::locate(const Window &window,
                                                 int64_t row) const {
  int64_t logical = 0, real = 0;
  for (auto [dim, index] : llvm::enumerate(window.indices)) {
    int64_t position = index + (dim == rowDim(window) ? row : 0);
    logical = logical * argument.sizes[dim] + position;
    real += position * argument.strides[dim];
  }
  return {logical, real};
}

/// "a thread block's team": the text of a race.
static constexpr const char *kRace =
    "is in a race: another team or thread block has written this element of ";

std::string GlobalTensor::read(const Window &window, Agent who,
                               llvm::function_ref<bool(int64_t)> isMine,
                               float *out) const {
  if (std::string fault = check(window); !fault.empty())
    return fault;
  int64_t stride = window.isRowVector ? 1 : argument.strides.back();
  for (int64_t row = 0; row < window.rows; ++row) {
    float *to = out + row * window.cols;
    if (!isMine(row))
      continue;
    bool isThere = window.firstRow() + row < window.rowEnd;
    int64_t cols = isThere ? countCols(window) : 0;
    std::fill(to + cols, to + window.cols, window.pad);
    if (cols == 0)
      continue;
    auto [logical, real] = locate(window, row);
    for (int64_t col = 0; !writers.empty() && col < cols; ++col)
      if (!who.isAfter(writers[logical + col]))
        return kRace + name();
    const char *from = argument.data + real * bytes;
    if (stride == 1)
      decode(*format, from, cols, to);
    else
      for (int64_t col = 0; col < cols; ++col)
        decode(*format, from + col * stride * bytes, 1, to + col);
  }
  return "";
}

std::string GlobalTensor::locate(llvm::ArrayRef<int64_t> position,
                                 int64_t &logical, int64_t &real) const {
  logical = real = 0;
  for (auto [dim, index] : llvm::enumerate(position)) {
    std::string fault =
        checkRange(index, 1, argument.sizes[dim], "index", name());
    if (!fault.empty())
      return fault + " in dimension " + std::to_string(dim);
    logical = logical * argument.sizes[dim] + index;
    real += index * argument.strides[dim];
  }
  return "";
}

std::string GlobalTensor::find(llvm::ArrayRef<int64_t> position, Agent who,
                               const char *&address) const {
  int64_t logical, real;
  if (std::string fault = locate(position, logical, real); !fault.empty())
    return fault;
  if (!writers.empty() && !who.isAfter(writers[logical]))
    return kRace + name();
  address = argument.data + real * bytes;
  return "";
}

std::string GlobalTensor::claim(llvm::ArrayRef<int64_t> position, Agent who,
                                char *&address) {
  int64_t logical, real;
  if (std::string fault = locate(position, logical, real); !fault.empty())
    return fault;
  Agent &writer = writers[logical];
  if (!who.isAfter(writer))
    return kRace + name();
  writer = who;
  address = argument.data + real * bytes;
  return "";
}

std::string GlobalTensor::write(const Window &window, Agent who,
                                const float *values) {
  if (std::string fault = check(window); !fault.empty())
    return fault;
  int64_t stride = window.isRowVector ? 1 : argument.strides.back();
  for (int64_t row = 0; row < window.rows; ++row) {
    if (window.firstRow() + row >= window.rowEnd)
      break;
    auto [logical, real] = locate(window, row);
    for (int64_t col = 0; col < window.cols; ++col) {
      Agent &writer = writers[logical + col];
      if (!who.isAfter(writer))
        return kRace + name();
      writer = who;
      encode(*format, values + row * window.cols + col, 1,
             argument.data + (real + col * stride) * bytes);
    }
  }
  return "";
}
