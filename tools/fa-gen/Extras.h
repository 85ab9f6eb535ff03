//===- Extras.h - What regions read beside q, k and v -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_EXTRAS_H
#define FA_TOOLS_FA_GEN_EXTRAS_H

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/IR/Value.h"
#include "llvm/Support/JSON.h"

namespace fa {

/// The manifest's entry for an argument of the function that the score or the
/// mask of `op` reads. Fails with a diagnostic where kernels cannot take it.
mlir::FailureOr<llvm::json::Object> describeExtra(mlir::BlockArgument argument,
                                                  attn::ForwardOp op);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_EXTRAS_H
