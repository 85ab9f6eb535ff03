//===- RunProgram.cpp - fa-run on what is no attention --------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunProgram.h"

#include "Report.h"
#include "Simulate.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"
#include "fa/Execute/Compare.h"
#include "fa/Execute/Npy.h"
#include "fa/Execute/TensorProgram.h"
#include "fa/Support/ArgumentNames.h"
#include "fa/Support/Folders.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace fa;
using namespace fa::execute;
using namespace fa::run;

func::FuncOp fa::run::findProgram(ModuleOp module) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() != 1 || functions.front().isExternal() ||
      !attn::getSchedule(functions.front()))
    return {};
  bool hasAttention =
      functions.front()
          .walk([](attn::ForwardOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  return hasAttention ? func::FuncOp() : functions.front();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// The shape of a tensor argument: that of its type, or the given one.
static FailureOr<SmallVector<int64_t>> findShape(BlockArgument argument,
                                                 const Options &options) {
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto &[name, given] : options.shapes)
    if (isMeant(name, argument))
      shape.assign(given.begin(), given.end());
  if (ShapedType::isDynamicShape(shape))
    return emitError(argument.getLoc(), "argument ")
           << nameOf(argument) << " is " << type
           << ": --shape=" << nameOf(argument)
           << "=... or --input says how large";
  if (failed(verifyCompatibleShape(shape, type.getShape())))
    return emitError(argument.getLoc(), "argument ")
           << nameOf(argument) << " is " << type
           << ", which has not the shape that --shape or its file says";
  return shape;
}

/// A tensor argument from its file, or drawn.
static FailureOr<ProgramValue> makeTensor(BlockArgument argument,
                                          const Options &options) {
  auto type = cast<RankedTensorType>(argument.getType());
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element)
    return emitError(argument.getLoc(), "argument ")
           << nameOf(argument) << " is " << type
           << ": programs are run on tensors of floats";
  for (const InputFile &file : options.inputFiles) {
    if (!isMeant(file.argument, argument))
      continue;
    llvm::Expected<HostTensor> read = readNpy(file.file, element);
    if (!read)
      return emitError(argument.getLoc(), llvm::toString(read.takeError()));
    if (failed(verifyCompatibleShape(read->getShape(), type.getShape())))
      return emitError(argument.getLoc(), "argument ")
             << nameOf(argument) << " is " << type << ", which has not the "
             << "shape of " << file.file;
    return ProgramValue(std::move(*read));
  }
  FailureOr<SmallVector<int64_t>> shape = findShape(argument, options);
  if (failed(shape))
    return failure();
  HostTensor tensor(element, *shape);
  uint64_t stream = getStream(options.inputs, argument.getArgNumber());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.store(i, drawNormal(stream, i));
  return ProgramValue(std::move(tensor));
}

static FailureOr<ProgramValue> makeScalar(BlockArgument argument,
                                          const Options &options) {
  auto given = options.inputs.scalars.find(argument.getArgNumber());
  if (given != options.inputs.scalars.end())
    return ProgramValue(given->second);
  if (isa<FloatType>(argument.getType()))
    return ProgramValue(1.0);
  return emitError(argument.getLoc(), "argument ")
         << nameOf(argument) << " is " << argument.getType()
         << ": --arg=" << argument.getArgNumber() << "=... says its value";
}

/// Refuses an option that names no argument.
static LogicalResult checkNames(func::FuncOp source, const Options &options) {
  auto isKnown = [&](StringRef name) {
    return llvm::any_of(source.getArguments(), [&](BlockArgument argument) {
      return isMeant(name, argument);
    });
  };
  for (auto &[name, shape] : options.shapes)
    if (!isKnown(name))
      return source.emitError("--shape names no argument: ") << name;
  for (const InputFile &file : options.inputFiles)
    if (!isKnown(file.argument))
      return source.emitError("--input names no argument: ") << file.argument;
  for (auto &[number, value] : options.inputs.scalars)
    if (number >= source.getNumArguments() ||
        isa<ShapedType>(source.getArgument(number).getType()))
      return source.emitError("--arg names no scalar argument: ") << number;
  return success();
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Compiles `function` and runs it once.
static FailureOr<std::vector<HostTensor>>
runOnCPU(func::FuncOp function, bool wide, ArrayRef<ProgramValue> inputs) {
  FailureOr<TensorProgram> program = TensorProgram::compile(function, wide);
  if (failed(program))
    return failure();
  llvm::Expected<std::vector<HostTensor>> outputs = program->run(inputs);
  if (!outputs)
    return function.emitError(llvm::toString(outputs.takeError()));
  return std::move(*outputs);
}

/// Runs what passes left, whose results have the types and shapes of `naive`.
static FailureOr<std::vector<HostTensor>>
runLeft(func::FuncOp source, ModuleOp left, ArrayRef<ProgramValue> inputs,
        const std::vector<HostTensor> &naive, const Options &options) {
  if (!options.simulate) {
    auto function = left.lookupSymbol<func::FuncOp>(source.getName());
    if (!function || function.getFunctionType() != source.getFunctionType())
      return source.emitError("the passes left no function of the same type");
    return runOnCPU(function, /*wide=*/false, inputs);
  }
  FailureOr<gpu::GPUFuncOp> kernel =
      findKernel(left, source.getName(), options);
  if (failed(kernel))
    return failure();
  std::vector<HostTensor> first;
  Options next = options;
  for (uint64_t n = 0; n < options.simSeeds; ++n) {
    next.simSeed = options.simSeed + n;
    std::vector<HostTensor> outputs;
    for (const HostTensor &tensor : naive)
      outputs.emplace_back(tensor.getElementType(), tensor.getShape());
    if (failed(simulateProgram(*kernel, inputs, outputs, next)))
      return failure();
    if (n == 0)
      first = outputs;
    for (auto [one, other] : llvm::zip_equal(first, outputs))
      if (ArrayRef<char>(one.getBytes()) != ArrayRef<char>(other.getBytes()))
        return kernel->emitError("seed ")
               << next.simSeed << " gives other numbers than seed "
               << options.simSeed;
  }
  return first;
}

/// "result" alone, else "result0" and so on: the names that a manifest has.
static std::string nameResult(size_t number, size_t count) {
  return count == 1 ? "result" : "result" + std::to_string(number);
}

/// A rank-0 tensor of a scalar.
static HostTensor makeScalarTensor(MLIRContext *context, double value) {
  HostTensor tensor(Float64Type::get(context), {});
  tensor.store(0, value);
  return tensor;
}

/// Writes a case into the folder: each argument and result as NAME.npy, and
/// what results should be as NAME.reference.npy and NAME.naive.npy.
static LogicalResult writeCase(func::FuncOp source,
                               ArrayRef<ProgramValue> inputs,
                               const std::vector<HostTensor> &outputs,
                               const std::vector<HostTensor> &naive,
                               const std::vector<HostTensor> &reference,
                               StringRef folder) {
  if (std::error_code code = makeFolder(folder))
    return source.emitError("'") << folder << "': " << code.message();
  auto write = [&](const llvm::Twine &name, const HostTensor &tensor) {
    SmallString<128> file(folder);
    llvm::sys::path::append(file, name + ".npy");
    llvm::Error error = writeNpy(file, tensor);
    if (!error)
      return success();
    return LogicalResult(source.emitError(llvm::toString(std::move(error))));
  };
  for (auto [argument, value] :
       llvm::zip_equal(source.getArguments(), inputs)) {
    const auto *tensor = std::get_if<HostTensor>(&value);
    std::string name = nameOf(argument);
    if (failed(tensor ? write(name, *tensor)
                      : write(name, makeScalarTensor(source.getContext(),
                                                     std::get<double>(value)))))
      return failure();
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string name = nameResult(i, outputs.size());
    if (failed(write(name, outputs[i])) ||
        failed(write(name + ".naive", naive[i])) ||
        failed(write(name + ".reference", reference[i])))
      return failure();
  }
  return success();
}

LogicalResult fa::run::runProgram(func::FuncOp source, ModuleOp left,
                                  const Options &options) {
  // 1. The arguments.
  if (failed(checkNames(source, options)))
    return failure();
  std::vector<ProgramValue> inputs;
  for (BlockArgument argument : source.getArguments()) {
    FailureOr<ProgramValue> value = isa<TensorType>(argument.getType())
                                        ? makeTensor(argument, options)
                                        : makeScalar(argument, options);
    if (failed(value))
      return failure();
    inputs.push_back(std::move(*value));
  }

  // 2. The program as it is written, in f64, and as passes left it.
  FailureOr<std::vector<HostTensor>> naive =
      runOnCPU(source, /*wide=*/false, inputs);
  FailureOr<std::vector<HostTensor>> reference =
      runOnCPU(source, /*wide=*/true, inputs);
  if (failed(naive) || failed(reference))
    return failure();
  FailureOr<std::vector<HostTensor>> outputs =
      runLeft(source, left, inputs, *naive, options);
  if (failed(outputs))
    return failure();

  // 3. What came of it.
  bool passed = true;
  for (size_t i = 0; i < outputs->size(); ++i) {
    std::string name = nameResult(i, outputs->size());
    if (!options.check) {
      printSummary(name, (*outputs)[i]);
      continue;
    }
    Comparison result =
        compareTensors((*outputs)[i], (*reference)[i], (*naive)[i]);
    printComparison(name, result);
    passed &= result.passed();
  }
  if (!options.outputFolder.empty() &&
      failed(writeCase(source, inputs, *outputs, *naive, *reference,
                       options.outputFolder)))
    return failure();
  return success(passed);
}
