//===- Roofline.h - What a GPU's units allow --------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_ROOFLINE_H
#define FA_TOOLS_FA_GEN_ROOFLINE_H

#include "fa/Schedule/Schedule.h"

#include <optional>

namespace fa {

/// The rates that a schedule cannot exceed, in TFLOP/s of the two products.
struct Roofline {
  double peak = 0;  ///< of the tensor cores
  double bound = 0; ///< of the unit that is busy the longest
  const char *unit = "";
};

/// The roofline of a block of scores: the two products, one exponential a
/// score, and K and V from the L2 cache once for each block of rows, each unit
/// working all the time beside the others, by the simulator's cost table.
/// Nothing for targets whose peak rate is not known here.
std::optional<Roofline> computeRoofline(const ScheduleProblem &problem,
                                        const Schedule &schedule,
                                        const Target &target);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_ROOFLINE_H
