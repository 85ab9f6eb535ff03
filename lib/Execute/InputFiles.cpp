//===- InputFiles.cpp - Arguments from files -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/InputFiles.h"

#include "fa/Execute/Npy.h"
#include "fa/Support/ArgumentNames.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace fa;
using namespace fa::execute;

/// The operand of attn.forward that has this name; null where there is none.
static Value findOperand(attn::ForwardOp forward, StringRef name) {
  return llvm::StringSwitch<Value>(name)
      .Case("q", forward.getQ())
      .Case("k", forward.getK())
      .Case("v", forward.getV())
      .Case("cu_seqlens_q", forward.getCuSeqlensQ())
      .Case("cu_seqlens_kv", forward.getCuSeqlensKV())
      .Case("kv_lens", forward.getKvLens())
      .Default({});
}

/// The argument with this name or number.
static FailureOr<BlockArgument> findArgument(const AttentionFunction &problem,
                                             StringRef name) {
  func::FuncOp function = problem.function;
  if (Value operand = findOperand(problem.forward, name))
    return cast<BlockArgument>(operand);
  for (BlockArgument argument : function.getArguments())
    if (isMeant(name, argument))
      return argument;
  return function.emitError("there is no argument '")
         << name << "', for which --input has a file: it may be q, k, v, "
         << "cu_seqlens_q, cu_seqlens_kv or kv_lens, where the problem has it, "
         << "the name of an argument in the file, or a number below "
         << function.getNumArguments();
}

/// Checks that the argument's type allows the shape of its file.
static LogicalResult checkShape(BlockArgument argument,
                                const GivenTensor &given) {
  auto type = cast<RankedTensorType>(argument.getType());
  ArrayRef<int64_t> shape = given.tensor.getShape();
  if (succeeded(verifyCompatibleShape(type.getShape(), shape)))
    return success();
  InFlightDiagnostic error = emitError(argument.getLoc());
  error << "argument " << argument.getArgNumber() << " is " << type << ", and '"
        << given.file << "' holds a shape of (";
  llvm::interleaveComma(shape, error);
  return error << ")";
}

static LogicalResult readInputFile(const AttentionFunction &problem,
                                   const InputFile &file,
                                   InputOptions &options) {
  FailureOr<BlockArgument> argument = findArgument(problem, file.argument);
  if (failed(argument))
    return failure();
  unsigned number = argument->getArgNumber();
  auto type = dyn_cast<RankedTensorType>(argument->getType());
  if (!type || !isHostElement(type.getElementType()))
    return emitError(argument->getLoc(), "argument ")
           << number << " of type " << argument->getType()
           << " cannot come from a file";
  if (options.tensors.count(number))
    return emitError(argument->getLoc(), "argument ")
           << number << " has two files, '" << options.tensors.at(number).file
           << "' and '" << file.file << "'";
  llvm::Expected<HostTensor> tensor = readNpy(file.file, type.getElementType());
  if (!tensor)
    return emitError(argument->getLoc(), "argument ")
           << number << " has no value: " << llvm::toString(tensor.takeError());
  GivenTensor given{std::move(*tensor), file.file};
  if (failed(checkShape(*argument, given)))
    return failure();
  options.tensors.emplace(number, std::move(given));
  return success();
}

LogicalResult fa::execute::readInputFiles(const AttentionFunction &problem,
                                          ArrayRef<InputFile> files,
                                          InputOptions &options) {
  for (const InputFile &file : files)
    if (failed(readInputFile(problem, file, options)))
      return failure();
  return success();
}
