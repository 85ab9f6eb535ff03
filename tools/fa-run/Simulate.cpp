//===- Simulate.cpp - fa-run at level D -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simulate.h"

#include "Report.h"

#include "fa/Dialect/Cta/IR/Cta.h"
#include "fa/Simulator/LaunchPlan.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

#include <deque>

using namespace mlir;
using namespace fa;
using namespace fa::execute;
using namespace fa::run;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static SmallVector<gpu::GPUFuncOp> getKernels(ModuleOp module) {
  SmallVector<gpu::GPUFuncOp> kernels;
  module.walk([&](gpu::GPUFuncOp kernel) { kernels.push_back(kernel); });
  return kernels;
}

bool fa::run::holdsKernels(ModuleOp module) {
  return !getKernels(module).empty();
}

FailureOr<gpu::GPUFuncOp> fa::run::findKernel(ModuleOp module, StringRef name,
                                              const Options &options) {
  SmallVector<gpu::GPUFuncOp> kernels = getKernels(module);
  StringRef wanted = options.simKernel.empty() ? name : options.simKernel;
  for (gpu::GPUFuncOp kernel : kernels)
    if (kernel.getName() == wanted)
      return kernel;
  if (!options.simKernel.empty())
    return module.emitError("there is no kernel ") << options.simKernel;
  if (kernels.empty())
    return module.emitError(
        "the passes left no kernel: --on=sim runs level D, which --fa2 or "
        "passes down to --map-warps reach");
  if (kernels.size() > 1)
    return module.emitError("there are ")
           << kernels.size() << " kernels; --sim-kernel=NAME chooses one";
  return kernels.front();
}

FailureOr<Simulated> fa::run::findSimulated(ModuleOp module, StringRef name,
                                            const Options &options) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (function && options.simKernel.empty() && sim::isLaunchPlan(function)) {
    if (options.simTrace.empty())
      return Simulated{{}, function};
    return function.emitError("--sim-trace draws one kernel, and ")
           << name << " launches several";
  }
  FailureOr<gpu::GPUFuncOp> kernel = findKernel(module, name, options);
  if (failed(kernel))
    return failure();
  return Simulated{*kernel, {}};
}

/// The target that the kernel's schedule names, or null.
static const Target *findTarget(gpu::GPUFuncOp kernel) {
  auto schedule = kernel->getAttrOfType<attn::ScheduleAttr>("attn.schedule");
  return schedule ? Target::lookup(schedule.getTarget()) : nullptr;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// A tensor by what compiled code takes for it.
static sim::MemRefArgument makeMemRef(ShapedType type,
                                      ArrayRef<int64_t> descriptor) {
  sim::MemRefArgument argument;
  size_t rank = type.getRank();
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  auto *base = reinterpret_cast<char *>(descriptor[1]);
  argument.data = base + descriptor[2] * ((bits + 7) / 8);
  argument.sizes.assign(descriptor.slice(3, rank).begin(),
                        descriptor.slice(3, rank).end());
  argument.strides.assign(descriptor.slice(3 + rank, rank).begin(),
                          descriptor.slice(3 + rank, rank).end());
  return argument;
}

/// A scalar by its bits.
static sim::Argument makeScalar(Type type, uint64_t bits) {
  if (!isa<FloatType>(type))
    return int64_t(bits);
  auto floatType = cast<FloatType>(type);
  APFloat value(floatType.getFloatSemantics(),
                APInt(floatType.getWidth(), bits));
  return float(value.convertToDouble());
}

/// An argument as compiled code takes it.
static sim::Argument makeArgument(Type type, void *pointer) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return makeScalar(type, *static_cast<uint64_t *>(pointer));
  const auto *words = *static_cast<int64_t **>(pointer);
  return sim::Argument(
      makeMemRef(shaped, ArrayRef(words, 3 + 2 * size_t(shaped.getRank()))));
}

/// The types of what `simulated` takes: inputs, then outputs.
static SmallVector<Type> argumentTypes(const Simulated &simulated) {
  gpu::GPUFuncOp kernel = simulated.kernel;
  func::FuncOp plan = simulated.plan;
  if (!plan)
    return SmallVector<Type>(kernel.getArgumentTypes());
  SmallVector<Type> types(plan.getArgumentTypes());
  llvm::append_range(types, plan.getResultTypes());
  return types;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static sim::Options simulationOptions(const Options &options,
                                      const Target *target) {
  sim::Options simulation;
  simulation.seed = options.simSeed;
  simulation.blocks = options.simBlocks;
  simulation.target = options.simTarget ? options.simTarget : target;
  return simulation;
}

static void printTime(const llvm::Twine &what,
                      const sim::Statistics &statistics) {
  llvm::outs() << what
               << llvm::format("blocks %lld, the longest %.0f cycles\n",
                               (long long)statistics.blocks,
                               statistics.longestBlock);
}

/// Runs the kernels of `plan` as the command line says.
static LogicalResult runPlan(func::FuncOp plan,
                             ArrayRef<sim::Argument> arguments,
                             const Options &options) {
  // All kernels of a plan are for one GPU.
  const Target *target = nullptr;
  for (gpu::GPUFuncOp kernel : getKernels(plan->getParentOfType<ModuleOp>()))
    target = findTarget(kernel);
  FailureOr<std::vector<sim::LaunchStatistics>> launches =
      sim::simulatePlan(plan, arguments, simulationOptions(options, target));
  if (failed(launches))
    return failure();
  for (const sim::LaunchStatistics &launch : *launches)
    if (options.time)
      printTime(launch.kernel + ": ", launch.statistics);
  return success();
}

/// Runs `kernel` as the command line says, and writes the time line.
static LogicalResult runKernel(gpu::GPUFuncOp kernel,
                               ArrayRef<sim::Argument> arguments,
                               const Options &options) {
  sim::Trace trace;
  sim::Options simulation = simulationOptions(options, findTarget(kernel));
  if (!options.simTrace.empty())
    simulation.trace = &trace;
  FailureOr<sim::Statistics> statistics =
      sim::simulate(kernel, arguments, simulation);
  if (simulation.trace) {
    std::error_code error;
    llvm::raw_fd_ostream stream(options.simTrace, error);
    if (error)
      return kernel.emitError("cannot write ")
             << options.simTrace << ": " << error.message();
    trace.write(stream);
  }
  if (failed(statistics))
    return failure();
  if (options.time)
    printTime("", *statistics);
  return success();
}

llvm::Expected<Outputs>
fa::run::simulateProblem(const Simulated &simulated,
                         const AttentionFunction &problem, const Sizes &sizes,
                         Inputs &inputs, const Options &options) {
  gpu::GPUFuncOp kernel = simulated.kernel;
  func::FuncOp plan = simulated.plan;
  auto error = [&](const llvm::Twine &what) {
    return llvm::createStringError((plan ? "launch plan " + plan.getName()
                                         : "kernel " + kernel.getName()) +
                                   " " + what);
  };
  attn::ForwardOp forward = problem.forward;
  SmallVector<int64_t> lseShape = getLseShape(problem, sizes);
  SmallVector<int64_t> shape = lseShape;
  shape.push_back(forward.getHeadDimV());
  auto elementOf = [](Value value) {
    return getElementTypeOrSelf(value.getType());
  };
  Outputs outputs = {HostTensor(elementOf(forward.getO()), shape),
                     HostTensor(elementOf(forward.getLse()), lseShape)};
  MemRefDescriptor o = outputs.o.getDescriptor();
  MemRefDescriptor lse = outputs.lse.getDescriptor();
  void *oAddress = o.data(), *lseAddress = lse.data();
  SmallVector<void *> pointers = inputs.getArguments();
  pointers.append({&oAddress, &lseAddress});

  SmallVector<Type> types = argumentTypes(simulated);
  if (types.size() < pointers.size())
    return error("lacks arguments of the problem");
  SmallVector<sim::Argument> arguments;
  for (auto [type, pointer] : llvm::zip(types, pointers))
    arguments.push_back(makeArgument(type, pointer));
  LogicalResult done = plan ? runPlan(plan, arguments, options)
                            : runKernel(kernel, arguments, options);
  if (failed(done))
    return error("did not run to its end");
  return outputs;
}

LogicalResult fa::run::simulateProgram(gpu::GPUFuncOp kernel,
                                       ArrayRef<ProgramValue> inputs,
                                       std::vector<HostTensor> &outputs,
                                       const Options &options) {
  SmallVector<Type> types(kernel.getArgumentTypes());
  if (types.size() != inputs.size() + outputs.size())
    return kernel.emitError("expects ")
           << inputs.size() + outputs.size()
           << " arguments, those of the program and its results, found "
           << types.size();
  SmallVector<sim::Argument> arguments;
  for (auto [type, value] : llvm::zip(types, inputs)) {
    if (const auto *tensor = std::get_if<HostTensor>(&value))
      arguments.push_back(
          makeMemRef(cast<ShapedType>(type), tensor->getDescriptor()));
    else if (isa<FloatType>(type))
      arguments.push_back(float(std::get<double>(value)));
    else
      arguments.push_back(int64_t(std::get<double>(value)));
  }
  for (auto [type, tensor] :
       llvm::zip(llvm::drop_begin(types, inputs.size()), outputs))
    arguments.push_back(
        makeMemRef(cast<ShapedType>(type), tensor.getDescriptor()));
  return runKernel(kernel, arguments, options);
}

/// Whether `kernel` stores to its argument.
static bool isStoredTo(Value argument) {
  return llvm::any_of(argument.getUsers(), [&](Operation *user) {
    auto store = dyn_cast<cta::StoreOp>(user);
    return store && store.getDestination() == argument;
  });
}

LogicalResult fa::run::simulateAlone(gpu::GPUFuncOp kernel,
                                     const Options &options) {
  std::deque<std::pair<unsigned, HostTensor>> tensors;
  SmallVector<sim::Argument> arguments;
  for (BlockArgument argument : kernel.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type) {
      auto given = options.inputs.scalars.find(number);
      bool isGiven = given != options.inputs.scalars.end();
      double value = isGiven ? given->second : 1;
      if (isa<FloatType>(argument.getType()))
        arguments.push_back(float(value));
      else
        arguments.push_back(int64_t(value));
      continue;
    }
    auto element = dyn_cast<FloatType>(type.getElementType());
    if (!element || !type.hasStaticShape())
      return kernel.emitError("a kernel without --reference has static tensors "
                              "of floats, found ")
             << type;
    HostTensor &tensor =
        tensors.emplace_back(number, HostTensor(element, type.getShape()))
            .second;
    for (int64_t i = 0; !isStoredTo(argument) && i < tensor.getNumElements();
         ++i)
      tensor.store(i, drawNormal(getStream(options.inputs, number), i));
    arguments.push_back(makeMemRef(type, tensor.getDescriptor()));
  }
  if (failed(runKernel(kernel, arguments, options)))
    return failure();
  for (auto &[number, tensor] : tensors)
    if (isStoredTo(kernel.getArgument(number)))
      printSummary("argument " + std::to_string(number), tensor);
  return success();
}
