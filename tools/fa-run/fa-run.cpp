//===- fa-run.cpp - Executes and checks attention on the CPU -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Progress.h"
#include "Report.h"
#include "RunProgram.h"
#include "Simulate.h"

#include "fa/Execute/HostMemory.h"
#include "fa/Execute/InputFiles.h"
#include "fa/Execute/Levels.h"
#include "fa/Execute/Npy.h"
#include "fa/Execute/Program.h"
#include "fa/Execute/Traffic.h"
#include "fa/Pipelines/Register.h"
#include "fa/Support/ArgumentNames.h"
#include "fa/Support/Folders.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

#include <chrono>

using namespace mlir;
using namespace fa;
using namespace fa::execute;
using namespace fa::run;

/// Above this many multiplications optimised code is faster in all.
static constexpr double kOptimizedWork = 2e7;

static LogicalResult fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "fa-run")
      << StringRef(message.str()).rtrim() << '\n';
  return failure();
}

static LogicalResult fail(llvm::Error error) {
  return fail(llvm::toString(std::move(error)));
}

static OwningOpRef<ModuleOp> parseFile(MLIRContext &context,
                                       const std::string &name) {
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  std::string message;
  auto file = openInputFile(name, &message);
  if (!file) {
    (void)fail(message);
    return {};
  }
  StringRef text = file->getBuffer();
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  auto module = parseSourceFile<ModuleOp>(sources, &context);
  if (module)
    for (func::FuncOp function : module->getOps<func::FuncOp>())
      if (!function.isExternal())
        nameArguments(function.getBody().front(), text);
  return module;
}

/// Builds what the command line asks for in `manager`: all of it where it stays
/// at the lowest level that is run or above, a pipeline's part down to that
/// level otherwise.
static LogicalResult buildPasses(const PassPipelineCLParser &parser,
                                 const Options &options,
                                 const AttentionFunction &problem,
                                 PassManager &manager) {
  bool simulate = options.simulate;
  auto passesBelow = simulate ? getPassesBelowLevelD() : getPassesBelowLevelC();
  StringRef level = simulate ? "level D" : "level C";
  for (StringRef name : passesBelow)
    if (const PassInfo *info = PassInfo::lookup(name))
      if (parser.contains(info))
        return fail("--" + name + " goes below " + level +
                    ", the lowest that " +
                    (simulate ? "the simulator" : "the CPU") + " runs");
  PassManager whole(manager.getContext(), ModuleOp::getOperationName(),
                    PassManager::Nesting::Implicit);
  auto report = [](const llvm::Twine &message) { return fail(message); };
  if (failed(parser.addToPipeline(whole, report)))
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  whole.printAsTextualPipeline(stream);
  StringRef below = findPass(text, passesBelow);
  if (below.empty() && !options.countsTraffic()) {
    static_cast<OpPassManager &>(manager) = std::move(whole);
    return success();
  }
  if (!below.empty())
    llvm::WithColor::note(llvm::errs(), "fa-run")
        << "the pipeline is run down to " << level << ", before --" << below
        << '\n';
  text = cutBelow(text, passesBelow);
  if (options.countsTraffic())
    text = addTrafficCounters(text, problem);
  FailureOr<OpPassManager> cut = parsePassPipeline(text);
  if (failed(cut))
    return failure();
  static_cast<OpPassManager &>(manager) = std::move(*cut);
  return success();
}

/// Whether optimised code pays for its compilation, and on all cores.
static CodeOptions chooseCode(const Options &options,
                              const AttentionFunction &problem) {
  if (options.optimize)
    return {*options.optimize, *options.optimize && !options.sequential};
  attn::ForwardOp forward = problem.forward;
  double width = forward.getHeadDim() + forward.getHeadDimV();
  double work = 0;
  for (const Sizes &sizes : options.sizes)
    work += double(sizes[Dim::B]) * sizes[Dim::Hq] * sizes[Dim::Sq] *
            sizes[Dim::Skv] * width;
  bool optimize = work > kOptimizedWork;
  return {optimize, optimize && !options.sequential};
}

/// The rows that a problem says something about.
static RowRange getRows(const Sizes &sizes) {
  if (sizes.startsQ.empty())
    return {};
  return {sizes.startsQ.front(), sizes.startsQ.back()};
}

/// Runs with 0 where no query may read, and compares with `outputs`, for which
/// there were NaN and infinities. Succeeds where the bits are the same.
static LogicalResult checkUnusedRows(Program &program,
                                     const AttentionFunction &problem,
                                     const Sizes &sizes, InputOptions options,
                                     const Outputs &outputs) {
  options.unusedRows = UnusedRows::Zero;
  Inputs inputs;
  RunTime taken;
  if (failed(makeInputs(problem, sizes, options, inputs)))
    return failure();
  auto other = program.runKernel(inputs, taken);
  if (!other)
    return fail(other.takeError());
  Comparison result = compareBits(outputs, *other, getRows(sizes));
  printUnusedRows(result);
  return success(result.passed());
}

namespace {
/// What standard attention yields.
struct References {
  Outputs reference; ///< in float64
  Outputs naive;     ///< rounded as the kernel's inputs are
};
} // namespace

/// Runs the references.
static FailureOr<References> runReferences(Program &program,
                                           const AttentionFunction &problem,
                                           const Options &options,
                                           Inputs &inputs, const Sizes &sizes) {
  SmallVector<int64_t> shape = getLseShape(problem, sizes);
  auto run = [&](StringRef name, Precision precision) {
    Progress progress(name, options.progress);
    return program.runReference(
        inputs, shape, precision,
        [&](int64_t done, int64_t total) { progress.update(done, total); });
  };
  auto reference = run("float64 reference", Precision::Double);
  if (!reference)
    return fail(reference.takeError());
  auto naive = program.hasNaive() ? run("naive reference", Precision::Naive)
                                  : *reference;
  if (!naive)
    return fail(naive.takeError());
  return References{std::move(*reference), std::move(*naive)};
}

/// Compares `outputs` with the references. Succeeds where they are right.
static LogicalResult check(const References &references, const Sizes &sizes,
                           const Outputs &outputs) {
  const Outputs &reference = references.reference;
  for (auto [out, ref] : {std::pair(&outputs.o, &reference.o),
                          std::pair(&outputs.lse, &reference.lse)})
    if (out->getShape() != ref->getShape())
      return fail("an output has the wrong shape");
  RowRange rows = getRows(sizes);
  Comparison o = compareO(outputs.o, reference, references.naive.o, rows);
  Comparison lse = compareLse(outputs.lse, reference.lse, rows);
  printComparison("o", o);
  printComparison("lse", lse);
  noteEmptyRows(reference.lse);
  return success(o.passed() && lse.passed());
}

/// Writes o.npy and lse.npy into `folder`.
static LogicalResult writeOutputs(const Outputs &outputs, StringRef folder) {
  if (std::error_code code = makeFolder(folder))
    return fail("'" + folder + "': " + code.message());
  for (auto [name, tensor] :
       {std::pair("o.npy", &outputs.o), std::pair("lse.npy", &outputs.lse)}) {
    SmallString<128> file(folder);
    llvm::sys::path::append(file, name);
    if (llvm::Error error = writeNpy(file, *tensor))
      return fail(std::move(error));
  }
  return success();
}

/// Prints what tensors moved in the last run, and adds it to the file.
static LogicalResult reportTraffic(const Options &options, const Sizes &sizes) {
  std::vector<TensorTraffic> rows = traffic::get();
  if (options.printTraffic)
    printTraffic(rows);
  if (options.trafficFile.empty())
    return success();
  std::error_code code;
  llvm::raw_fd_ostream file(options.trafficFile, code,
                            llvm::sys::fs::OF_Append);
  if (code)
    return fail("'" + options.trafficFile + "': " + code.message());
  printTrafficLines(file, sizes, rows);
  return success();
}

/// Begins the file of what tensors move, if there is to be one.
static LogicalResult beginTrafficFile(const Options &options) {
  if (options.trafficFile.empty())
    return success();
  std::error_code code;
  llvm::raw_fd_ostream file(options.trafficFile, code);
  if (code)
    return fail("'" + options.trafficFile + "': " + code.message());
  printTrafficHeader(file);
  return success();
}

/// One run with one list of sizes.
static LogicalResult runOnce(Program &program, const AttentionFunction &problem,
                             const Sizes &sizes, const Options &options) {
  Inputs inputs;
  InputOptions inputOptions = options.inputs;
  if (options.check)
    inputOptions.unusedRows = UnusedRows::Poison;
  if (failed(makeInputs(problem, sizes, inputOptions, inputs)))
    return failure();
  llvm::outs() << sizes.str() << '\n';
  // The references first: they see where a region reads what is not there.
  std::optional<References> references;
  if (options.check) {
    auto run = runReferences(program, problem, options, inputs, sizes);
    if (failed(run))
      return failure();
    references = std::move(*run);
  }
  memory::setPoison(options.check);
  memory::resetPeak();
  traffic::reset();
  int64_t before = memory::getLiveBytes();
  RunTime taken;
  auto outputs = [&] {
    Progress progress("run", options.progress);
    return program.runKernel(inputs, taken);
  }();
  if (!outputs)
    return fail(outputs.takeError());
  if (options.countsTraffic() && failed(reportTraffic(options, sizes)))
    return failure();
  if (options.time)
    llvm::outs() << llvm::format(
        "time %.6f s, of all cores %.6f s, buffers %.3f MiB\n", taken.wall,
        taken.cpu, memory::getPeakBytes() / double(1 << 20));
  if (int64_t leaked = memory::getLiveBytes() - before)
    return fail(llvm::Twine(leaked) + " bytes of buffers were not freed");
  if (!options.outputFolder.empty() &&
      failed(writeOutputs(*outputs, options.outputFolder)))
    return failure();
  if (references) {
    LogicalResult right = check(*references, sizes, *outputs);
    if (failed(right) || !hasUnusedRows(problem, sizes))
      return right;
    return checkUnusedRows(program, problem, sizes, inputOptions, *outputs);
  }
  printSummary("o", outputs->o);
  printSummary("lse", outputs->lse);
  return success();
}

/// Gives the scalars that the command line has by name their numbers.
static LogicalResult resolveScalars(func::FuncOp function, Options &options) {
  for (const auto &[name, value] : options.namedScalars) {
    auto argument =
        llvm::find_if(function.getArguments(), [&](BlockArgument argument) {
          return isMeant(name, argument);
        });
    if (argument == function.args_end())
      return function.emitError("there is no argument '")
             << name << "', for which --arg has a value";
    auto [entry, isNew] =
        options.inputs.scalars.emplace(argument->getArgNumber(), value);
    if (!isNew)
      return function.emitError("argument ")
             << entry->first << " has two values, by --arg=" << name
             << " and by its number";
  }
  return success();
}

/// Whether what is run can stand in for the problem, and the sizes and scalars
/// fit it.
static LogicalResult bind(Options &options, const AttentionFunction &problem,
                          func::FuncOp function) {
  func::FuncOp original = problem.function;
  if (function.getFunctionType() != original.getFunctionType())
    return function.emitError("the function's type must be that of the "
                              "reference, found ")
           << function.getFunctionType() << " and "
           << original.getFunctionType();
  if (failed(readInputFiles(problem, options.inputFiles, options.inputs)) ||
      failed(resolveScalars(original, options)))
    return failure();
  for (Sizes &sizes : options.sizes) {
    FailureOr<Sizes> bound = bindSizes(problem, sizes, options.inputs);
    if (failed(bound))
      return failure();
    sizes = *bound;
  }
  return checkScalars(problem, options.inputs.scalars);
}

/// Runs the command line's passes on `kernel`.
static LogicalResult runPasses(const PassPipelineCLParser &parser,
                               const Options &options, ModuleOp kernel,
                               const AttentionFunction &problem,
                               StringRef name) {
  PassManager manager(kernel.getContext(), ModuleOp::getOperationName());
  if (failed(applyPassManagerCLOptions(manager)) ||
      failed(buildPasses(parser, options, problem, manager)) ||
      failed(manager.run(kernel)))
    return failure();
  if (options.simulate) {
    if (options.emitIR)
      llvm::outs() << kernel << '\n';
    return success();
  }
  auto function = kernel.lookupSymbol<func::FuncOp>(name);
  func::FuncOp original = problem.function;
  if (!function || function.getFunctionType() != original.getFunctionType())
    return fail("the passes left no function " + name + " of the same type");
  if (options.emitIR)
    llvm::outs() << kernel << '\n';
  return success();
}

/// Runs `simulated` with further seeds. Succeeds where each gives the bits of
/// `outputs`.
static LogicalResult checkOrders(const Simulated &simulated,
                                 const AttentionFunction &problem,
                                 const Sizes &sizes, Inputs &inputs,
                                 const Options &options,
                                 const Outputs &outputs) {
  Options next = options;
  for (uint64_t n = 1; n < options.simSeeds; ++n) {
    next.simSeed = options.simSeed + n;
    auto others = simulateProblem(simulated, problem, sizes, inputs, next);
    if (!others)
      return fail(others.takeError());
    if (!compareBits(outputs, *others, getRows(sizes)).passed())
      return fail("seed " + llvm::Twine(next.simSeed) +
                  " gives other numbers than seed " +
                  llvm::Twine(options.simSeed));
  }
  return success();
}

/// One run in the simulator. `references` is null without --check.
static LogicalResult simulateOnce(const Simulated &simulated,
                                  Program *references,
                                  const AttentionFunction &problem,
                                  const Sizes &sizes, const Options &options) {
  Inputs inputs;
  InputOptions inputOptions = options.inputs;
  if (options.check)
    inputOptions.unusedRows = UnusedRows::Poison;
  if (failed(makeInputs(problem, sizes, inputOptions, inputs)))
    return failure();
  llvm::outs() << sizes.str() << '\n';
  auto outputs = simulateProblem(simulated, problem, sizes, inputs, options);
  if (!outputs)
    return fail(outputs.takeError());
  if (!options.outputFolder.empty() &&
      failed(writeOutputs(*outputs, options.outputFolder)))
    return failure();
  if (failed(checkOrders(simulated, problem, sizes, inputs, options, *outputs)))
    return failure();
  if (references) {
    auto right = runReferences(*references, problem, options, inputs, sizes);
    return failed(right) ? failure() : check(*right, sizes, *outputs);
  }
  printSummary("o", outputs->o);
  printSummary("lse", outputs->lse);
  return success();
}

/// Runs what the passes left in the simulator, with all sizes.
static LogicalResult simulateAll(const Options &options,
                                 const AttentionFunction &problem,
                                 ModuleOp module, StringRef name,
                                 ModuleOp references) {
  FailureOr<Simulated> simulated = findSimulated(module, name, options);
  if (failed(simulated))
    return failure();
  FailureOr<Program> program = failure();
  if (options.check) {
    program = Program::compileReferences(problem, references,
                                         chooseCode(options, problem));
    if (failed(program))
      return failure();
  }
  bool passed = true;
  for (const Sizes &sizes : options.sizes)
    passed &=
        succeeded(simulateOnce(*simulated, options.check ? &*program : nullptr,
                               problem, sizes, options));
  return success(passed);
}

/// Runs a file of kernels at level D that solve no problem that is known.
static LogicalResult runKernelFile(const PassPipelineCLParser &parser,
                                   const Options &options, ModuleOp module) {
  if (options.check)
    return fail("--check needs the problem: --reference=FILE");
  if (!options.namedScalars.empty())
    return fail("a kernel's arguments have numbers: --arg=NUMBER=VALUE");
  if (failed(runPasses(parser, options, module, {}, "")))
    return failure();
  FailureOr<gpu::GPUFuncOp> kernel = findKernel(module, "", options);
  return failure(failed(kernel) || failed(simulateAlone(*kernel, options)));
}

/// Runs a file of a program that is no attention, which `source` says.
static LogicalResult runProgramFile(const PassPipelineCLParser &parser,
                                    const Options &options, ModuleOp module,
                                    func::FuncOp source) {
  if (options.countsTraffic())
    return fail("--print-traffic and --traffic-csv count what attention moves");
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  if (failed(applyPassManagerCLOptions(manager)) ||
      failed(buildPasses(parser, options, {}, manager)) ||
      failed(manager.run(module)))
    return failure();
  if (options.emitIR)
    llvm::outs() << module << '\n';
  return runProgram(source, module, options);
}

/// Compiles what is left of the kernel, and the references.
static FailureOr<Program> compile(const Options &options,
                                  const AttentionFunction &problem,
                                  ModuleOp kernel, StringRef name,
                                  ModuleOp references) {
  auto start = std::chrono::steady_clock::now();
  FailureOr<Program> program = [&] {
    Progress progress("compilation", options.progress);
    return Program::compile(problem, kernel, name, references,
                            chooseCode(options, problem));
  }();
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  if (options.time && succeeded(program))
    llvm::outs() << llvm::format("compile %.6f s\n", taken.count());
  return program;
}

static LogicalResult runFile(const PassPipelineCLParser &parser,
                             Options options, MLIRContext &context) {
  // 1. What is run, and the problem that it should solve.
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> kernel = parseFile(context, options.file), source;
  if (!kernel)
    return failure();
  bool isLevelD = options.simulate && holdsKernels(*kernel);
  if (isLevelD && options.referenceFile.empty())
    return runKernelFile(parser, options, *kernel);
  source = options.referenceFile.empty()
               ? OwningOpRef<ModuleOp>(kernel->clone())
               : parseFile(context, options.referenceFile);
  if (!source)
    return failure();
  if (func::FuncOp program = findProgram(*source))
    return failure(failed(resolveScalars(program, options)) ||
                   failed(runProgramFile(parser, options, *kernel, program)));
  FailureOr<AttentionFunction> problem = findAttention(*source);
  if (failed(problem))
    return failure();
  FailureOr<func::FuncOp> function =
      isLevelD ? problem->function : findFunction(*kernel);
  if (failed(function) || failed(bind(options, *problem, *function)))
    return failure();
  std::string name = function->getName().str();

  // 2. References from level A, then the passes.
  OwningOpRef<ModuleOp> references = ModuleOp::create(source->getLoc());
  if (options.check && failed(Program::addReferences(*problem, *references)))
    return failure();
  if (failed(runPasses(parser, options, *kernel, *problem, name)))
    return failure();

  if (options.simulate)
    return simulateAll(options, *problem, *kernel, name, *references);

  // 3. The rest of the way down, and the runs.
  FailureOr<Program> program =
      compile(options, *problem, *kernel, name, *references);
  if (failed(program))
    return failure();
  if (failed(beginTrafficFile(options)))
    return failure();
  bool passed = true;
  for (const Sizes &sizes : options.sizes)
    passed &= succeeded(runOnce(*program, *problem, sizes, options));
  return success(passed);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  registerDialects(registry);
  registerPasses();
  registerCountTraffic();
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  PassPipelineCLParser parser("", "Passes and pipelines, which run in order:");
  auto options = Options::parse(argc, argv);
  if (!options)
    return asMainReturnCode(fail(options.takeError()));
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  return asMainReturnCode(runFile(parser, std::move(*options), context));
}
