//===- Spec.h - One kernel to make -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_SPEC_H
#define FA_TOOLS_FA_GEN_SPEC_H

#include "fa/Schedule/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace fa {

/// How many rows of Q a kernel is meant for; it computes any number.
enum class Lengths {
  Any,
  Short, ///< up to 1024, by smaller blocks of rows
  Decode ///< a few: keys are split into parts, which a second kernel merges
};

/// The lengths with this name on the command line ("decode"), if there are.
std::optional<Lengths> parseLengths(llvm::StringRef name);

/// A problem at level A, or a program at level C, in text, and what the
/// manifest says of it.
struct KernelSpec {
  std::string source;   ///< a module with one function: of one attn.forward, or
                        ///< with a schedule of its own
  std::string located;  ///< the same with locations in the user's file
  std::string function; ///< the function's name: the kernel's entry
  std::string dtype;    ///< "bf16", "f16"
  int64_t headDim = 0;
  int64_t headDimV = 0;
  std::string variant; ///< "full", "causal", or the name of a file
  Lengths lengths = Lengths::Any;
  /// What a schedule is chosen for, and the rescaling policy that suits it.
  ScheduleProblem problem;
  Rescale rescale = Rescale::Always;
  /// The kernel's parameters: "q", "k", "v", "scale", "o", "lse", and what the
  /// regions read.
  std::vector<std::string> params;
  /// The manifest's `params`.
  llvm::json::Array entries;
  /// Whether it is no attention: `dtype`, the head dimensions and `variant` are
  /// not set.
  bool isProgram = false;
  int64_t teamWarps = 1; ///< of a program's schedule
};

/// Head dimensions of a problem: D of Q and K, Dv of V and O.
struct HeadDims {
  int64_t qk = 0, v = 0;
};

/// "128", or "192/128" where D and Dv differ; nothing for other texts.
std::optional<HeadDims> parseHeadDims(llvm::StringRef text);

/// Fills `source` and `located` of `spec` with a module that holds `function`.
void printFunction(mlir::func::FuncOp function, KernelSpec &spec);

/// The problem of head dimensions, an element type ("bf16") and a mask ("none"
/// or "causal"); sizes and scale are the launch's. Fails with a diagnostic on
/// an unknown name.
mlir::FailureOr<KernelSpec> makeSpec(mlir::MLIRContext &context, HeadDims dims,
                                     llvm::StringRef dtype,
                                     llvm::StringRef mask);

/// The problems of a file: one per function with an attn.forward or with a
/// schedule of its own (a program). A mask or score region, or sugar other than
/// causal alone, is named after the file.
/// Fails with a diagnostic where a problem has no form as a kernel.
mlir::FailureOr<std::vector<KernelSpec>> readSpecs(mlir::MLIRContext &context,
                                                   llvm::StringRef path);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_SPEC_H
