//===- fa-lsp-server.cpp - The language server for editors -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Pipelines/Register.h"
#include "fa/Support/Help.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  // The server makes its own options when it starts; what is there is LLVM's.
  fa::showOnly([](const llvm::cl::Option &) { return false; });
  mlir::DialectRegistry registry;
  fa::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
