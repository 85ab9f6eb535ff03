//===- Figures.cpp - What a launch needs to know --------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Figures.h"

#include "fa/Dialect/Cta/IR/Cta.h"

using namespace mlir;
using namespace fa;

static int64_t integer(DictionaryAttr figures, StringRef name) {
  auto attr = figures.getAs<IntegerAttr>(name);
  return attr ? attr.getInt() : 0;
}

/// The manifest's `tensor_maps`.
static llvm::json::Array describeTensorMaps(ArrayRef<std::string> args,
                                            ArrayAttr maps) {
  llvm::json::Array entries;
  for (auto map : maps.getAsRange<cta::TensorMapAttr>())
    entries.push_back(llvm::json::Object{{"tensor", args[map.getArg()]},
                                         {"rows", map.getRows()},
                                         {"cols", map.getCols()},
                                         {"swizzle", map.getSwizzle()}});
  return entries;
}

LogicalResult fa::describeFigures(DictionaryAttr figures,
                                  ArrayRef<std::string> args,
                                  llvm::json::Object &launch) {
  auto block = figures.getAs<DenseI32ArrayAttr>("block");
  if (!block)
    return failure();
  launch["block"] = block[0];
  launch["shared_bytes"] = integer(figures, "dynamic_shared");
  if (auto maps = figures.getAs<ArrayAttr>("tensor_maps"))
    launch["tensor_maps"] = describeTensorMaps(args, maps);
  // The budgets of its roles take all registers of a multiprocessor.
  if (figures.contains("persistent"))
    launch["blocks_per_sm"] = 1;
  if (figures.contains("counter"))
    launch["counter"] = true;
  if (figures.contains("follows"))
    launch["follows"] = true;
  if (figures.contains("prepares"))
    launch["prepares"] = true;
  if (!figures.contains("registers"))
    return success();
  launch["registers"] = integer(figures, "registers");
  launch["spill_bytes"] =
      integer(figures, "spill_stores") + integer(figures, "spill_loads");
  return success();
}
