//===- Program.h - A problem, compiled with its references -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_PROGRAM_H
#define FA_EXECUTE_PROGRAM_H

#include "fa/Execute/AttentionFunction.h"
#include "fa/Execute/Compare.h"
#include "fa/Execute/Inputs.h"
#include "fa/Execute/Jit.h"
#include "fa/Execute/Reference.h"

#include <functional>

namespace fa::execute {

/// What machine code is made for.
struct CodeOptions {
  /// Whether it is quick to run, rather than quick to make.
  bool optimize = false;
  /// Whether it runs on all cores.
  bool parallel = false;
};

/// What a run took, in seconds: by the clock, and of all cores together.
struct RunTime {
  double wall = 0, cpu = 0;
};

/// Compiled code for one problem at any level, and for its references where
/// they were asked for. One program serves all sizes.
class Program {
public:
  /// Adds the references of `problem` to `references`: f64, and naive where the
  /// tolerance needs it.
  static mlir::LogicalResult addReferences(const AttentionFunction &problem,
                                           mlir::ModuleOp references);

  /// Compiles the function `name` of `kernel` together with what `references`
  /// holds. `kernel` is lowered in place, `references` emptied into it. Fails
  /// with a diagnostic.
  static mlir::FailureOr<Program>
  compile(const AttentionFunction &problem, mlir::ModuleOp kernel,
          llvm::StringRef name, mlir::ModuleOp references, CodeOptions options);

  /// Compiles what `references` holds alone, for a kernel that runs elsewhere.
  static mlir::FailureOr<Program>
  compileReferences(const AttentionFunction &problem, mlir::ModuleOp references,
                    CodeOptions options);

  /// Runs the kernel once. `taken` is what the call took.
  llvm::Expected<Outputs> runKernel(Inputs &inputs, RunTime &taken);
  /// Told how many parts of how many are done, from any thread.
  using PartDone = std::function<void(int64_t done, int64_t total)>;

  /// Runs a reference, whose lse has the shape `lseShape`, on all cores. In f32
  /// the naive one is not there.
  llvm::Expected<Outputs> runReference(Inputs &inputs,
                                       llvm::ArrayRef<int64_t> lseShape,
                                       Precision precision,
                                       const PartDone &partDone = {});
  bool hasNaive() const { return !element.isF32(); }

private:
  Program(const AttentionFunction &problem, llvm::StringRef name);

  Jit jit;
  bool parallel = false;
  std::string name;
  mlir::FloatType element;
  int64_t headDimV;
  size_t lseRank;
};

} // namespace fa::execute

#endif // FA_EXECUTE_PROGRAM_H
