//===- Options.h - The command line of fa-run -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_RUN_OPTIONS_H
#define FA_TOOLS_FA_RUN_OPTIONS_H

#include "fa/Execute/InputFiles.h"
#include "fa/Execute/Inputs.h"
#include "fa/Execute/Sizes.h"
#include "fa/Target/Target.h"

#include <string>
#include <vector>

namespace fa::run {

/// What the command line asks for, apart from passes.
struct Options {
  std::string file;
  /// The file that says the problem, where that is not `file`.
  std::string referenceFile;
  std::vector<execute::Sizes> sizes;
  execute::InputOptions inputs;
  std::vector<execute::InputFile> inputFiles;
  /// Values of scalar arguments by the names that the file gives them.
  std::map<std::string, double> namedScalars;
  /// Of a program's tensors, by name or number.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Where o.npy and lse.npy go; nowhere if empty.
  std::string outputFolder;
  bool check = false, emitIR = false, time = false, printTraffic = false;
  bool progress = false, sequential = false;
  /// Where the bytes that tensors move go as CSV; nowhere if empty.
  std::string trafficFile;
  /// Whether to optimise; without a value, by the amount of work.
  std::optional<bool> optimize;
  /// Whether level D is run, by the simulator; and its options: the seed, how
  /// many seeds from there on, the
  /// thread blocks (0: one for each work item), the GPU where the schedule's is
  /// not meant, the kernel's name where there are several, and the file of the
  /// time line.
  bool simulate = false;
  uint64_t simSeed = 0, simSeeds = 1;
  int64_t simBlocks = 0;
  const Target *simTarget = nullptr;
  std::string simKernel, simTrace;

  bool countsTraffic() const { return printTraffic || !trafficFile.empty(); }

  /// Parses the command line, which may name any registered pass, and exits
  /// where LLVM's parser finds a fault. Returns a message for any other.
  static llvm::Expected<Options> parse(int argc, char **argv);
};

/// What `--help` says first.
extern const char *const kOverview;

} // namespace fa::run

#endif // FA_TOOLS_FA_RUN_OPTIONS_H
