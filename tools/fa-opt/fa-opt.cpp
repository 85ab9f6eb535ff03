//===- fa-opt.cpp - The optimizer driver -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Pipelines/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include <vector>

int main(int argc, char **argv) {
  // A warning on a function would print all of it. (What comes later on the
  // command line wins.)
  std::vector<char *> args(argv, argv + argc);
  char quiet[] = "--mlir-print-op-on-diagnostic=false";
  args.insert(args.begin() + (argc > 0), quiet);
  mlir::DialectRegistry registry;
  fa::registerDialects(registry);
  fa::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(static_cast<int>(args.size()), args.data(),
                        "Flashloom optimizer\n", registry));
}
