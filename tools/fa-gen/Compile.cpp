//===- Compile.cpp - One problem to one kernel -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile.h"

#include "Diagnostics.h"
#include "Figures.h"
#include "Plan.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Dialect/Cta/IR/Cta.h"
#include "fa/Pipelines/Pipelines.h"
#include "fa/Schedule/Schedule.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"

#include <chrono>

using namespace mlir;
using namespace fa;

/// What a kernel's name says of the rows that it is meant for.
static const char *nameLengths(Lengths lengths) {
  switch (lengths) {
  case Lengths::Any:
    return "";
  case Lengths::Short:
    return "short_";
  case Lengths::Decode:
    return "decode_";
  }
  llvm_unreachable("unknown lengths");
}

std::string fa::kernelName(const KernelRequest &request) {
  const KernelSpec &spec = request.spec;
  if (spec.isProgram)
    return spec.function + "_" + request.arch;
  std::string dims = "d" + std::to_string(spec.headDim);
  if (spec.headDimV != spec.headDim)
    dims += "v" + std::to_string(spec.headDimV);
  std::string name = "fwd_" + spec.dtype + "_" + dims + "_" + spec.variant +
                     "_" + nameLengths(spec.lengths);
  if (!request.label.empty())
    name += request.label + "_";
  name += request.arch;
  if (request.step != &getFa2Step())
    name += "_" + request.step->name.str();
  return name;
}

ScheduleOverrides fa::overridesOf(const Candidate &candidate) {
  const Schedule &schedule = candidate.schedule;
  return {
      schedule.br,        schedule.bc,          schedule.teams,
      schedule.warps,     schedule.stages,      nameRescale(schedule.rescale),
      candidate.pingPong, candidate.persistent, candidate.overlapTiles};
}

/// The manifest's `grid`.
static llvm::json::Array describeGrid(const KernelSpec &spec,
                                      ArrayAttr extents) {
  llvm::json::Array grid;
  for (auto extent : extents.getAsRange<cta::ExtentAttr>()) {
    llvm::json::Object factor{{"tensor", spec.params[extent.getArg()]},
                              {"dim", extent.getDim()},
                              {"tile", extent.getTile()}};
    if (extent.getPlusArg() != cta::ExtentAttr::kNone)
      factor["plus"] =
          llvm::json::Object{{"tensor", spec.params[extent.getPlusArg()]},
                             {"dim", extent.getPlusDim()}};
    grid.push_back(std::move(factor));
  }
  return grid;
}

/// Fills the entry of a kernel of one launch from its figures.
static LogicalResult describeLaunch(const KernelSpec &spec,
                                    DictionaryAttr figures,
                                    CompiledKernel &kernel) {
  if (!figures)
    return failure();
  auto extents = figures.getAs<ArrayAttr>("extents");
  if (!extents)
    return failure();
  kernel.entry["entry"] = spec.function;
  kernel.entry["grid"] = describeGrid(spec, extents);
  return describeFigures(figures, spec.params, kernel.entry);
}

int64_t fa::countSpills(const llvm::json::Object &entry) {
  int64_t bytes = entry.getInteger("spill_bytes").value_or(0);
  if (const llvm::json::Array *launches = entry.getArray("launches"))
    for (const llvm::json::Value &launch : *launches)
      bytes += countSpills(*launch.getAsObject());
  return bytes;
}

/// Fills the entry from what `--emit-cubin` reports, and from the launch plan
/// where there is one.
static LogicalResult describe(const KernelSpec &spec, gpu::ObjectAttr object,
                              func::FuncOp plan, CompiledKernel &kernel) {
  auto report = object.getProperties().getAs<DictionaryAttr>("fa.ptxas");
  auto figures = report.getAs<DictionaryAttr>("kernels");
  kernel.entry["params"] = llvm::json::Array(spec.entries);
  if (kernel.isCubin)
    kernel.entry["ptxas"] = report.getAs<StringAttr>("version").str();
  // All kernels of a plan have its schedule.
  attn::ScheduleAttr schedule;
  for (NamedAttribute named : figures)
    schedule = cast<DictionaryAttr>(named.getValue())
                   .getAs<attn::ScheduleAttr>("schedule");
  if (!schedule)
    return failure();
  std::string text;
  llvm::raw_string_ostream(text) << schedule;
  kernel.entry["schedule"] = text;
  kernel.keys = schedule.getBc();
  if (plan)
    return describePlan(plan, spec, figures, schedule.getBc(), kernel.entry);
  return describeLaunch(spec, figures.getAs<DictionaryAttr>(spec.function),
                        kernel);
}

void fa::setPipelineOptions(PipelineOptions &options,
                            const KernelRequest &request) {
  const ScheduleOverrides &overrides = request.overrides;
  const AblationStep &step = *request.step;
  Lengths lengths = request.spec.lengths;
  options.target = request.arch;
  options.br = overrides.br;
  options.bc = overrides.bc;
  options.teams = overrides.teams;
  options.warps = overrides.warps;
  options.stages = overrides.stages;
  options.moreRegisters = overrides.moreRegisters;
  options.rescale =
      overrides.rescale.empty() ? step.rescale.str() : overrides.rescale;
  options.pingPong = overrides.pingPong;
  options.persistent = overrides.persistent;
  options.overlapTiles = overrides.overlapTiles;
  if (!overrides.scheduler.empty())
    options.scheduler = overrides.scheduler;
  options.blockLists = lengths != Lengths::Decode;
  options.partition = step.partition.str();
  options.allowSpills = step.maySpill || request.isTrial;
  if (lengths == Lengths::Short) {
    if (overrides.br == 0)
      options.br = kShortTeams * kTeamRows;
    if (overrides.teams == 0)
      options.teams = kShortTeams;
  }
  if (lengths != Lengths::Decode)
    return;
  options.splitKV = "argument";
  // A state that is merged from parts has no one fold to do again.
  if (options.rescale != nameRescale(Rescale::Lazy))
    options.rescale = nameRescale(Rescale::Always);
  if (overrides.br == 0)
    options.br = kDecodeRows;
  if (overrides.teams == 0)
    options.teams = 1;
}

/// The manifest's `tuning`: what a tuned table says of a schedule.
static llvm::json::Object describeTuning(const ScheduleOverrides &overrides) {
  llvm::json::Object tuning{{"br", overrides.br},
                            {"bc", overrides.bc},
                            {"teams", overrides.teams},
                            {"warps", overrides.warps},
                            {"stages", overrides.stages},
                            {"rescale", overrides.rescale},
                            {"ping_pong", overrides.pingPong},
                            {"persistent", overrides.persistent}};
  if (overrides.overlapTiles)
    tuning["overlap_tiles"] = true;
  return tuning;
}

/// From level C on. Two products of one loop, as attention has, and what passes
/// do about them, are none of a program's.
static void buildProgramPipeline(OpPassManager &passes,
                                 const PipelineOptions &options,
                                 PassChoice choice) {
  choice.overlapSoftmax = choice.pingPong = false;
  if (choice.warpgroups)
    buildWarpgroupPipeline(passes, options, choice);
  else
    buildKernelPipeline(passes, options, choice);
}

void fa::buildPasses(OpPassManager &passes, const PipelineOptions &options,
                     const KernelRequest &request) {
  if (request.spec.isProgram)
    buildProgramPipeline(passes, options, request.step->passes);
  else
    buildPipeline(passes, options, request.step->passes);
}

/// What the manifest says of attention alone.
static void describeAttention(const KernelRequest &request,
                              llvm::json::Object &entry) {
  const KernelSpec &spec = request.spec;
  entry["pass"] = "fwd";
  entry["dtype"] = spec.dtype;
  entry["head_dim"] = spec.headDim;
  entry["head_dim_v"] = spec.headDimV;
  entry["variant"] = spec.variant;
  entry["pipeline"] = request.step->name;
  entry["gqa"] = true;
  if (spec.lengths == Lengths::Short)
    entry["max_rows"] = kShortRows;
  if (spec.lengths == Lengths::Decode) {
    entry["max_rows"] =
        request.overrides.br ? request.overrides.br : kDecodeRows;
    entry["packs_heads"] = spec.variant == "full";
  }
  if (request.maxRows)
    entry["max_rows"] = request.maxRows;
  if (request.isTrial)
    entry["tuning"] = describeTuning(request.overrides);
}

/// Compiles `request` once.
static FailureOr<CompiledKernel> compileOnce(const DialectRegistry &registry,
                                             const KernelRequest &request,
                                             bool allowSpills, StringRef hash,
                                             llvm::raw_ostream &diagnostics) {
  const KernelSpec &spec = request.spec;
  std::string name = kernelName(request);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  DiagnosticPrinter printer(context, name, diagnostics);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(spec.located, &context);
  if (!module)
    return failure();

  // 1. The passes.
  PassManager passes(&context);
  PipelineOptions options;
  setPipelineOptions(options, request);
  options.allowSpills = options.allowSpills || allowSpills;
  buildPasses(passes, options, request);
  if (failed(passes.run(*module)))
    return failure();

  // 2. Its code and its figures.
  CompiledKernel kernel;
  for (auto binary : module->getOps<gpu::BinaryOp>()) {
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    kernel.data = object.getObject().str();
    kernel.isCubin = object.getFormat() == gpu::CompilationTarget::Binary;
    if (failed(describe(spec, object, findPlan(*module, spec), kernel)))
      return binary.emitError("the kernel's launch has no form in a manifest");
  }
  const char *format = kernel.isCubin ? "cubin" : "ptx";
  kernel.entry["name"] = name;
  kernel.entry["file"] = name + "." + format;
  kernel.entry["format"] = format;
  kernel.entry["crc32"] = llvm::crc32(llvm::arrayRefFromStringRef(kernel.data));
  kernel.entry["arch"] = request.arch;
  kernel.entry["hash"] = hash.str();
  if (!spec.isProgram)
    describeAttention(request, kernel.entry);
  return kernel;
}

//===----------------------------------------------------------------------===//
// Where ptxas spills
//===----------------------------------------------------------------------===//

/// What 16 keys take of a thread that computes: scores of four bytes and
/// weights of two, of 64 rows in 128 threads.
static constexpr int64_t kRegistersOfKeys = 12;
/// The bytes that ptxas stores and loads for each register that is missing, as
/// it hands out the others otherwise too: 16 keys fewer may end a spill of 480.
static constexpr int64_t kBytesOfRegister = 32;
/// No thread has so many: the model's smallest blocks are for these.
static constexpr int64_t kMoreThanAll = 512;

/// Whether smaller blocks may be taken where ptxas spills: nobody asked for
/// these, and the kernel is for use.
static bool mayTakeSmallerBlocks(const KernelRequest &request) {
  return !request.spec.isProgram && !request.isTrial &&
         !request.step->maySpill && request.overrides.bc == 0;
}

/// The schedule that the model chooses for `request`; null after a diagnostic.
static attn::ScheduleAttr chooseSchedule(MLIRContext &context,
                                         const KernelRequest &request) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(request.spec.source, &context);
  if (!module)
    return nullptr;
  PassManager passes(&context);
  PipelineOptions options;
  setPipelineOptions(options, request);
  options.level = Level::Blocks;
  buildPasses(passes, options, request);
  if (failed(passes.run(*module)))
    return nullptr;
  attn::ScheduleAttr schedule;
  module->walk([&](func::FuncOp function) {
    if (auto attr = function->getAttrOfType<attn::ScheduleAttr>(
            attn::kScheduleAttrName))
      schedule = attr;
  });
  return schedule;
}

/// Has `request` ask for so many registers more that the model chooses another
/// schedule; fails where it has none. So many bytes were spilled.
static LogicalResult askForSmallerBlocks(const DialectRegistry &registry,
                                         KernelRequest &request,
                                         int64_t spilled) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler silence(&context,
                                  [](Diagnostic &) { return success(); });
  int64_t &more = request.overrides.moreRegisters;
  const attn::ScheduleAttr spilling = chooseSchedule(context, request);
  more += spilled / kBytesOfRegister;
  do
    more += kRegistersOfKeys;
  while (more < kMoreThanAll && chooseSchedule(context, request) == spilling);
  return success(more < kMoreThanAll);
}

FailureOr<CompiledKernel> fa::compileKernel(const DialectRegistry &registry,
                                            const KernelRequest &request,
                                            StringRef hash,
                                            llvm::raw_ostream &diagnostics) {
  auto start = std::chrono::steady_clock::now();
  KernelRequest asked = request;
  bool hasSmaller = mayTakeSmallerBlocks(request);
  int64_t spillingKeys = 0;
  for (;;) {
    FailureOr<CompiledKernel> kernel = compileOnce(
        registry, asked, /*allowSpills=*/hasSmaller, hash, diagnostics);
    if (failed(kernel))
      return failure();
    const int64_t spilled = countSpills(kernel->entry);
    if (hasSmaller && spilled > 0) {
      if (!spillingKeys)
        spillingKeys = kernel->keys;
      // Of what spills with the smallest blocks the last try says so.
      hasSmaller = succeeded(askForSmallerBlocks(registry, asked, spilled));
      continue;
    }
    kernel->spillingKeys = spillingKeys;
    if (int64_t more = asked.overrides.moreRegisters)
      kernel->entry["more_registers"] = more;
    kernel->seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    return kernel;
  }
}
