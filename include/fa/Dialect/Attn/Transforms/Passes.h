//===- Passes.h - Passes on the attention dialect -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_ATTN_TRANSFORMS_PASSES_H
#define FA_DIALECT_ATTN_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"

namespace fa::attn {

#define GEN_PASS_DECL
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"

} // namespace fa::attn

#endif // FA_DIALECT_ATTN_TRANSFORMS_PASSES_H
