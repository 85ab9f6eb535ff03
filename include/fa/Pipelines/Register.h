//===- Register.h - All dialects, passes and pipelines of the tools -------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_PIPELINES_REGISTER_H
#define FA_PIPELINES_REGISTER_H

#include "fa/Pipelines/Pipelines.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace fa {

/// Registers our dialects and upstream's, with the interfaces that passes need.
void registerDialects(mlir::DialectRegistry &registry);
/// Registers our passes and pipelines. Pipelines stop at `deepest`.
void registerOwnPasses(Level deepest = Level::Cubin);
/// Registers ours and upstream's.
void registerPasses(Level deepest = Level::Cubin);

} // namespace fa

#endif // FA_PIPELINES_REGISTER_H
