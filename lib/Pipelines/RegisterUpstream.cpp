//===- RegisterUpstream.cpp - Upstream's dialects and passes -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On its own because it includes every header of MLIR, which takes most of a
// minute, and none of ours, which change.
//
//===----------------------------------------------------------------------===//

#include "RegisterUpstream.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

void fa::registerUpstreamDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
}

void fa::registerUpstreamPasses() { mlir::registerAllPasses(); }
