//===- TensorProgram.cpp - Any function on tensors, on the CPU ------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/TensorProgram.h"

#include "WidenFunction.h"

#include "fa/Execute/HostMemory.h"
#include "fa/Execute/Lowering.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"

#include <cstring>

using namespace mlir;
using namespace fa;
using namespace fa::execute;

/// The words of a memref descriptor.
static size_t getDescriptorWords(Type type) {
  return 3 + 2 * size_t(cast<RankedTensorType>(type).getRank());
}

FailureOr<TensorProgram> TensorProgram::compile(func::FuncOp function,
                                                bool wide) {
  // 1. The function in a module of its own, which C++ can call.
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  OpBuilder builder(module->getBodyRegion());
  auto copy = cast<func::FuncOp>(builder.clone(*function));
  copy->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  copy->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                builder.getUnitAttr());
  if (wide && failed(widenFunction(copy)))
    return failure();
  TensorProgram program;
  program.name = copy.getName().str();
  program.arguments.assign(copy.getArgumentTypes().begin(),
                           copy.getArgumentTypes().end());
  program.results.assign(copy.getResultTypes().begin(),
                         copy.getResultTypes().end());

  // 2. Upstream's way down, and machine code.
  PassManager manager(module->getContext());
  if (failed(applyPassManagerCLOptions(manager)))
    return failure();
  buildCPUPipeline(manager, /*parallel=*/false);
  if (failed(manager.run(*module)))
    return failure();
  llvm::Expected<Jit> jit = Jit::compile(*module, /*optimize=*/true);
  if (!jit)
    return function.emitError("could not be compiled: ")
           << llvm::toString(jit.takeError());
  program.jit = std::move(*jit);
  return program;
}

/// `tensor` with elements of `element`.
static HostTensor convert(const HostTensor &tensor, Type element) {
  HostTensor result(element, tensor.getShape());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (isa<FloatType>(element))
      result.store(i, tensor.load(i));
    else
      result.storeInteger(i, tensor.loadInteger(i));
  return result;
}

/// The bits of a scalar of `type`.
static uint64_t getBits(Type type, double value) {
  uint64_t bits = 0;
  if (!isa<FloatType>(type))
    return uint64_t(int64_t(value));
  if (type.isF64()) {
    std::memcpy(&bits, &value, sizeof(value));
    return bits;
  }
  auto narrow = float(value);
  std::memcpy(&bits, &narrow, sizeof(narrow));
  return bits;
}

llvm::Expected<std::vector<HostTensor>>
TensorProgram::run(ArrayRef<ProgramValue> inputs) {
  // 1. Results come first, in one struct of descriptors, which the call fills.
  size_t words = 0;
  for (Type type : results)
    words += getDescriptorWords(type);
  MemRefDescriptor filled(words);
  void *address = filled.data();
  SmallVector<void *> pointers = {&address};

  // 2. Then the arguments: descriptors by the addresses of their addresses.
  std::vector<HostTensor> tensors;
  std::vector<MemRefDescriptor> descriptors(inputs.size());
  std::vector<void *> addresses(inputs.size());
  std::vector<uint64_t> scalars(inputs.size());
  tensors.reserve(inputs.size());
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (const auto *scalar = std::get_if<double>(&input)) {
      scalars[i] = getBits(arguments[i], *scalar);
      pointers.push_back(&scalars[i]);
      continue;
    }
    Type element = cast<RankedTensorType>(arguments[i]).getElementType();
    tensors.push_back(convert(std::get<HostTensor>(input), element));
    descriptors[i] = tensors.back().getDescriptor();
    addresses[i] = descriptors[i].data();
    pointers.push_back(&addresses[i]);
  }
  llvm::Expected<Jit::Function> function = jit.lookup(name);
  if (!function)
    return function.takeError();
  (*function)(pointers.data());

  // 3. Copies of what it made.
  std::vector<HostTensor> outputs;
  ArrayRef<int64_t> rest(filled);
  for (Type type : results) {
    auto tensor = cast<RankedTensorType>(type);
    ArrayRef<int64_t> descriptor = rest.take_front(getDescriptorWords(type));
    rest = rest.drop_front(descriptor.size());
    outputs.emplace_back(tensor.getElementType(), tensor.getRank(), descriptor);
    memory::release(reinterpret_cast<void *>(descriptor[0]));
  }
  return outputs;
}
