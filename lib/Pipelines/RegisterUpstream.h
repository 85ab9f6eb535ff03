//===- RegisterUpstream.h - Upstream's dialects and passes -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_PIPELINES_REGISTERUPSTREAM_H
#define FA_LIB_PIPELINES_REGISTERUPSTREAM_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace fa {

/// All dialects of MLIR and the interfaces that its passes need.
void registerUpstreamDialects(mlir::DialectRegistry &registry);
/// All passes of MLIR.
void registerUpstreamPasses();

} // namespace fa

#endif // FA_LIB_PIPELINES_REGISTERUPSTREAM_H
