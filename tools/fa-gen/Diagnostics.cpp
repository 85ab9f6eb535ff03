//===- Diagnostics.cpp - What went wrong, in the user's words -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "mlir/IR/Location.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace fa;

DiagnosticPrinter::DiagnosticPrinter(MLIRContext &context, StringRef name,
                                     llvm::raw_ostream &os)
    : name(name), os(os), atFiles(sources, &context, os),
      withoutFile(&context, [this](Diagnostic &diagnostic) {
        return printUnderName(diagnostic);
      }) {}

/// The stream with "NAME: error: " and the like in it.
static llvm::raw_ostream &begin(llvm::raw_ostream &os, StringRef name,
                                DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return llvm::WithColor::error(os, name);
  case DiagnosticSeverity::Warning:
    return llvm::WithColor::warning(os, name);
  case DiagnosticSeverity::Note:
    return llvm::WithColor::note(os, name);
  case DiagnosticSeverity::Remark:
    return llvm::WithColor::remark(os, name);
  }
  llvm_unreachable("a severity");
}

LogicalResult DiagnosticPrinter::printUnderName(Diagnostic &diagnostic) {
  if (diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    return failure();
  begin(os, name, diagnostic.getSeverity()) << diagnostic << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    begin(os, name, note.getSeverity()) << note << "\n";
  return success();
}
