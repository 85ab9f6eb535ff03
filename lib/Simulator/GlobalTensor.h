//===- GlobalTensor.h - Tensors in global memory -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_SIMULATOR_GLOBALTENSOR_H
#define FA_LIB_SIMULATOR_GLOBALTENSOR_H

#include "fa/Simulator/Fragment.h"
#include "fa/Simulator/Simulator.h"

#include <string>

namespace fa::sim {

/// A part of a tensor: its first element, and how many rows and columns follow
/// in the last two dimensions; with `isRowVector`, rows in the last one.
struct Window {
  llvm::SmallVector<int64_t> indices;
  int64_t rows = 1, cols = 1;
  /// Rows from here on are not there: they read as `pad` and are not stored.
  int64_t rowEnd = 0;
  float pad = 0;
  bool isRowVector = false;
  bool padsColumns = false; ///< those past the tensor's last one read as `pad`

  int64_t firstRow() const {
    return indices[indices.size() - (isRowVector ? 1 : 2)];
  }
};

/// Who touches an element.
struct Agent {
  uint32_t who = 0;   ///< the team, numbered through all thread blocks; 0: none
  uint32_t group = 0; ///< the teams that it meets: a role of a thread block
  uint32_t meeting = 0; ///< how often all of these had met before

  /// Whether all that `earlier` did in its time is done before this one's.
  bool isAfter(const Agent &earlier) const {
    return !earlier.who || earlier.who == who ||
           (earlier.group == group && earlier.meeting < meeting);
  }
};

/// A tensor in global memory. Accesses return what is wrong with them, or "".
/// Who writes an element is remembered: two teams that write one, or a team
/// that reads what another has written, are in no order that the dialect knows
/// unless they met in between.
class GlobalTensor {
public:
  /// `isWritten`: the kernel stores to it.
  GlobalTensor(unsigned number, mlir::Type element, MemRefArgument argument,
               bool isWritten);

  int64_t getSize(unsigned dim) const { return argument.sizes[dim]; }
  /// The number of rows that a window of the tensor may touch.
  int64_t getRows(bool isRowVector) const;

  /// `isMine`: rows of the window that this access touches.
  std::string read(const Window &window, Agent who,
                   llvm::function_ref<bool(int64_t)> isMine, float *out) const;
  /// Sets `address` to where the element at `position` lies.
  std::string find(llvm::ArrayRef<int64_t> position, Agent who,
                   const char *&address) const;
  /// Sets `address` to where to write the element at `position`.
  std::string claim(llvm::ArrayRef<int64_t> position, Agent who,
                    char *&address);
  std::string write(const Window &window, Agent who, const float *values);

private:
  /// The logical and the real position of an element.
  std::string locate(llvm::ArrayRef<int64_t> position, int64_t &logical,
                     int64_t &real) const;
  /// The dimension that counts a window's rows.
  unsigned rowDim(const Window &window) const;
  /// The columns of a window that are there.
  int64_t countCols(const Window &window) const;
  std::string check(const Window &window) const;
  /// The logical and the real position of the first element of a row.
  std::pair<int64_t, int64_t> locate(const Window &window, int64_t row) const;
  std::string name() const;

  unsigned number;
  std::optional<FloatFormat> format; ///< none: integers
  int64_t bytes;                     ///< of an element
  MemRefArgument argument;
  /// For each element, in row-major order, who wrote it last. Empty where the
  /// kernel does not store to the tensor.
  std::vector<Agent> writers;
};

} // namespace fa::sim

#endif // FA_LIB_SIMULATOR_GLOBALTENSOR_H
