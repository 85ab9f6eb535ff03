//===- Describe.cpp - What --emit and --report ask for --------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Describe.h"

#include "Manifest.h"
#include "Report.h"

#include "fa/Support/Folders.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;
using namespace fa;

static LogicalResult write(const llvm::Twine &path, StringRef text) {
  if (llvm::Error error = writeFile(path.str(), text))
    return failWith(llvm::toString(std::move(error)));
  return success();
}

/// The levels of all kernels that were made.
static std::vector<ReportedKernel>
collectLevels(const DialectRegistry &registry, const Library &library,
              unsigned jobs) {
  std::vector<ReportedKernel> kernels;
  for (const Library::Job &job : library.results())
    kernels.push_back({&job, {}});
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(jobs));
  for (ReportedKernel &kernel : kernels)
    if (kernel.job->entry)
      pool.async([&registry, &kernel] {
        FailureOr<std::vector<LevelText>> levels =
            printLevels(registry, kernel.job->request);
        if (succeeded(levels))
          kernel.levels = std::move(*levels);
      });
  pool.wait();
  return kernels;
}

/// Writes the levels' files, a folder for each kernel.
static LogicalResult emitLevels(const std::vector<ReportedKernel> &kernels,
                                StringRef folder) {
  for (const ReportedKernel &kernel : kernels) {
    if (kernel.levels.empty())
      continue;
    llvm::SmallString<256> path(folder);
    llvm::sys::path::append(path, kernelName(kernel.job->request));
    if (std::error_code error = makeFolder(path))
      return failWith("cannot make the folder '" + path +
                      "': " + error.message());
    for (const LevelText &level : kernel.levels)
      if (failed(write(path + "/" + level.file, level.text)))
        return failure();
  }
  return success();
}

/// The levels' folder as a page links to it: from where the page is if it is
/// below that, else in full. Empty where there is none.
static std::string linkTo(StringRef folder, StringRef page) {
  if (folder.empty())
    return "";
  llvm::SmallString<256> from(page), to(folder);
  llvm::sys::fs::make_absolute(from);
  llvm::sys::fs::make_absolute(to);
  StringRef rest = to;
  bool isBelow = rest.consume_front(llvm::sys::path::parent_path(from)) &&
                 rest.consume_front("/");
  return isBelow ? rest.str() : "file://" + std::string(to);
}

static LogicalResult writeReport(MLIRContext &context,
                                 const std::vector<ReportedKernel> &kernels,
                                 const Descriptions &descriptions) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printReport(
      os, context, kernels,
      {descriptions.folder, linkTo(descriptions.emit, descriptions.report)});
  return write(descriptions.report, text);
}

LogicalResult fa::describeLibrary(MLIRContext &context,
                                  const DialectRegistry &registry,
                                  const Library &library,
                                  const Descriptions &descriptions) {
  if (descriptions.emit.empty() && descriptions.report.empty())
    return success();
  std::vector<ReportedKernel> kernels =
      collectLevels(registry, library, descriptions.jobs);
  if (!descriptions.emit.empty() &&
      failed(emitLevels(kernels, descriptions.emit)))
    return failure();
  return descriptions.report.empty()
             ? success()
             : writeReport(context, kernels, descriptions);
}
