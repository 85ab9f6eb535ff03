//===- Roofline.cpp - What a GPU's units allow ----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Roofline.h"

#include "fa/Simulator/CostTable.h"

#include "llvm/ADT/StringSwitch.h"

using namespace fa;

/// TFLOP/s of dense products in 16-bit types, by NVIDIA's datasheets (A100,
/// H100 and H200 SXM); 0 for other parts.
static double peakOf(const Target &target) {
  return llvm::StringSwitch<double>(target.name)
      .Case("sm_80", 312)
      .Cases({"sm_90", "sm_90a"}, 989)
      .Default(0);
}

std::optional<Roofline> fa::computeRoofline(const ScheduleProblem &problem,
                                            const Schedule &schedule,
                                            const Target &target) {
  double peak = peakOf(target);
  if (peak == 0 || schedule.partition != Partition::SplitQ)
    return std::nullopt;
  sim::CostTable costs = sim::CostTable::get(target);
  // Cycles of a multiprocessor for one score.
  double width = double(problem.headDim + problem.headDimV);
  double products = width / costs.productsPerCycle;
  double exponentials = costs.specialFunctionFactor /
                        (costs.lanesPerScheduler * double(costs.schedulers));
  double copies = width * double(problem.elementBytes) / double(schedule.br) /
                  costs.copyBytesPerCycle;
  Roofline roofline{peak, peak, "tensor cores"};
  double longest = products;
  for (auto [cycles, unit] :
       {std::pair(exponentials, "exponentials"),
        std::pair(copies, "traffic of K and V from the L2 cache")})
    if (cycles > longest) {
      longest = cycles;
      roofline.unit = unit;
    }
  roofline.bound = peak * products / longest;
  return roofline;
}
