//===- show-blocks.cpp - Attention as blocks ------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   show-blocks FILE
//
// Parses a file, takes it down to blocks as --fa2 does, and prints for each
// function the blocks that were chosen and the attention updates on them.
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Pipelines/Pipelines.h"
#include "fa/Pipelines/Register.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/raw_ostream.h"

static void describe(mlir::func::FuncOp function) {
  llvm::outs() << function.getName() << ":";
  if (auto schedule = function->getAttrOfType<fa::attn::ScheduleAttr>(
          fa::attn::kScheduleAttrName))
    llvm::outs() << " blocks of " << schedule.getBr() << " x "
                 << schedule.getBc() << " for " << schedule.getTarget();
  llvm::outs() << "\n";
  function.walk([](fa::attn::UpdateOp update) {
    llvm::outs() << "  update with K " << update.getK().getType() << "\n";
  });
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: show-blocks FILE\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  fa::registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  fa::PipelineOptions options;
  options.level = fa::Level::Blocks;
  mlir::PassManager passes(&context);
  fa::buildFa2Pipeline(passes, options);
  if (failed(passes.run(*module)))
    return 1;
  module->walk(describe);
  return 0;
}
