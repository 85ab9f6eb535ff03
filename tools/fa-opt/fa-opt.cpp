//===- fa-opt.cpp - The optimizer driver -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Pipelines/Register.h"
#include "fa/Support/Help.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/InitLLVM.h"

#include <vector>

using llvm::StringRef;

static constexpr llvm::StringLiteral kOverview =
    "Flashloom's optimizer: runs passes on MLIR\n\n"
    "  fa-opt attention.mlir --tile --interchange\n"
    "  fa-opt attention.mlir --fa2=level=arithmetic\n"
    "  fa-opt attention.mlir --choose-schedule --remarks-filter=.*\n\n"
    "--help lists our passes and pipelines and the main options, --help-hidden "
    "also MLIR's passes\nand all options of MLIR and LLVM.\n";

/// The options, of MLIR's, that `--help` shows. The one without a name is the
/// list of passes.
static constexpr StringRef kMainOptions[] = {
    "",
    "allow-unregistered-dialect",
    "emit-bytecode",
    "list-passes",
    "mlir-pass-pipeline-crash-reproducer",
    "mlir-pass-statistics",
    "mlir-print-ir-after-all",
    "mlir-print-ir-after-failure",
    "mlir-print-ir-before-all",
    "mlir-print-ir-tree-dir",
    "mlir-print-op-on-diagnostic",
    "mlir-timing",
    "o",
    "pass-pipeline",
    "remark-format",
    "remarks-filter",
    "remarks-filter-missed",
    "remarks-filter-passed",
    "remarks-output-file",
    "show-dialects",
    "split-input-file",
    "verify-diagnostics",
    "verify-each",
    "verify-roundtrip",
};

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // A warning on a function would print all of it. (What comes later on the
  // command line wins.)
  std::vector<char *> args(argv, argv + argc);
  char quiet[] = "--mlir-print-op-on-diagnostic=false";
  args.insert(args.begin() + (argc > 0), quiet);

  // `--help` lists every pass that is registered.
  bool isHelp = llvm::any_of(args, [](StringRef arg) {
    return arg == "--help" || arg == "-help" || arg == "-h";
  });
  mlir::DialectRegistry registry;
  fa::registerDialects(registry);
  isHelp ? fa::registerOwnPasses() : fa::registerPasses();
  mlir::registerCLIOptions("", registry);
  fa::showOnly([](const llvm::cl::Option &option) {
    return llvm::is_contained(kMainOptions, option.ArgStr);
  });
  int count = static_cast<int>(args.size());
  auto [input, output] = mlir::parseCLIOptions(count, args.data(), kOverview);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(count, args.data(), input, output, registry));
}
