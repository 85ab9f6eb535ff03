//===- Extras.cpp - What regions read beside q, k and v -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extras.h"

#include "fa/Support/ArgumentNames.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace fa;

/// The most dimensions that the runtime passes.
static constexpr int64_t kMaxRank = 4;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The size below which `index` stays as a position of the score or the mask:
/// "batch", ...; "" for other indices.
static StringRef sizeOf(Value index, attn::ForwardOp op) {
  static constexpr StringLiteral names[] = {"batch", "heads", "seq_q",
                                            "seq_kv"};
  auto argument = dyn_cast<BlockArgument>(index);
  for (Region *region : {&op.getScoreRegion(), &op.getMaskRegion()}) {
    if (!argument || region->empty() || argument.getOwner() != &region->front())
      continue;
    // The score itself comes before the positions.
    unsigned first = region->getNumArguments() - std::size(names);
    if (argument.getArgNumber() < first)
      return "";
    StringRef name = names[argument.getArgNumber() - first];
    // Positions in packed sequences count from the start of each.
    return op.isPacked() && name != "heads" ? "" : name;
  }
  return "";
}

/// The manifest's `sizes` of a tensor.
static llvm::json::Array describeSizes(BlockArgument argument,
                                       attn::ForwardOp op) {
  auto type = cast<RankedTensorType>(argument.getType());
  llvm::json::Array sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    llvm::json::Array rules;
    if (!type.isDynamicDim(dim))
      rules.push_back(type.getDimSize(dim));
    llvm::SmallSetVector<StringRef, 4> names;
    for (Operation *user : argument.getUsers())
      if (auto read = dyn_cast<tensor::ExtractOp>(user))
        names.insert(sizeOf(read.getIndices()[dim], op));
    for (StringRef name : {"batch", "heads", "seq_q", "seq_kv"})
      if (names.contains(name))
        rules.push_back(name);
    sizes.push_back(std::move(rules));
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// "bf16", "i32" and so on.
static std::string str(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Refuses tensors that kernels cannot take, or not read so.
static LogicalResult checkTensor(BlockArgument argument, StringRef name) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || type.getRank() > kMaxRank)
    return mlir::emitError(argument.getLoc(), "argument ")
           << name << " is " << argument.getType()
           << ": kernels take tensors of at most " << kMaxRank << " dimensions";
  Type element = type.getElementType();
  if (!element.isInteger(32) && !element.isF32() && !element.isF16() &&
      !element.isBF16())
    return mlir::emitError(argument.getLoc(), "argument ")
           << name << " has elements of type " << element
           << ": kernels read i32, f32, f16 and bf16";
  for (Operation *user : argument.getUsers())
    if (!isa<tensor::ExtractOp, tensor::DimOp>(user))
      return user->emitOpError("uses argument ")
             << name << ": kernels read single elements of tensors beside q, k "
             << "and v";
  return success();
}

FailureOr<llvm::json::Object> fa::describeExtra(BlockArgument argument,
                                                attn::ForwardOp op) {
  std::string name = nameOf(argument);
  Type type = argument.getType();
  if (argument.use_empty())
    return mlir::emitError(argument.getLoc(), "argument ")
           << name << " is none of q, k, v and scale, and nothing reads it";
  for (StringRef known :
       {"q", "k", "v", "o", "lse", "scale", "batch", "heads", "kv_heads",
        "seq_q", "seq_kv", "kv_lens", "cu_seqlens_q", "cu_seqlens_kv"})
    if (name == known)
      return mlir::emitError(argument.getLoc(), "argument ")
             << name << " is not the attention's " << known
             << ": it needs another name";
  if (isa<TensorType>(type)) {
    if (failed(checkTensor(argument, name)))
      return failure();
    auto tensor = cast<RankedTensorType>(type);
    return llvm::json::Object{{"kind", "tensor"},
                              {"name", name},
                              {"dtype", str(tensor.getElementType())},
                              {"rank", tensor.getRank()},
                              {"sizes", describeSizes(argument, op)}};
  }
  if (!type.isF32() && !type.isInteger(32) && !type.isIndex())
    return mlir::emitError(argument.getLoc(), "argument ")
           << name << " is " << type
           << ": scalars of kernels are f32, i32 or index";
  return llvm::json::Object{
      {"kind", "scalar"}, {"name", name}, {"dtype", str(type)}};
}
