//===- Figures.h - What a launch needs to know ------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_FIGURES_H
#define FA_TOOLS_FA_GEN_FIGURES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Support/LogicalResult.h"

#include "llvm/Support/JSON.h"

namespace fa {

/// Writes into `launch` what `--emit-cubin` says of one kernel, whose tensors
/// have the names `args`: the block, shared memory, tensor maps and ptxas's
/// report. Fails where the block is missing.
mlir::LogicalResult describeFigures(mlir::DictionaryAttr figures,
                                    llvm::ArrayRef<std::string> args,
                                    llvm::json::Object &launch);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_FIGURES_H
