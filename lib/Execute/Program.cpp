//===- Program.cpp - A problem, compiled with its references -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Program.h"

#include "Positions.h"

#include "fa/Execute/HostMemory.h"
#include "fa/Execute/Lowering.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/ThreadPool.h"

#include <atomic>
#include <chrono>
#include <ctime>

using namespace mlir;
using namespace fa;
using namespace fa::execute;

/// No function of a file can have these names.
static constexpr llvm::StringLiteral kDoubleName = "fa.reference.f64";
static constexpr llvm::StringLiteral kNaiveName = "fa.reference.naive";

/// Into how many parts a reference is cut.
static constexpr int64_t kParts = 64;

/// The words of a memref descriptor.
static constexpr size_t getDescriptorWords(size_t rank) { return 3 + 2 * rank; }

Program::Program(const AttentionFunction &problem, StringRef name)
    : name(name) {
  attn::ForwardOp forward = problem.forward;
  auto type = forward.getO().getType();
  element = cast<FloatType>(type.getElementType());
  headDimV = forward.getHeadDimV();
  lseRank = forward.getLse().getType().getRank();
}

LogicalResult Program::addReferences(const AttentionFunction &problem,
                                     ModuleOp references) {
  if (failed(
          buildReference(problem, references, kDoubleName, Precision::Double)))
    return failure();
  Program program(problem, "");
  if (!program.hasNaive())
    return success();
  return failure(failed(
      buildReference(problem, references, kNaiveName, Precision::Naive)));
}

FailureOr<Program> Program::compile(const AttentionFunction &problem,
                                    ModuleOp kernel, StringRef name,
                                    ModuleOp references, CodeOptions options) {
  // 1. One module with all functions, each of which C++ can call.
  Program program(problem, name);
  if (failed(lowerToLevelC(kernel)))
    return failure();
  kernel.getBody()->getOperations().splice(
      kernel.getBody()->end(), references.getBody()->getOperations());
  Attribute unit = UnitAttr::get(kernel.getContext());
  for (auto function : kernel.getOps<func::FuncOp>())
    if (!function.isExternal())
      function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), unit);

  // 2. Upstream's way down, and machine code.
  PassManager manager(kernel.getContext());
  if (failed(applyPassManagerCLOptions(manager)))
    return failure();
  buildCPUPipeline(manager, options.parallel);
  if (failed(manager.run(kernel)))
    return failure();
  llvm::Expected<Jit> jit = Jit::compile(kernel, options.optimize);
  if (!jit)
    return kernel.emitError("could not be compiled: ")
           << llvm::toString(jit.takeError());
  if (llvm::Error error = jit->lookup(name).takeError())
    return kernel.emitError("could not be linked: ")
           << llvm::toString(std::move(error));
  program.jit = std::move(*jit);
  program.parallel = options.parallel;
  return program;
}

FailureOr<Program> Program::compileReferences(const AttentionFunction &problem,
                                              ModuleOp references,
                                              CodeOptions options) {
  OwningOpRef<ModuleOp> empty = ModuleOp::create(references.getLoc());
  return compile(problem, *empty, kDoubleName, references, options);
}

llvm::Expected<Outputs> Program::runKernel(Inputs &inputs, RunTime &taken) {
  size_t oWords = getDescriptorWords(lseRank + 1);
  size_t lseWords = getDescriptorWords(lseRank);
  // A struct of two descriptors, which the call fills.
  MemRefDescriptor results(oWords + lseWords);
  void *address = results.data();
  SmallVector<void *> arguments = {&address};
  llvm::append_range(arguments, inputs.getArguments());

  llvm::Expected<Jit::Function> function = jit.lookup(name);
  if (!function)
    return function.takeError();
  auto start = std::chrono::steady_clock::now();
  std::clock_t cpuStart = std::clock();
  (*function)(arguments.data());
  std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  taken.wall = wall.count();
  taken.cpu = double(std::clock() - cpuStart) / CLOCKS_PER_SEC;

  ArrayRef<int64_t> words(results);
  Outputs outputs = {HostTensor(element, lseRank + 1, words.take_front(oWords)),
                     HostTensor(Float32Type::get(element.getContext()), lseRank,
                                words.take_back(lseWords))};
  memory::release(reinterpret_cast<void *>(words[0]));
  memory::release(reinterpret_cast<void *>(words[oWords]));
  return outputs;
}

llvm::Expected<Outputs> Program::runReference(Inputs &inputs,
                                              ArrayRef<int64_t> lseShape,
                                              Precision precision,
                                              const PartDone &partDone) {
  auto f64 = Float64Type::get(element.getContext());
  SmallVector<int64_t> shape(lseShape);
  shape.push_back(headDimV);
  Outputs outputs = {HostTensor(f64, shape), HostTensor(f64, lseShape)};
  MemRefDescriptor o = outputs.o.getDescriptor();
  MemRefDescriptor lse = outputs.lse.getDescriptor();
  void *oAddress = o.data(), *lseAddress = lse.data();
  SmallVector<void *> common = inputs.getArguments();
  common.append({&oAddress, &lseAddress});
  llvm::Expected<Jit::Function> function =
      jit.lookup(precision == Precision::Double ? kDoubleName : kNaiveName);
  if (!function)
    return function.takeError();

  positions::reset();
  // Each part is every so manyth row, so that all take about as long.
  int64_t total = parallel ? kParts : 1;
  std::atomic<int64_t> done{0};
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(parallel ? 0 : 1));
  for (int64_t part = 0; part < total; ++part)
    pool.async([&, part] {
      int64_t first = part;
      SmallVector<void *> arguments(common);
      arguments.append({&first, &total});
      (*function)(arguments.data());
      if (partDone)
        partDone(++done, total);
    });
  pool.wait();
  if (std::string outside = positions::getMessage(); !outside.empty())
    return llvm::createStringError(outside);
  return outputs;
}
