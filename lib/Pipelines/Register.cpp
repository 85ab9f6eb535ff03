//===- Register.cpp - All dialects, passes and pipelines of the tools -----===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Pipelines/Register.h"

#include "RegisterUpstream.h"

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"
#include "fa/Conversion/CtaToNVVM/Passes.h"
#include "fa/Conversion/LinalgToCta/LinalgToCta.h"
#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Cta/IR/Cta.h"
#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Target/Cubin.h"
#include "fa/Target/Passes.h"

#include "mlir/IR/DialectRegistry.h"

void fa::registerDialects(mlir::DialectRegistry &registry) {
  registerUpstreamDialects(registry);
  registry.insert<attn::AttnDialect, cta::CtaDialect>();
  registerPTXTranslations(registry);
}

void fa::registerOwnPasses(Level deepest) {
  attn::registerAttnPasses();
  registerAttnToLinalgPasses();
  registerLinalgToCtaPasses();
  registerCtaPasses();
  registerCtaToNVVMPasses();
  registerTargetPasses();
  registerPipelines(deepest);
}

void fa::registerPasses(Level deepest) {
  registerUpstreamPasses();
  registerOwnPasses(deepest);
}
