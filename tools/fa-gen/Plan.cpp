//===- Plan.cpp - Launch plans in the manifest ----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan is read backwards: what is returned names the outputs, what else is
// written the workspaces, and index arithmetic becomes names of sizes.
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include "Figures.h"

#include "fa/Dialect/Cta/IR/Cta.h"
#include "fa/Dialect/Cta/IR/LaunchPlan.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fa;

/// The most parts that keys are split into, as `--split-kv` has it.
static constexpr int64_t kMaxSplits = 128;

namespace {
class PlanWriter {
public:
  PlanWriter(func::FuncOp plan, const KernelSpec &spec, DictionaryAttr figures)
      : plan(plan), spec(spec), figures(figures) {
    // --split-kv adds its argument behind those of the problem.
    unsigned known = spec.params.size() - plan.getNumResults();
    if (plan.getNumArguments() > known)
      splits = plan.getArgument(known);
  }

  LogicalResult run(int64_t splitKeys, llvm::json::Object &entry);

private:
  void nameOutputs();
  FailureOr<llvm::json::Object> describeLaunch(func::CallOp call);
  FailureOr<std::string> nameOf(Value value);
  FailureOr<std::string> nameWorkspace(tensor::EmptyOp empty);
  std::string sizeName(Value value);
  std::optional<llvm::json::Value> describeSize(OpFoldResult size);

  func::FuncOp plan;
  const KernelSpec &spec;
  DictionaryAttr figures;
  BlockArgument splits; ///< the number of parts of the keys; null: one
  /// What the caller gives for a `tensor.empty`: "o", "lse".
  llvm::DenseMap<Operation *, std::string> outputs;
  llvm::DenseMap<Operation *, std::string> workspaceNames;
  llvm::json::Array workspaces;
};
} // namespace

/// The argument or `tensor.empty` that `value` is, through the calls that wrote
/// it.
static Value originOf(Value value) {
  while (true) {
    if (auto retyped = value.getDefiningOp<tensor::CastOp>())
      value = retyped.getSource();
    else if (value.getDefiningOp<func::CallOp>())
      value = cta::getDestination(cast<OpResult>(value));
    else
      return value;
  }
}

void PlanWriter::nameOutputs() {
  Operation *ret = plan.getBody().front().getTerminator();
  ArrayRef<std::string> names =
      ArrayRef(spec.params).take_back(ret->getNumOperands());
  for (auto [value, name] : llvm::zip_equal(ret->getOperands(), names)) {
    if (Operation *op = originOf(value).getDefiningOp())
      outputs.try_emplace(op, name);
  }
}

/// The manifest's name of an index: "seq_q", ...; "" where it has none.
std::string PlanWriter::sizeName(Value value) {
  static constexpr StringLiteral q[] = {"batch", "heads", "seq_q"};
  static constexpr StringLiteral kv[] = {"batch", "kv_heads", "seq_kv"};
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument == splits ? "splits" : "";
  if (auto dim = value.getDefiningOp<tensor::DimOp>()) {
    auto argument = dyn_cast<BlockArgument>(dim.getSource());
    std::optional<int64_t> number = dim.getConstantIndex();
    if (!argument || !number || *number > 2)
      return "";
    StringRef name = spec.params[argument.getArgNumber()];
    if (name == "q")
      return q[*number].str();
    return name == "k" || name == "v" ? kv[*number].str() : "";
  }
  return "";
}

/// A size of a workspace: a number, a name, or a number of blocks and what is
/// added to it; nothing where it is something else.
std::optional<llvm::json::Value> PlanWriter::describeSize(OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return llvm::json::Value(*constant);
  Value value = cast<Value>(size);
  if (std::string name = sizeName(value); !name.empty())
    return llvm::json::Value(name);
  int64_t plus = 0;
  if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
    plus = getConstantIntValue(getAsOpFoldResult(sum.getRhs())).value_or(0);
    value = sum.getLhs();
  }
  auto blocks = value.getDefiningOp<arith::CeilDivUIOp>();
  if (!blocks)
    return std::nullopt;
  std::optional<int64_t> tile =
      getConstantIntValue(getAsOpFoldResult(blocks.getRhs()));
  std::string name = sizeName(blocks.getLhs());
  if (!tile || name.empty())
    return std::nullopt;
  return llvm::json::Object{{"size", name}, {"tile", *tile}, {"plus", plus}};
}

FailureOr<std::string> PlanWriter::nameWorkspace(tensor::EmptyOp empty) {
  auto known = workspaceNames.find(empty);
  if (known != workspaceNames.end())
    return known->second;
  RankedTensorType type = empty.getType();
  bool isF32 = type.getElementType().isF32();
  if (!isF32 && !type.getElementType().isInteger(32))
    return empty.emitError("workspaces of launch plans hold f32 or i32, found ")
           << type.getElementType();
  llvm::json::Array sizes;
  for (OpFoldResult size : empty.getMixedSizes()) {
    std::optional<llvm::json::Value> described = describeSize(size);
    if (!described)
      return empty.emitError("a size of a workspace is none that a manifest "
                             "has a name for");
    sizes.push_back(std::move(*described));
  }
  std::string name = "workspace" + std::to_string(workspaceNames.size());
  workspaceNames[empty] = name;
  workspaces.push_back(llvm::json::Object{{"name", name},
                                          {"dtype", isF32 ? "f32" : "i32"},
                                          {"sizes", std::move(sizes)}});
  return name;
}

/// The name of what a launch passes for `value`.
FailureOr<std::string> PlanWriter::nameOf(Value value) {
  Value origin = originOf(value);
  if (auto argument = dyn_cast<BlockArgument>(origin)) {
    if (argument != splits)
      return spec.params[argument.getArgNumber()];
  } else if (auto empty = origin.getDefiningOp<tensor::EmptyOp>()) {
    auto output = outputs.find(empty);
    return output == outputs.end() ? nameWorkspace(empty) : output->second;
  }
  return mlir::emitError(value.getLoc(),
                         "a launch plan passes a value of type ")
         << value.getType() << " that a manifest has no name for";
}

FailureOr<llvm::json::Object> PlanWriter::describeLaunch(func::CallOp call) {
  auto kernel = figures.getAs<DictionaryAttr>(call.getCallee());
  auto extents = kernel ? kernel.getAs<ArrayAttr>("extents") : ArrayAttr();
  if (!extents)
    return call.emitError("the kernel's launch figures are missing");
  SmallVector<std::string> args;
  llvm::json::Array grid;
  for (Value operand : call.getOperands()) {
    FailureOr<std::string> name = nameOf(operand);
    if (failed(name))
      return failure();
    args.push_back(std::move(*name));
  }
  for (auto extent : extents.getAsRange<cta::ExtentAttr>())
    grid.push_back(llvm::json::Object{{"arg", extent.getArg()},
                                      {"dim", extent.getDim()},
                                      {"tile", extent.getTile()}});
  llvm::json::Object launch{{"entry", call.getCallee().str()},
                            {"args", llvm::json::Array(args)},
                            {"grid", std::move(grid)}};
  if (failed(describeFigures(kernel, args, launch)))
    return call.emitError("the kernel's launch figures are missing");
  return launch;
}

LogicalResult PlanWriter::run(int64_t splitKeys, llvm::json::Object &entry) {
  nameOutputs();
  llvm::json::Array launches;
  for (auto call : plan.getBody().getOps<func::CallOp>()) {
    FailureOr<llvm::json::Object> launch = describeLaunch(call);
    if (failed(launch))
      return failure();
    launches.push_back(std::move(*launch));
  }
  entry["launches"] = std::move(launches);
  if (!workspaces.empty())
    entry["workspaces"] = std::move(workspaces);
  if (splits)
    entry["splits"] =
        llvm::json::Object{{"max", kMaxSplits}, {"keys", splitKeys}};
  return success();
}

func::FuncOp fa::findPlan(ModuleOp module, const KernelSpec &spec) {
  return module.lookupSymbol<func::FuncOp>(spec.function);
}

LogicalResult fa::describePlan(func::FuncOp plan, const KernelSpec &spec,
                               DictionaryAttr figures, int64_t splitKeys,
                               llvm::json::Object &entry) {
  return PlanWriter(plan, spec, figures).run(splitKeys, entry);
}
