//===- Program.cpp - Kernels that are no attention ------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"
#include "fa/Support/ArgumentNames.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace fa;

/// The most dimensions that the runtime passes.
static constexpr int64_t kMaxRank = 4;

bool fa::isProgram(func::FuncOp function) {
  return !function.isExternal() && attn::getSchedule(function).has_value();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// "bf16" and so on.
static std::string nameOfType(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

/// Refuses tensors that kernels of programs cannot take.
static LogicalResult checkTensor(Location loc, StringRef name, Type given) {
  auto type = dyn_cast<RankedTensorType>(given);
  if (!type || type.getRank() > kMaxRank)
    return mlir::emitError(loc)
           << name << " is " << given << ": kernels take tensors of at most "
           << kMaxRank << " dimensions";
  Type element = type.getElementType();
  if (!element.isInteger(32) && !element.isF32() && !element.isF16() &&
      !element.isBF16())
    return mlir::emitError(loc) << name << " has elements of type " << element
                                << ": kernels take i32, f32, f16 and bf16";
  // Tiles end with the rows that there are, but nothing ends a tile's columns.
  if (type.getRank() > 1 && type.isDynamicDim(type.getRank() - 1))
    return mlir::emitError(loc)
           << name << " is " << given
           << ": the last dimension of a kernel's matrices is static";
  return success();
}

/// The manifest's entry of a tensor, whose dynamic dimensions have the sizes
/// that `sizeOf` says.
static llvm::json::Object
describeTensor(StringRef name, RankedTensorType type,
               function_ref<llvm::json::Value(int64_t)> sizeOf) {
  llvm::json::Array sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(type.isDynamicDim(dim) ? sizeOf(dim)
                                           : type.getDimSize(dim));
  return llvm::json::Object{{"kind", "tensor"},
                            {"name", name.str()},
                            {"dtype", nameOfType(type.getElementType())},
                            {"sizes", std::move(sizes)}};
}

static FailureOr<llvm::json::Object> describeArgument(BlockArgument argument) {
  std::string name = nameOf(argument);
  Type type = argument.getType();
  if (type.isF32() || type.isInteger(32) || type.isIndex())
    return llvm::json::Object{
        {"kind", "scalar"}, {"name", name}, {"dtype", nameOfType(type)}};
  if (!isa<TensorType>(type))
    return mlir::emitError(argument.getLoc(), "argument ")
           << name << " is " << type
           << ": scalars of kernels are f32, i32 or index";
  if (failed(checkTensor(argument.getLoc(), "argument " + name, type)))
    return failure();
  return describeTensor(name, cast<RankedTensorType>(type),
                        [](int64_t) { return "any"; });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The argument's dimension whose size `size` is; a null one where it is none.
static std::pair<BlockArgument, int64_t> findDim(Value size) {
  auto dim = size.getDefiningOp<tensor::DimOp>();
  auto argument =
      dim ? dyn_cast<BlockArgument>(dim.getSource()) : BlockArgument();
  std::optional<int64_t> index =
      dim ? getConstantIntValue(dim.getIndex()) : std::nullopt;
  if (!argument || !index)
    return {BlockArgument(), 0};
  return {argument, *index};
}

/// The manifest's entry of a result: its dynamic sizes are those of arguments,
/// as the `tensor.empty` that `loop` writes into says.
static FailureOr<llvm::json::Object>
describeResult(Value value, scf::ForallOp loop, StringRef name) {
  if (failed(checkTensor(value.getLoc(), name, value.getType())))
    return failure();
  auto result = dyn_cast<OpResult>(value);
  auto empty = result && result.getOwner() == loop
                   ? loop.getTiedOpOperand(result)
                         ->get()
                         .getDefiningOp<tensor::EmptyOp>()
                   : tensor::EmptyOp();
  if (!empty)
    return mlir::emitError(value.getLoc())
           << name << " is not made by the scf.forall in a tensor.empty";
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim) && !findDim(empty.getDynamicSize(dim)).first)
      return empty.emitError()
             << "dimension " << dim << " of " << name
             << " is no size of an argument, so a launch could not know it";
  llvm::json::Object entry = describeTensor(name, type, [&](int64_t dim) {
    auto [argument, index] = findDim(empty.getDynamicSize(dim));
    return llvm::json::Object{{"tensor", nameOf(argument)}, {"dim", index}};
  });
  entry["output"] = true;
  return entry;
}

FailureOr<KernelSpec> fa::makeProgramSpec(func::FuncOp function) {
  auto loops = llvm::to_vector(function.getBody().getOps<scf::ForallOp>());
  if (loops.size() != 1)
    return function.emitError("a program is one scf.forall over tiles, found ")
           << loops.size();
  KernelSpec spec;
  spec.isProgram = true;
  spec.function = function.getName().str();
  spec.teamWarps = attn::getSchedule(function)->warps;
  llvm::StringSet<> names;
  auto add = [&](FailureOr<llvm::json::Object> entry) -> LogicalResult {
    if (failed(entry))
      return failure();
    std::string name = entry->getString("name")->str();
    if (!names.insert(name).second)
      return function.emitError("two arguments or results have the name ")
             << name;
    spec.params.push_back(name);
    spec.entries.push_back(std::move(*entry));
    return success();
  };
  for (BlockArgument argument : function.getArguments())
    if (failed(add(describeArgument(argument))))
      return failure();
  auto results = function.getBody().front().getTerminator()->getOperands();
  for (auto [number, result] : llvm::enumerate(results)) {
    std::string name = "result";
    if (results.size() > 1)
      name += std::to_string(number);
    if (failed(add(describeResult(result, loops.front(), name))))
      return failure();
  }
  printFunction(function, spec);
  return spec;
}
