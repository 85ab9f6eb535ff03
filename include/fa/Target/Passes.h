//===- Passes.h - To machine code -------------------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the passes that make PTX and cubins.
//
//===----------------------------------------------------------------------===//

#ifndef FA_TARGET_PASSES_H
#define FA_TARGET_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace fa {

#define GEN_PASS_DECL
#include "fa/Target/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fa/Target/Passes.h.inc"

} // namespace fa

#endif // FA_TARGET_PASSES_H
