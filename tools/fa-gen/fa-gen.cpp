//===- fa-gen.cpp - Kernel libraries from attention problems -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Diagnostics.h"
#include "LocalGpu.h"
#include "Manifest.h"
#include "Spec.h"
#include "Steps.h"

#include "fa/Pipelines/Register.h"
#include "fa/Schedule/Schedule.h"
#include "fa/Target/Cubin.h"
#include "fa/Target/Target.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/xxhash.h"

#include <mutex>

using namespace mlir;
using namespace fa;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static cl::OptionCategory category("fa-gen");
static cl::list<std::string> files(cl::Positional, cl::desc("[FILE.mlir ...]"),
                                   cl::cat(category));
static cl::list<int64_t> headDims("head-dims", cl::CommaSeparated,
                                  cl::desc("head dimensions (64,128,256)"),
                                  cl::cat(category));
static cl::list<std::string> dtypes("dtypes", cl::CommaSeparated,
                                    cl::desc("element types (bf16,f16)"),
                                    cl::cat(category));
static cl::list<std::string> masks("masks", cl::CommaSeparated,
                                   cl::desc("masks (none,causal)"),
                                   cl::cat(category));
static const std::string archsHelp =
    "architectures (this machine's GPU, else sm_90a), of " +
    Target::listNames();
static cl::list<std::string> archs("arch", cl::CommaSeparated,
                                   cl::desc(archsHelp), cl::cat(category));
static cl::opt<std::string> folder("o", cl::Required, cl::value_desc("DIR"),
                                   cl::desc("the library's folder"),
                                   cl::cat(category));
static cl::opt<unsigned> jobs("j", cl::init(0),
                              cl::desc("kernels at a time (0: one a core)"),
                              cl::cat(category));

static cl::list<std::string>
    pipelines("pipelines", cl::CommaSeparated,
              cl::desc("the steps from FlashAttention 1 to 3 that kernels are "
                       "made by: fa1, interchange, delay-normalization, "
                       "skip-masked-blocks, split-q, stage-tiles, fa2; for "
                       "sm_90a also warpgroups, specialize-warps, "
                       "overlap-softmax, ping-pong, persistent, fa3 (fa3 "
                       "where it makes the kernel, else fa2)"),
              cl::cat(category));
static cl::opt<bool> ablation("ablation",
                              cl::desc("kernels by each step of --pipelines, "
                                       "for fa-bench ablate"),
                              cl::cat(category));

static ScheduleOverrides overrides;
static cl::opt<int64_t, true>
    brOption("br", cl::location(overrides.br), cl::init(0),
             cl::desc("rows of Q in a block (0: the model's choice)"),
             cl::cat(category));
static cl::opt<int64_t, true>
    bcOption("bc", cl::location(overrides.bc), cl::init(0),
             cl::desc("rows of K and V in a block (0: the model's choice)"),
             cl::cat(category));
static cl::opt<int64_t, true>
    teamsOption("teams", cl::location(overrides.teams), cl::init(0),
                cl::desc("teams in a thread block (0: the model's choice)"),
                cl::cat(category));
static cl::opt<int64_t, true>
    stagesOption("stages", cl::location(overrides.stages), cl::init(0),
                 cl::desc("blocks of K and V in shared memory (0: the model's "
                          "choice)"),
                 cl::cat(category));

static cl::opt<std::string, true>
    rescaleOption("rescale", cl::location(overrides.rescale),
                  cl::value_desc("always|lazy|first-max|auto"),
                  cl::desc("when a state moves to a new maximum: in every "
                           "block, only where it grew by more than 2^8, or "
                           "never after a row's first block (by fa3 what "
                           "suits the problem, else always)"),
                  cl::cat(category));

static cl::list<std::string>
    lengths("lengths", cl::CommaSeparated, cl::value_desc("any|short|decode"),
            cl::desc("how many queries the kernels are meant for: any number, "
                     "up to 1024, or a few against many keys (any, and short "
                     "where such a kernel is faster)"),
            cl::cat(category));

static LogicalResult fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "fa-gen") << message << "\n";
  return failure();
}

//===----------------------------------------------------------------------===//
// What to make
//===----------------------------------------------------------------------===//

/// The problems of the files, or of the flags; the default library without any.
static FailureOr<std::vector<KernelSpec>>
collectProblems(MLIRContext &context) {
  std::vector<KernelSpec> specs;
  for (const std::string &file : files) {
    FailureOr<std::vector<KernelSpec>> more = readSpecs(context, file);
    if (failed(more))
      return failure();
    llvm::append_range(specs, *more);
  }
  bool hasFlags = !headDims.empty() || !dtypes.empty() || !masks.empty();
  if (!files.empty() && !hasFlags)
    return specs;
  auto orDefault = [](auto &list, auto defaults) {
    decltype(defaults) values(list.begin(), list.end());
    return values.empty() ? defaults : values;
  };
  for (int64_t dim : orDefault(headDims, std::vector<int64_t>{64, 128, 256}))
    for (StringRef dtype :
         orDefault(dtypes, std::vector<std::string>{"bf16", "f16"}))
      for (StringRef mask :
           orDefault(masks, std::vector<std::string>{"none", "causal"})) {
        FailureOr<KernelSpec> spec = makeSpec(context, dim, dtype, mask);
        if (failed(spec))
          return failure();
        specs.push_back(*spec);
      }
  return specs;
}

/// Whether no choice of steps and of blocks of rows was made by hand.
static bool choosesAll() {
  return pipelines.empty() && !ablation && overrides.br == 0 &&
         overrides.teams == 0;
}

/// The problems, each for the lengths that are asked for; none: for any and,
/// where an architecture of `archs` has a better kernel for them, for short
/// ones.
static FailureOr<std::vector<KernelSpec>>
collectSpecs(MLIRContext &context, const std::vector<std::string> &archNames) {
  FailureOr<std::vector<KernelSpec>> specs = collectProblems(context);
  if (failed(specs))
    return failure();
  if (lengths.empty() && choosesAll()) {
    std::vector<KernelSpec> shortSpecs;
    for (KernelSpec spec : *specs) {
      spec.lengths = Lengths::Short;
      if (llvm::any_of(archNames, [&](const std::string &arch) {
            return hasShortKernel(spec, arch);
          }))
        shortSpecs.push_back(std::move(spec));
    }
    llvm::append_range(*specs, shortSpecs);
  }
  if (lengths.empty())
    return specs;
  std::vector<KernelSpec> all;
  for (const std::string &name : lengths) {
    std::optional<Lengths> asked = parseLengths(name);
    if (!asked)
      return fail("unknown lengths '" + name +
                  "', expected any, short or decode");
    for (KernelSpec spec : *specs) {
      spec.lengths = *asked;
      if (!spec.isProgram)
        all.push_back(std::move(spec));
    }
  }
  // They have no lengths.
  llvm::copy_if(*specs, std::back_inserter(all),
                [](const KernelSpec &spec) { return spec.isProgram; });
  return all;
}

/// The steps that are asked for; none: the best one for each kernel.
static FailureOr<std::vector<const AblationStep *>> collectSteps() {
  std::vector<const AblationStep *> steps;
  std::string known;
  for (const AblationStep &step : getAblationSteps()) {
    known += (known.empty() ? "" : ", ") + step.name.str();
    if (ablation)
      steps.push_back(&step);
  }
  if (ablation && !pipelines.empty())
    return fail("--ablation takes all steps: leave --pipelines out");
  for (const std::string &name : pipelines) {
    const AblationStep *step = findAblationStep(name);
    if (!step)
      return fail("unknown pipeline '" + name + "', expected some of " + known);
    steps.push_back(step);
  }
  // The runtime takes the first kernel of those that fit: the furthest step.
  // The ladder's own table goes upwards.
  if (!ablation)
    llvm::sort(steps, std::greater<>());
  return steps;
}

static LogicalResult checkRescale() {
  StringRef rescale = overrides.rescale;
  if (rescale.empty() || rescale == "auto" || parseRescale(rescale.str()))
    return success();
  return fail("unknown rescale policy '" + rescale +
              "', expected always, lazy, first-max or auto");
}

static FailureOr<std::vector<std::string>> collectArchs() {
  std::vector<std::string> names(archs.begin(), archs.end());
  if (names.empty())
    names.push_back(findLocalGpu().value_or("sm_90a"));
  for (const std::string &name : names)
    if (!Target::lookup(name))
      return fail("unknown architecture '" + name + "', expected some of " +
                  Target::listNames());
  return names;
}

//===----------------------------------------------------------------------===//
// Making it
//===----------------------------------------------------------------------===//

namespace {
/// One kernel of the library, made or kept.
struct Job {
  const KernelSpec *spec;
  const AblationStep *step;
  std::string arch;
  std::string hash;
  std::optional<llvm::json::Object> entry;
};

class Library {
public:
  explicit Library(const DialectRegistry &registry) : registry(registry) {}

  LogicalResult make(const std::vector<KernelSpec> &specs,
                     const std::vector<const AblationStep *> &steps,
                     const std::vector<std::string> &archNames);

private:
  void run(Job &job);
  void report(const Job &job, const llvm::Twine &what,
              StringRef diagnostics = "");
  std::string path(StringRef file);

  const DialectRegistry &registry;
  std::vector<Job> all;
  std::mutex mutex;
  size_t done = 0;
  bool hasFailed = false;
};
} // namespace

std::string Library::path(StringRef file) {
  llvm::SmallString<256> result(StringRef(folder.getValue()));
  llvm::sys::path::append(result, file);
  return std::string(result);
}

/// Prints a kernel's diagnostics and what became of it, in one piece.
void Library::report(const Job &job, const llvm::Twine &what,
                     StringRef diagnostics) {
  std::lock_guard<std::mutex> lock(mutex);
  llvm::errs() << diagnostics << "[" << ++done << "/" << all.size() << "] "
               << kernelName(*job.spec, *job.step, job.arch) << ": " << what
               << "\n";
}

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

void Library::run(Job &job) {
  std::string diagnostics;
  llvm::raw_string_ostream os(diagnostics);
  FailureOr<CompiledKernel> kernel = compileKernel(
      registry, *job.spec, *job.step, job.arch, job.hash, overrides, os);
  if (failed(kernel)) {
    report(job, "failed", diagnostics);
    std::lock_guard<std::mutex> lock(mutex);
    hasFailed = true;
    return;
  }
  StringRef file = *kernel->entry.getString("file");
  if (llvm::Error error = writeFile(path(file), kernel->data)) {
    report(job, llvm::toString(std::move(error)), diagnostics);
    std::lock_guard<std::mutex> lock(mutex);
    hasFailed = true;
    return;
  }
  report(job,
         describeFigures(*kernel) +
             llvm::formatv(", {0:f2} s", kernel->seconds).str(),
         diagnostics);
  job.entry = std::move(kernel->entry);
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

/// The content of everything a kernel is made from: this program (and so the
/// passes), ptxas, the problem, the architecture.
static std::string hashOf(const KernelSpec &spec, const AblationStep &step,
                          StringRef arch, StringRef tools) {
  std::string text =
      (tools + "\n" + arch + "\n" + step.name + "\n" + spec.source).str();
  for (int64_t value :
       {overrides.br, overrides.bc, overrides.teams, overrides.stages})
    text += " " + std::to_string(value);
  text += " " + overrides.rescale;
  text += " " + std::to_string(static_cast<int>(spec.lengths));
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  return llvm::formatv("{0:x-16}{1:x-16}", hash.high64, hash.low64).str();
}

/// A hash of a file's content, "none" where there is no such file.
static std::string describeFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? std::to_string(llvm::xxh3_64bits((*buffer)->getBuffer()))
                : "none";
}

/// This executable and ptxas, as text that changes with them.
static std::string describeTools(const char *argv0) {
  static int anchor;
  std::string self = llvm::sys::fs::getMainExecutable(argv0, &anchor);
  std::string text = describeFile(self);
  text += " " + describeFile(findPtxas().value_or(""));
  return text;
}

LogicalResult Library::make(const std::vector<KernelSpec> &specs,
                            const std::vector<const AblationStep *> &steps,
                            const std::vector<std::string> &archNames) {
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return fail("cannot make the folder '" + folder + "': " + error.message());
  if (!llvm::sys::fs::is_directory(folder))
    return fail("'" + folder + "' is not a folder");
  if (std::error_code error = tryWriting(folder))
    return fail("cannot write into the folder '" + folder +
                "': " + error.message());
  static std::string tools = describeTools("fa-gen");
  llvm::StringMap<llvm::json::Object> old = readManifest(folder);
  llvm::StringSet<> names;
  for (const std::string &arch : archNames)
    for (const KernelSpec &spec : specs) {
      std::string reason;
      FailureOr<std::vector<const AblationStep *>> chosen =
          chooseSteps(spec, arch, steps, reason);
      // Nobody asked for it, and another architecture has it.
      if (failed(chosen) && lengths.empty() && spec.lengths == Lengths::Short)
        continue;
      if (failed(chosen))
        return fail(reason);
      for (const AblationStep *step : *chosen) {
        std::string name = kernelName(spec, *step, arch);
        if (!names.insert(name).second)
          return fail("two problems make a kernel of the name '" + name + "'");
        all.push_back({&spec, step, arch, hashOf(spec, *step, arch, tools),
                       std::nullopt});
      }
    }

  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(jobs));
  for (Job &job : all) {
    auto entry = old.find(kernelName(*job.spec, *job.step, job.arch));
    if (entry != old.end() &&
        entry->second.getString("hash") == StringRef(job.hash) &&
        isIntact(path(entry->second.getString("file").value_or("")),
                 entry->second)) {
      job.entry = entry->second;
      report(job, "up to date");
      continue;
    }
    pool.async([this, &job] { run(job); });
  }
  pool.wait();

  // What succeeded is a library, also where something failed.
  std::vector<llvm::json::Object> kernels, programs;
  bool isPtx = false;
  for (Job &job : all) {
    if (!job.entry)
      continue;
    isPtx |= job.entry->getString("format") == StringRef("ptx");
    (job.spec->isProgram ? programs : kernels).push_back(std::move(*job.entry));
  }
  if (isPtx)
    llvm::errs() << "no ptxas was found: the library holds PTX, which the "
                    "driver compiles when it is loaded\n";
  size_t made = kernels.size() + programs.size();
  if (made == 0 && hasFailed)
    return fail("no kernel was made; '" + folder + "' is left as it was");
  if (llvm::Error error =
          writeManifest(folder, std::move(kernels), std::move(programs)))
    return fail(llvm::toString(std::move(error)));
  llvm::outs() << made << (made == 1 ? " kernel in " : " kernels in ") << folder
               << "\n";
  return failure(hasFailed);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles attention problems to a kernel library: cubins and a "
      "manifest.json\n\n"
      "  fa-gen -o out                          the default kernels\n"
      "  fa-gen attention.mlir -o out           the problems of a file\n"
      "  fa-gen gemm.mlir -o out                or its programs, with "
      "schedules of their own\n"
      "  fa-gen --head-dims=128 --masks=causal --arch=sm_80,sm_90a -o out\n"
      "  fa-gen --ablation --head-dims=128 -o out   each step from "
      "FlashAttention 1 to 3\n"
      "  fa-gen --pipelines=fa2 --arch=sm_90a -o out   without Hopper's own "
      "instructions\n");
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  DiagnosticPrinter printer(context, "fa-gen", llvm::errs());
  FailureOr<std::vector<const AblationStep *>> steps = collectSteps();
  FailureOr<std::vector<std::string>> archNames = collectArchs();
  if (failed(steps) || failed(archNames) || failed(checkRescale()))
    return 1;
  FailureOr<std::vector<KernelSpec>> specs = collectSpecs(context, *archNames);
  if (failed(specs))
    return 1;
  return failed(Library(registry).make(*specs, *steps, *archNames)) ? 1 : 0;
}
