//===- Cubin.cpp - From PTX to a cubin, by ptxas --------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Target/Cubin.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace fa;
using llvm::StringRef;

static constexpr llvm::StringLiteral kCudaBin = "/usr/local/cuda/bin";

std::optional<std::string> fa::findPtxas() {
  if (auto path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  if (auto path = llvm::sys::findProgramByName("ptxas", {kCudaBin}))
    return *path;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

/// The number that stands directly before `unit` in `line`; 0 if there is none.
static int64_t numberBefore(StringRef line, StringRef unit) {
  size_t end = line.find(unit);
  if (end == StringRef::npos)
    return 0;
  StringRef head = line.take_front(end).rtrim();
  StringRef digits =
      head.take_back(head.size() - (head.find_last_not_of("0123456789") + 1));
  int64_t value = 0;
  return digits.getAsInteger(10, value) ? 0 : value;
}

/// The place in `kernels` of the one of this name, which is made where there is
/// none.
static size_t findOrAdd(StringRef name,
                        llvm::SmallVectorImpl<KernelReport> &kernels) {
  for (auto [n, kernel] : llvm::enumerate(kernels))
    if (kernel.name == name)
      return n;
  kernels.emplace_back();
  kernels.back().name = name.str();
  return kernels.size() - 1;
}

/// What ptxas says where products that were to overlap will not: "... are
/// serialized due to REASON in the function 'NAME'" (or: for the function).
static constexpr llvm::StringLiteral kSerialized =
    "wgmma.mma_async instructions are serialized due to ";

llvm::SmallVector<KernelReport> fa::parsePtxasReport(StringRef output) {
  llvm::SmallVector<KernelReport> kernels;
  std::optional<size_t> current; // the kernel that lines are about
  auto takeName = [](StringRef quoted) {
    return quoted.take_until([](char c) { return c == '\''; });
  };
  for (StringRef line : llvm::split(output, '\n')) {
    // Such lines may come before the one that names their kernel.
    if (line.contains(kSerialized)) {
      auto [reason, name] =
          line.split(kSerialized).second.rsplit(" the function '");
      kernels[findOrAdd(takeName(name), kernels)].serialized =
          reason.rsplit(' ').first.str();
      continue;
    }
    auto [before, after] = line.split("Compiling entry function '");
    if (!after.empty()) {
      current = findOrAdd(takeName(after), kernels);
      continue;
    }
    if (!current)
      continue;
    KernelReport &kernel = kernels[*current];
    if (line.contains("bytes spill stores")) {
      kernel.spillStores = numberBefore(line, " bytes spill stores");
      kernel.spillLoads = numberBefore(line, " bytes spill loads");
    } else if (line.contains("registers")) {
      kernel.registers = numberBefore(line, " registers");
      kernel.staticShared = numberBefore(line, " bytes smem");
    }
  }
  return kernels;
}

//===----------------------------------------------------------------------===//
// The subprocess
//===----------------------------------------------------------------------===//

namespace {
/// A temporary file that goes away with the object.
struct TemporaryFile {
  explicit TemporaryFile(StringRef suffix)
      : error(llvm::sys::fs::createTemporaryFile("fa", suffix, path)),
        remover(path) {}

  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }

  llvm::SmallString<128> path;
  std::error_code error;
  llvm::FileRemover remover;
};
} // namespace

/// Runs `program`; its two outputs go to `output`. Returns the exit code.
static int runProgram(StringRef program, llvm::ArrayRef<StringRef> arguments,
                      std::string &output) {
  TemporaryFile out("txt");
  if (out.error) {
    output = out.error.message();
    return -1;
  }
  llvm::SmallVector<StringRef> all = {program};
  all.append(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(out.path),
                                          StringRef(out.path)};
  std::string error;
  int code = llvm::sys::ExecuteAndWait(program, all, /*Env=*/std::nullopt,
                                       redirects, /*SecondsToWait=*/0,
                                       /*MemoryLimit=*/0, &error);
  output = out.read() + error;
  return code;
}

/// The release of ptxas, "13.0"; empty if it does not say.
static std::string findVersion(StringRef ptxas) {
  std::string output;
  runProgram(ptxas, {"--version"}, output);
  StringRef release = StringRef(output).split("release ").second;
  return release.take_until([](char c) { return c == ','; }).str();
}

FailureOr<Cubin> fa::assemble(StringRef ptx, const TargetOptions &options,
                              Location loc) {
  std::string ptxas = options.ptxas;
  if (ptxas.empty())
    ptxas = findPtxas().value_or("");
  if (ptxas.empty())
    return emitError(loc) << "no ptxas was found", failure();

  TemporaryFile input("ptx"), result("cubin");
  std::error_code error = input.error ? input.error : result.error;
  if (!error) {
    llvm::raw_fd_ostream stream(input.path, error);
    stream << ptx;
  }
  if (error)
    return emitError(loc) << "cannot write a temporary file: "
                          << error.message(),
           failure();

  std::string arch = "-arch=" + options.chip;
  std::string level = "-O" + std::to_string(options.optLevel);
  std::string output;
  if (runProgram(ptxas, {arch, level, "-v", input.path, "-o", result.path},
                 output))
    return emitError(loc) << "ptxas failed: " << output, failure();
  return Cubin{result.read(), findVersion(ptxas), parsePtxasReport(output)};
}
