//===- Register.cpp - All dialects, passes and pipelines of the tools -----===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Pipelines/Register.h"

#include "fa/Conversion/AttnToLinalg/AttnToLinalg.h"
#include "fa/Conversion/CtaToNVVM/Passes.h"
#include "fa/Conversion/LinalgToCta/LinalgToCta.h"
#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Cta/IR/Cta.h"
#include "fa/Dialect/Cta/Transforms/Passes.h"
#include "fa/Target/Cubin.h"
#include "fa/Target/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

void fa::registerDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
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
  mlir::registerAllPasses();
  registerOwnPasses(deepest);
}
