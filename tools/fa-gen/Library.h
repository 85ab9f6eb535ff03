//===- Library.h - Making a library's kernels -------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_GEN_LIBRARY_H
#define FA_TOOLS_FA_GEN_LIBRARY_H

#include "Compile.h"

#include "mlir/IR/DialectRegistry.h"

#include <mutex>

namespace fa {

/// A folder of kernels and their manifest in the making.
class Library {
public:
  /// So many kernels are made at a time; 0: one a core.
  Library(const mlir::DialectRegistry &registry, llvm::StringRef folder,
          unsigned jobs)
      : registry(registry), folder(folder), jobs(jobs) {}

  /// Makes what is asked for, in parallel; what is there from the same tools
  /// and the same source is kept. Writes the manifest of what succeeded, and
  /// fails where something did not. Says on stderr what became of each kernel.
  mlir::LogicalResult make(std::vector<KernelRequest> requests);

  /// One kernel, made, kept, or neither.
  struct Job {
    KernelRequest request;
    std::string hash;
    std::optional<llvm::json::Object> entry; ///< none: it was not made
    double seconds = 0;                      ///< 0: kept from an earlier call
    std::string diagnostics;

    /// Has the request ask for the blocks that were made.
    void setEntry(llvm::json::Object made);
  };

  /// What became of each request, in their order.
  const std::vector<Job> &results() const { return all; }

private:
  mlir::LogicalResult collect(std::vector<KernelRequest> requests);
  void compileAll();
  void run(Job &job);
  void keepOrDrop(Job &job, CompiledKernel kernel,
                  const std::string &diagnostics);
  bool isMade(const Job &job, const llvm::json::Object &entry) const;
  mlir::LogicalResult checkTrials();
  mlir::LogicalResult writeEntries();
  void fail(const Job &job, const llvm::Twine &what,
            llvm::StringRef diagnostics);
  void report(const Job &job, const llvm::Twine &what,
              llvm::StringRef diagnostics = "");
  std::string path(llvm::StringRef file) const;

  const mlir::DialectRegistry &registry;
  std::string folder;
  unsigned jobs;
  std::vector<Job> all;
  std::mutex mutex;
  size_t done = 0;
  bool hasFailed = false;
};

/// Prints "fa-gen: error: MESSAGE".
mlir::LogicalResult failWith(const llvm::Twine &message);

} // namespace fa

#endif // FA_TOOLS_FA_GEN_LIBRARY_H
