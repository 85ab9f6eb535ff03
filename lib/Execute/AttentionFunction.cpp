//===- AttentionFunction.cpp - Finding the problem in a file -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/AttentionFunction.h"

using namespace mlir;
using namespace fa;
using namespace fa::execute;

unsigned AttentionFunction::getArgumentNumber(Value operand) const {
  return cast<BlockArgument>(operand).getArgNumber();
}

FailureOr<func::FuncOp> fa::execute::findFunction(ModuleOp module) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() != 1)
    return module.emitError("the file must hold one func.func, found ")
           << functions.size();
  if (functions.front().isExternal())
    return functions.front().emitError("the function must have a body");
  return functions.front();
}

/// Checks that `value` is an argument of `function`.
static LogicalResult checkArgument(func::FuncOp function, Value value,
                                   StringRef name) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == &function.getBody().front())
    return success();
  return emitError(value.getLoc(), name)
         << " of attn.forward must be an argument of the function";
}

/// Checks that only `terminator` uses `result`: what is run and what it is
/// compared with hold nothing else that could.
static LogicalResult checkUses(Operation *terminator, Value result,
                               StringRef name) {
  for (Operation *user : result.getUsers())
    if (user != terminator)
      return user->emitError(name)
             << " of attn.forward may only be returned, found a use in "
             << user->getName();
  return success();
}

FailureOr<AttentionFunction> fa::execute::findAttention(ModuleOp module) {
  FailureOr<func::FuncOp> function = findFunction(module);
  if (failed(function))
    return failure();
  SmallVector<attn::ForwardOp> ops;
  function->walk([&](attn::ForwardOp op) { ops.push_back(op); });
  if (ops.size() != 1)
    return function->emitError(
               "the function must hold one attn.forward, found ")
           << ops.size();
  attn::ForwardOp forward = ops.front();
  if (forward->getParentOp() != function->getOperation())
    return forward.emitError("attn.forward must be at the top of the function");
  if (failed(checkArgument(*function, forward.getQ(), "q")) ||
      failed(checkArgument(*function, forward.getK(), "k")) ||
      failed(checkArgument(*function, forward.getV(), "v")))
    return failure();
  for (auto [name, lengths] :
       {std::pair("cu_seqlens", forward.getCuSeqlensQ()),
        std::pair("cu_seqlens", forward.getCuSeqlensKV()),
        std::pair("kv_lens", forward.getKvLens())})
    if (lengths && failed(checkArgument(*function, lengths, name)))
      return failure();
  Operation *terminator = function->getBody().front().getTerminator();
  if (!isa<func::ReturnOp>(terminator) ||
      !llvm::equal(terminator->getOperands(), forward->getResults()))
    return terminator->emitError(
        "the function must return o and lse of attn.forward, in this order");
  if (failed(checkUses(terminator, forward.getO(), "o")) ||
      failed(checkUses(terminator, forward.getLse(), "lse")))
    return failure();
  return AttentionFunction{*function, forward};
}
