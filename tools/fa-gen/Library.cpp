//===- Library.cpp - Making a library's kernels ---------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"

#include "Manifest.h"

#include "fa/Support/Folders.h"
#include "fa/Target/Cubin.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace fa;

LogicalResult fa::failWith(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "fa-gen") << message << "\n";
  return failure();
}

//===----------------------------------------------------------------------===//
// What a kernel is made from
//===----------------------------------------------------------------------===//

/// A hash of a file's content, "none" where there is no such file.
static std::string describeFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? std::to_string(llvm::xxh3_64bits((*buffer)->getBuffer()))
                : "none";
}

/// This executable and ptxas, as text that changes with them.
static std::string describeTools() {
  static int anchor;
  std::string self = llvm::sys::fs::getMainExecutable("fa-gen", &anchor);
  return describeFile(self) + " " + describeFile(findPtxas().value_or(""));
}

/// The content of everything a kernel is made from: this program (and so the
/// passes), ptxas, the problem, the architecture.
static std::string hashOf(const KernelRequest &request) {
  static const std::string tools = describeTools();
  const ScheduleOverrides &overrides = request.overrides;
  std::string text = tools + "\n" + request.arch + "\n" +
                     request.step->name.str() + "\n" + request.spec.source;
  for (int64_t value :
       {overrides.br, overrides.bc, overrides.teams, overrides.warps,
        overrides.stages, int64_t(overrides.pingPong),
        int64_t(overrides.persistent), int64_t(request.spec.lengths),
        request.maxRows, int64_t(request.isTrial),
        int64_t(overrides.overlapTiles)})
    text += " " + std::to_string(value);
  text += " " + overrides.rescale + " " + overrides.scheduler;
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  return llvm::formatv("{0:x-16}{1:x-16}", hash.high64, hash.low64).str();
}

/// Whether the file of an entry is what was compiled for it.
static bool isIntact(const std::string &path, const llvm::json::Object &entry) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer && entry.getInteger("crc32") ==
                       int64_t(llvm::crc32(llvm::arrayRefFromStringRef(
                           (*buffer)->getBuffer())));
}

/// Whether files can be made in a folder, which is asked before minutes of
/// compiling.
static std::error_code tryWriting(StringRef folder) {
  llvm::SmallString<128> pattern(folder), path;
  llvm::sys::path::append(pattern, "writable-%%%%%%%%");
  if (std::error_code error = llvm::sys::fs::createUniqueFile(pattern, path))
    return error;
  return llvm::sys::fs::remove(path);
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

/// Registers, spilled bytes and shared memory of a launch.
static std::string describeLaunch(const llvm::json::Object &launch,
                                  bool isCubin) {
  std::string text = "PTX only";
  if (isCubin)
    text = std::to_string(*launch.getInteger("registers")) + " registers, " +
           std::to_string(*launch.getInteger("spill_bytes")) + " bytes spilled";
  return text + ", " + std::to_string(*launch.getInteger("shared_bytes")) +
         " bytes of shared memory";
}

/// The same of all launches of a kernel.
static std::string describeFigures(const CompiledKernel &kernel) {
  const llvm::json::Array *launches = kernel.entry.getArray("launches");
  if (!launches)
    return describeLaunch(kernel.entry, kernel.isCubin);
  std::string text;
  for (const llvm::json::Value &launch : *launches)
    text += (text.empty() ? "" : "; ") +
            describeLaunch(*launch.getAsObject(), kernel.isCubin);
  return text;
}

/// The blocks that were taken in place of some that spilled.
static std::string describeTries(const CompiledKernel &kernel) {
  return kernel.spillingKeys
             ? llvm::formatv(", with {0} keys a block, since {1} spilled",
                             kernel.keys, kernel.spillingKeys)
                   .str()
             : "";
}

/// Prints a kernel's diagnostics and what became of it, in one piece.
void Library::report(const Job &job, const llvm::Twine &what,
                     StringRef diagnostics) {
  std::lock_guard<std::mutex> lock(mutex);
  llvm::errs() << diagnostics << "[" << ++done << "/" << all.size() << "] "
               << kernelName(job.request) << ": " << what << "\n";
}

void Library::fail(const Job &job, const llvm::Twine &what,
                   StringRef diagnostics) {
  report(job, what, diagnostics);
  std::lock_guard<std::mutex> lock(mutex);
  hasFailed = true;
}

//===----------------------------------------------------------------------===//
// Making it
//===----------------------------------------------------------------------===//

std::string Library::path(StringRef file) const {
  llvm::SmallString<256> result(folder);
  llvm::sys::path::append(result, file);
  return std::string(result);
}

void Library::run(Job &job) {
  std::string diagnostics;
  llvm::raw_string_ostream os(diagnostics);
  FailureOr<CompiledKernel> kernel =
      compileKernel(registry, job.request, job.hash, os);
  job.diagnostics = diagnostics;
  if (succeeded(kernel))
    return keepOrDrop(job, std::move(*kernel), diagnostics);
  if (job.request.isTrial)
    return report(job, "left out", diagnostics);
  fail(job,
       job.request.isTuned
           ? "failed, by the tuned table's schedule (--no-tuned makes the "
             "model's)"
           : "failed",
       diagnostics);
}

/// Writes a kernel's file; not that of a trial that spills.
void Library::keepOrDrop(Job &job, CompiledKernel kernel,
                         const std::string &diagnostics) {
  if (job.request.isTrial && countSpills(kernel.entry) > 0)
    return report(job, "left out: " + describeFigures(kernel), diagnostics);
  StringRef file = *kernel.entry.getString("file");
  if (llvm::Error error = writeFile(path(file), kernel.data))
    return fail(job, llvm::toString(std::move(error)), diagnostics);
  report(job,
         describeFigures(kernel) + describeTries(kernel) +
             llvm::formatv(", {0:f2} s", kernel.seconds).str(),
         diagnostics);
  job.setEntry(std::move(kernel.entry));
  job.seconds = kernel.seconds;
}

void Library::Job::setEntry(llvm::json::Object made) {
  request.overrides.moreRegisters =
      made.getInteger("more_registers").value_or(0);
  entry = std::move(made);
}

LogicalResult Library::collect(std::vector<KernelRequest> requests) {
  llvm::StringSet<> names;
  for (KernelRequest &request : requests) {
    std::string name = kernelName(request);
    if (!names.insert(name).second)
      return failWith("two problems make a kernel of the name '" + name + "'");
    std::string hash = hashOf(request);
    all.push_back({std::move(request), hash, std::nullopt, 0, ""});
  }
  return success();
}

bool Library::isMade(const Job &job, const llvm::json::Object &entry) const {
  return entry.getString("hash") == StringRef(job.hash) &&
         isIntact(path(entry.getString("file").value_or("")), entry);
}

void Library::compileAll() {
  llvm::StringMap<llvm::json::Object> old = readManifest(folder);
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(jobs));
  for (Job &job : all) {
    auto entry = old.find(kernelName(job.request));
    if (entry != old.end() && isMade(job, entry->second)) {
      job.setEntry(entry->second);
      report(job, "up to date");
      continue;
    }
    pool.async([this, &job] { run(job); });
  }
  pool.wait();
}

/// Fails where of a problem nothing that was tried could be made.
LogicalResult Library::checkTrials() {
  std::map<std::string, bool> made;
  for (const Job &job : all) {
    if (!job.request.isTrial)
      continue;
    KernelRequest problem = job.request;
    problem.label.clear();
    made[kernelName(problem)] |= job.entry.has_value();
  }
  for (const auto &[name, isMade] : made)
    if (!isMade)
      return failWith("no candidate of " + name + " could be made");
  return success();
}

/// Writes the manifest: what succeeded is a library, also where something
/// failed.
LogicalResult Library::writeEntries() {
  std::vector<llvm::json::Object> kernels, programs;
  bool isPtx = false;
  // What is left of it when all kernels are through is dropped.
  llvm::StringMap<llvm::json::Object> old = readManifest(folder);
  for (const Job &job : all) {
    if (!job.entry)
      continue;
    old.erase(kernelName(job.request));
    isPtx |= job.entry->getString("format") == StringRef("ptx");
    (job.request.spec.isProgram ? programs : kernels).push_back(*job.entry);
  }
  if (isPtx)
    llvm::errs() << "no ptxas was found: the library holds PTX, which the "
                    "driver compiles when it is loaded\n";
  size_t made = kernels.size() + programs.size();
  if (made == 0 && hasFailed)
    return failWith("no kernel was made; '" + folder + "' is left as it was");
  if (llvm::Error error =
          writeManifest(folder, std::move(kernels), std::move(programs)))
    return failWith(llvm::toString(std::move(error)));
  llvm::outs() << made << (made == 1 ? " kernel in " : " kernels in ") << folder
               << "\n";
  if (!old.empty())
    llvm::outs() << old.size()
                 << (old.size() == 1 ? " kernel of an earlier call is"
                                     : " kernels of an earlier call are")
                 << " no longer in the library\n";
  return success();
}

LogicalResult Library::make(std::vector<KernelRequest> requests) {
  if (std::error_code error = makeFolder(folder))
    return failWith("cannot make the folder '" + folder +
                    "': " + error.message());
  if (!llvm::sys::fs::is_directory(folder))
    return failWith("'" + folder + "' is not a folder");
  if (std::error_code error = tryWriting(folder))
    return failWith("cannot write into the folder '" + folder +
                    "': " + error.message());
  if (failed(collect(std::move(requests))))
    return failure();
  compileAll();
  bool allTried = succeeded(checkTrials());
  if (failed(writeEntries()))
    return failure();
  return success(allTried && !hasFailed);
}
