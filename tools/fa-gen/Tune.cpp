//===- Tune.cpp - Measuring schedules on this machine's GPU ---------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tune.h"

#include "Library.h"
#include "LocalGpu.h"
#include "Requests.h"
#include "Tuned.h"

#include "fa/Support/Folders.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace fa;

/// fa-bench in this program's folder, or in the PATH.
static std::optional<std::string> findBench() {
  static int anchor;
  std::string self = llvm::sys::fs::getMainExecutable("fa-gen", &anchor);
  StringRef folder = llvm::sys::path::parent_path(self);
  for (llvm::ErrorOr<std::string> found :
       {llvm::sys::findProgramByName("fa-bench", {folder}),
        llvm::sys::findProgramByName("fa-bench")})
    if (found)
      return *found;
  return std::nullopt;
}

/// The folder of an architecture's candidates, which a later call goes on with.
static std::string candidatesPath(StringRef arch) {
  llvm::SmallString<256> path;
  if (!llvm::sys::path::cache_directory(path))
    return "";
  llvm::sys::path::append(path, "flashloom", "candidates", arch);
  return std::string(path);
}

/// Runs `fa-bench tune` on a library and merges into a table.
static LogicalResult measure(StringRef bench, StringRef library,
                             StringRef table) {
  StringRef folder = llvm::sys::path::parent_path(table);
  if (std::error_code error = makeFolder(folder))
    return failWith("cannot make the folder '" + folder +
                    "': " + error.message());
  std::string message;
  int status = llvm::sys::ExecuteAndWait(
      bench, {bench, "tune", library, "-o", table, "--merge"}, std::nullopt, {},
      0, 0, &message);
  if (status != 0)
    return failWith("fa-bench tune ended with status " + llvm::Twine(status) +
                    (message.empty() ? "" : ": " + message));
  llvm::outs() << "measured schedules are in " << table << "\n";
  return success();
}

LogicalResult fa::tuneHere(const DialectRegistry &registry,
                           const std::vector<KernelSpec> &specs,
                           const std::vector<std::string> &archs,
                           unsigned jobs) {
  // 1. What it takes.
  std::vector<std::string> gpus = findLocalGpus();
  if (gpus.empty())
    return failWith("--tune measures on this machine's GPU, and there is none");
  const std::string &gpu = gpus.front();
  if (archs.size() != 1 || archs.front() != gpu)
    return failWith("--tune measures on this machine's first GPU, which is " +
                    gpu + ": give --arch=" + gpu);
  std::optional<std::string> bench = findBench();
  if (!bench)
    return failWith("--tune needs fa-bench, in fa-gen's folder or in the PATH");
  std::string table = userTablePath(gpu), library = candidatesPath(gpu);
  if (table.empty() || library.empty())
    return failWith("--tune needs a home folder for the table of measured "
                    "schedules (HOME or XDG_CONFIG_HOME is not set)");

  // 2. The candidates; 3. their times.
  std::string reason;
  FailureOr<std::vector<KernelRequest>> requests =
      collectCandidates(specs, archs, reason);
  if (failed(requests))
    return failWith(reason);
  if (failed(Library(registry, library, jobs).make(std::move(*requests))))
    return failure();
  return measure(*bench, library, table);
}
