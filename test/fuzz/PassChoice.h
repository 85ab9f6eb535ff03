//===- PassChoice.h - Passes at random -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TEST_FUZZ_PASSCHOICE_H
#define FA_TEST_FUZZ_PASSCHOICE_H

#include "Random.h"

#include "mlir/Pass/PassManager.h"

#include <string>
#include <vector>

namespace fa::fuzz {

/// One pass or pipeline of the command line.
struct PassCall {
  std::string name;
  std::string options;

  std::string str() const {
    return "--" + name + (options.empty() ? "" : "=\"" + options + "\"");
  }
};

/// Draws from our passes and pipelines.
class PassChooser {
public:
  /// Registers them, the pipelines down to level E. Leaves out --emit-cubin:
  /// what it runs is LLVM's backend, which ends the process on what it does not
  /// support.
  PassChooser();

  /// For a module of this text: a pipeline, some of the passes of the longest
  /// one in their order, or a few passes; with options.
  std::vector<PassCall> choose(llvm::StringRef text, Random &random) const;

private:
  struct Entry {
    std::string name;
    std::vector<size_t> options; ///< indices of kOptions
  };
  static std::vector<size_t> findOptions(llvm::StringRef name);
  PassCall call(const Entry &entry, Random &random) const;
  void orderPasses();

  std::vector<Entry> pipelines;
  std::vector<Entry> passes;
  std::vector<Entry> ordered; ///< the passes of --fa2
};

/// Adds `calls` to `manager`, or fails where an option's value is refused.
mlir::LogicalResult addToPipeline(llvm::ArrayRef<PassCall> calls,
                                  mlir::OpPassManager &manager);

} // namespace fa::fuzz

#endif // FA_TEST_FUZZ_PASSCHOICE_H
