//===- fa-gen.cpp - Kernel libraries from attention problems -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Describe.h"
#include "Diagnostics.h"
#include "Library.h"
#include "LocalGpu.h"
#include "Requests.h"
#include "Tune.h"

#include "fa/Pipelines/Register.h"
#include "fa/Support/Folders.h"
#include "fa/Target/Target.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace fa;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static cl::OptionCategory category("fa-gen");
static cl::list<std::string> files(cl::Positional, cl::desc("[FILE.mlir ...]"),
                                   cl::cat(category));
static cl::list<std::string>
    headDims("head-dims", cl::CommaSeparated, cl::value_desc("D|D/Dv"),
             cl::desc("head dimensions (64,96,128,192,192/128,256)"),
             cl::cat(category));
static cl::list<std::string> dtypes("dtypes", cl::CommaSeparated,
                                    cl::desc("element types (bf16,f16)"),
                                    cl::cat(category));
static cl::list<std::string> masks("masks", cl::CommaSeparated,
                                   cl::desc("masks (none,causal)"),
                                   cl::cat(category));
static const std::string archsHelp =
    "architectures (this machine's GPUs, else sm_80 and sm_90a), of " +
    Target::listNames();
static cl::list<std::string> archs("arch", cl::CommaSeparated,
                                   cl::desc(archsHelp), cl::cat(category));
static cl::list<std::string>
    ownSpecs("spec", cl::CommaSeparated, cl::value_desc("FILE.mlir"),
             cl::desc("problems beside those of the flags, or beside the "
                      "default ones"),
             cl::cat(category));
static cl::opt<std::string> folder("o", cl::init("kernels"),
                                   cl::value_desc("DIR"),
                                   cl::desc("the library's folder (kernels)"),
                                   cl::cat(category));
static cl::opt<std::string>
    reportFile("report", cl::value_desc("FILE.html"),
               cl::desc("a page on the kernels: schedules, resources, what "
                        "was measured, each level's IR"),
               cl::cat(category));
static cl::opt<std::string>
    emitFolder("emit", cl::value_desc("DIR"),
               cl::desc("the IR of each kernel at each level, as files"),
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
                       "overlap-softmax, ping-pong, persistent, "
                       "trim-teams, fa3 (fa3 where it makes the kernel, else "
                       "fa2)"),
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

static cl::opt<bool>
    overlapTiles("overlap-tiles",
                 cl::desc("of fa3's kernels, each work item's end beside the "
                          "beginning of the next"),
                 cl::cat(category));

static cl::opt<std::string, true> schedulerOption(
    "scheduler", cl::location(overrides.scheduler),
    cl::value_desc("auto|static|dynamic"),
    cl::desc(
        "of fa3's kernels, which thread block runs which work items: known "
        "before, whichever is free (which needs a few bytes of "
        "workspace), or that where memory says how long they are, as with "
        "packed sequences and lists of blocks (auto)"),
    cl::cat(category));

static cl::list<std::string>
    lengths("lengths", cl::CommaSeparated, cl::value_desc("any|short|decode"),
            cl::desc("how many queries the kernels are meant for: any number, "
                     "up to 1024, or a few against many keys (any, and short "
                     "where such a kernel is faster)"),
            cl::cat(category));

static cl::opt<bool>
    candidates("candidates",
               cl::desc("a kernel of every schedule worth trying for each "
                        "problem, for fa-bench tune"),
               cl::cat(category));
static cl::opt<bool>
    tune("tune",
         cl::desc("time the candidates on this machine's GPU first, and keep "
                  "the fastest in the user's table"),
         cl::cat(category));
static cl::opt<std::string>
    tunedFile("tuned", cl::value_desc("FILE"),
              cl::desc("the table of measured schedules, instead of the one "
                       "that fa-gen was built with and the user's"),
              cl::cat(category));
static cl::opt<bool>
    noTuned("no-tuned",
            cl::desc("schedules by the resource model, from no table"),
            cl::cat(category));

//===----------------------------------------------------------------------===//
// What to make
//===----------------------------------------------------------------------===//

/// Adds the problems of files.
static LogicalResult addFiles(MLIRContext &context,
                              const std::vector<std::string> &paths,
                              std::vector<KernelSpec> &specs) {
  for (const std::string &path : paths) {
    FailureOr<std::vector<KernelSpec>> more = readSpecs(context, path);
    if (failed(more))
      return failure();
    llvm::append_range(specs, *more);
  }
  return success();
}

/// The problems of the files, or of the flags; the default library without any.
static FailureOr<std::vector<KernelSpec>>
collectProblems(MLIRContext &context) {
  std::vector<KernelSpec> specs;
  if (failed(addFiles(context, files, specs)))
    return failure();
  bool hasFlags = !headDims.empty() || !dtypes.empty() || !masks.empty();
  if (!files.empty() && !hasFlags)
    return specs;
  auto orDefault = [](auto &list, auto defaults) {
    decltype(defaults) values(list.begin(), list.end());
    return values.empty() ? defaults : values;
  };
  for (const std::string &text :
       orDefault(headDims, std::vector<std::string>{"64", "96", "128", "192",
                                                    "192/128", "256"})) {
    std::optional<HeadDims> dims = parseHeadDims(text);
    if (!dims)
      return failWith(
          "--head-dims are numbers, or D/Dv as in 192/128; found '" + text +
          "'");
    for (StringRef dtype :
         orDefault(dtypes, std::vector<std::string>{"bf16", "f16"}))
      for (StringRef mask :
           orDefault(masks, std::vector<std::string>{"none", "causal"})) {
        FailureOr<KernelSpec> spec = makeSpec(context, *dims, dtype, mask);
        if (failed(spec))
          return failure();
        specs.push_back(*spec);
      }
  }
  return specs;
}

/// The lengths that are asked for.
static FailureOr<std::vector<Lengths>> collectLengths() {
  std::vector<Lengths> all;
  for (const std::string &name : lengths) {
    std::optional<Lengths> asked = parseLengths(name);
    if (!asked)
      return failWith("unknown lengths '" + name +
                      "', expected any, short or decode");
    all.push_back(*asked);
  }
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
    return failWith("--ablation takes all steps: leave --pipelines out");
  for (const std::string &name : pipelines) {
    const AblationStep *step = findAblationStep(name);
    if (!step)
      return failWith("unknown pipeline '" + name + "', expected some of " +
                      known);
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
  return failWith("unknown rescale policy '" + rescale +
                  "', expected always, lazy, first-max or auto");
}

static LogicalResult checkScheduler() {
  StringRef scheduler = overrides.scheduler;
  if (scheduler.empty() || scheduler == "auto" || scheduler == "static" ||
      scheduler == "dynamic")
    return success();
  return failWith("unknown scheduler '" + scheduler +
                  "', expected auto, static or dynamic");
}

/// This machine's GPUs; without any, one of before Hopper and Hopper.
static FailureOr<std::vector<std::string>> chooseArchs() {
  std::vector<std::string> gpus = findLocalGpus(), names;
  if (gpus.empty())
    return std::vector<std::string>{"sm_80", "sm_90a"};
  for (const std::string &gpu : gpus) {
    std::optional<std::string> name = findTargetFor(gpu);
    if (name && !llvm::is_contained(names, *name))
      names.push_back(*name);
  }
  if (names.empty())
    return failWith("no kernels are made for this machine's GPU, " +
                    gpus.front() + ": give --arch, of " + Target::listNames());
  return names;
}

static FailureOr<std::vector<std::string>> collectArchs() {
  std::vector<std::string> names(archs.begin(), archs.end());
  if (names.empty())
    return chooseArchs();
  for (const std::string &name : names)
    if (!Target::lookup(name))
      return failWith("unknown architecture '" + name + "', expected some of " +
                      Target::listNames());
  return names;
}

/// The tables of measured schedules by architecture.
static FailureOr<llvm::StringMap<TunedTable>>
collectTables(const std::vector<std::string> &archNames) {
  llvm::StringMap<TunedTable> tables;
  if (noTuned)
    return tables;
  if (!tunedFile.empty()) {
    llvm::Expected<TunedTable> table = readTunedTable(tunedFile);
    if (!table)
      return failWith(llvm::toString(table.takeError()));
    if (!llvm::is_contained(archNames, table->arch))
      return failWith(tunedFile + " is a table of " + table->arch +
                      ", for which no kernels are asked for");
    tables[table->arch] = *table;
    return tables;
  }
  for (const std::string &arch : archNames) {
    llvm::Expected<TunedTable> table = findTunedTable(arch);
    if (!table)
      return failWith(llvm::toString(table.takeError()));
    tables[arch] = *table;
  }
  return tables;
}

/// Refuses options that cannot be given together.
static LogicalResult checkOptions() {
  if ((noTuned + !tunedFile.empty() + tune + candidates) > 1)
    return failWith("--tune, --tuned, --no-tuned and --candidates exclude one "
                    "another");
  bool isByHand = ablation || !pipelines.empty() || !lengths.empty() ||
                  overrides.br || overrides.bc || overrides.teams ||
                  overrides.stages || !overrides.rescale.empty() ||
                  !overrides.scheduler.empty() || overlapTiles;
  if ((candidates || tune) && isByHand)
    return failWith(
        (candidates ? "--candidates" : "--tune") +
        llvm::Twine(" tries schedules: leave --ablation, "
                    "--pipelines, --lengths, --br, --bc, --teams, "
                    "--stages, --rescale, --scheduler and --overlap-tiles "
                    "out"));
  return success(succeeded(checkRescale()) && succeeded(checkScheduler()));
}

/// Makes the folder of the page on the kernels, before any is made.
static LogicalResult makeReportFolder() {
  StringRef folder = llvm::sys::path::parent_path(reportFile);
  if (folder.empty())
    return success();
  if (std::error_code error = makeFolder(folder))
    return failWith("cannot make the folder '" + folder +
                    "' of --report: " + error.message());
  if (!llvm::sys::fs::is_directory(folder))
    return failWith("'" + folder + "' of --report is not a folder");
  return success();
}

/// The kernels that are asked for, after measuring schedules where that is.
static FailureOr<std::vector<KernelRequest>>
collectRequests(MLIRContext &context, const DialectRegistry &registry) {
  FailureOr<std::vector<const AblationStep *>> steps = collectSteps();
  FailureOr<std::vector<std::string>> archNames = collectArchs();
  FailureOr<std::vector<Lengths>> asked = collectLengths();
  if (failed(steps) || failed(archNames) || failed(asked) ||
      failed(checkOptions()) || failed(makeReportFolder()))
    return failure();
  FailureOr<std::vector<KernelSpec>> specs = collectProblems(context);
  if (failed(specs) || failed(addFiles(context, ownSpecs, *specs)) ||
      (tune && failed(tuneHere(registry, *specs, *archNames, jobs))))
    return failure();
  FailureOr<llvm::StringMap<TunedTable>> tables = collectTables(*archNames);
  if (failed(tables))
    return failure();
  std::string reason;
  FailureOr<std::vector<KernelRequest>> requests =
      candidates
          ? collectCandidates(*specs, *archNames, reason)
          : collectKernels(*specs, {*archNames, *steps, *asked, overrides},
                           *tables, reason);
  if (failed(requests))
    return failWith(reason);
  for (KernelRequest &request : *requests)
    request.overrides.overlapTiles |= overlapTiles;
  return requests;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles attention problems to a kernel library: cubins and a "
      "manifest.json\n\n"
      "  fa-gen                                 the default kernels, into "
      "kernels/\n"
      "  fa-gen --spec window.mlir --report=kernels.html   and yours, with a "
      "page on them\n"
      "  fa-gen attention.mlir -o out           the problems of a file\n"
      "  fa-gen gemm.mlir -o out                or its programs, with "
      "schedules of their own\n"
      "  fa-gen --head-dims=128 --masks=causal --arch=sm_80,sm_90a -o out\n"
      "  fa-gen --ablation --head-dims=128 -o out   each step from "
      "FlashAttention 1 to 3\n"
      "  fa-gen --candidates --head-dims=128 -o candidates   every schedule "
      "worth timing\n"
      "  fa-gen --tune -o out   schedules by measurement on this GPU\n"
      "  fa-gen --pipelines=fa2 --arch=sm_90a -o out   without Hopper's own "
      "instructions\n");
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  DiagnosticPrinter printer(context, "fa-gen", llvm::errs());
  FailureOr<std::vector<KernelRequest>> requests =
      collectRequests(context, registry);
  if (failed(requests))
    return 1;
  Library library(registry, folder, jobs);
  bool isMade = succeeded(library.make(std::move(*requests)));
  bool isDescribed = succeeded(describeLibrary(
      context, registry, library, {folder, reportFile, emitFolder, jobs}));
  return isMade && isDescribed ? 0 : 1;
}
