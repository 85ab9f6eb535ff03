//===- LaunchPlan.cpp - Runs the kernels of a launch plan -----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interprets the host's function: scalars are attributes, which ops fold;
// tensors are memory, which calls hand to the simulator.
//
//===----------------------------------------------------------------------===//

#include "fa/Simulator/LaunchPlan.h"

#include "fa/Dialect/Cta/IR/LaunchPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <deque>

using namespace mlir;
using namespace fa;
using namespace fa::sim;

/// Bytes of all ones: NaN in every format of floats.
static constexpr char kUnwritten = '\xff';

namespace {
class PlanRunner {
public:
  PlanRunner(func::FuncOp plan, const Options &options)
      : plan(plan), options(options) {}

  FailureOr<std::vector<LaunchStatistics>> run(ArrayRef<Argument> arguments);

private:
  LogicalResult runBlock(Block &block);
  LogicalResult runOp(Operation &op);
  LogicalResult runLoop(scf::ForOp op);
  LogicalResult runCall(func::CallOp op);
  LogicalResult runFolded(Operation &op);
  LogicalResult allocate(tensor::EmptyOp op);
  LogicalResult askSize(tensor::DimOp op);
  LogicalResult storeResults(func::ReturnOp op, ArrayRef<Argument> outputs);

  void bind(Value value, const Argument &argument);
  FailureOr<int64_t> integer(OpFoldResult value);
  FailureOr<Argument> argumentOf(Value value);
  Attribute indexAttr(int64_t value) {
    return IntegerAttr::get(IndexType::get(plan.getContext()), value);
  }

  func::FuncOp plan;
  const Options &options;
  llvm::DenseMap<Value, Attribute> scalars;
  llvm::DenseMap<Value, MemRefArgument> tensors;
  std::deque<std::vector<char>> memory;
  std::vector<LaunchStatistics> statistics;
};
} // namespace

static int64_t bytesOf(Type element) {
  return element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8;
}

/// Row-major strides.
static SmallVector<int64_t> packedStrides(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (int64_t dim = int64_t(sizes.size()) - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * std::max<int64_t>(sizes[dim + 1], 1);
  return strides;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void PlanRunner::bind(Value value, const Argument &argument) {
  if (auto *memref = std::get_if<MemRefArgument>(&argument))
    tensors[value] = *memref;
  else if (auto *number = std::get_if<int64_t>(&argument))
    scalars[value] = IntegerAttr::get(value.getType(), *number);
  else
    scalars[value] = FloatAttr::get(value.getType(), std::get<float>(argument));
}

FailureOr<int64_t> PlanRunner::integer(OpFoldResult ofr) {
  auto attr = dyn_cast<Attribute>(ofr);
  if (!attr)
    attr = scalars.lookup(cast<Value>(ofr));
  if (auto number = dyn_cast_if_present<IntegerAttr>(attr))
    return number.getInt();
  return failure();
}

/// `value` as a kernel takes it.
FailureOr<Argument> PlanRunner::argumentOf(Value value) {
  auto tensor = tensors.find(value);
  if (tensor != tensors.end())
    return Argument(tensor->second);
  Attribute scalar = scalars.lookup(value);
  if (auto number = dyn_cast_if_present<IntegerAttr>(scalar))
    return Argument(number.getInt());
  if (auto number = dyn_cast_if_present<FloatAttr>(scalar))
    return Argument(float(number.getValueAsDouble()));
  return failure();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

LogicalResult PlanRunner::allocate(tensor::EmptyOp op) {
  MemRefArgument tensor;
  int64_t count = 1;
  for (OpFoldResult size : op.getMixedSizes()) {
    FailureOr<int64_t> value = integer(size);
    if (failed(value) || *value < 0)
      return op.emitError("the simulator does not know a size of this tensor");
    tensor.sizes.push_back(*value);
    count *= *value;
  }
  tensor.strides = packedStrides(tensor.sizes);
  memory.emplace_back(std::max<int64_t>(count, 1) *
                          bytesOf(op.getType().getElementType()),
                      kUnwritten);
  tensor.data = memory.back().data();
  tensors[op.getResult()] = tensor;
  return success();
}

LogicalResult PlanRunner::askSize(tensor::DimOp op) {
  auto tensor = tensors.find(op.getSource());
  FailureOr<int64_t> dim = integer(op.getIndex());
  if (tensor == tensors.end() || failed(dim) || *dim < 0 ||
      *dim >= int64_t(tensor->second.sizes.size()))
    return op.emitError("asks for no size that the launch plan knows");
  scalars[op.getResult()] = indexAttr(tensor->second.sizes[*dim]);
  return success();
}

/// Copies all elements of `from` to `to`, which has its sizes.
static void copyElements(const MemRefArgument &from, const MemRefArgument &to,
                         int64_t bytes, unsigned dim = 0, int64_t fromAt = 0,
                         int64_t toAt = 0) {
  if (dim == from.sizes.size()) {
    std::copy_n(from.data + fromAt * bytes, bytes, to.data + toAt * bytes);
    return;
  }
  for (int64_t i = 0; i < from.sizes[dim]; ++i)
    copyElements(from, to, bytes, dim + 1, fromAt + i * from.strides[dim],
                 toAt + i * to.strides[dim]);
}

LogicalResult PlanRunner::storeResults(func::ReturnOp op,
                                       ArrayRef<Argument> outputs) {
  for (auto [value, output] : llvm::zip_equal(op.getOperands(), outputs)) {
    auto *to = std::get_if<MemRefArgument>(&output);
    auto from = tensors.find(value);
    if (!to || from == tensors.end() || from->second.sizes != to->sizes)
      return op.emitError("a result of the launch plan does not have the "
                          "sizes of its output");
    copyElements(from->second, *to,
                 bytesOf(getElementTypeOrSelf(value.getType())));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult PlanRunner::runFolded(Operation &op) {
  SmallVector<Attribute> operands;
  for (Value operand : op.getOperands())
    operands.push_back(scalars.lookup(operand));
  SmallVector<OpFoldResult> results;
  bool isKnown = op.getNumRegions() == 0 &&
                 llvm::all_of(operands, [](Attribute a) { return bool(a); }) &&
                 succeeded(op.fold(operands, results)) &&
                 results.size() == op.getNumResults();
  if (!isKnown)
    return op.emitError("the simulator does not know the op '")
           << op.getName() << "' in a launch plan";
  for (auto [result, value] : llvm::zip_equal(op.getResults(), results)) {
    auto attr = dyn_cast<Attribute>(value);
    scalars[result] = attr ? attr : scalars.lookup(cast<Value>(value));
  }
  return success();
}

LogicalResult PlanRunner::runLoop(scf::ForOp op) {
  FailureOr<int64_t> begin = integer(op.getLowerBound());
  FailureOr<int64_t> end = integer(op.getUpperBound());
  FailureOr<int64_t> step = integer(op.getStep());
  if (failed(begin) || failed(end) || failed(step) || *step <= 0)
    return op.emitError("the simulator does not know this loop's bounds");
  SmallVector<Attribute> carried;
  auto read = [&](ValueRange values) {
    carried.clear();
    for (Value value : values)
      carried.push_back(scalars.lookup(value));
  };
  auto write = [&](ValueRange values) {
    for (auto [value, attr] : llvm::zip_equal(values, carried))
      scalars[value] = attr;
  };
  read(op.getInitArgs());
  for (int64_t i = *begin; i < *end; i += *step) {
    scalars[op.getInductionVar()] = indexAttr(i);
    write(op.getRegionIterArgs());
    if (failed(runBlock(*op.getBody())))
      return failure();
    read(op.getYieldedValues());
  }
  write(op.getResults());
  return success();
}

LogicalResult PlanRunner::runCall(func::CallOp op) {
  // 1. The kernel.
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getCalleeAttr());
  auto symbol = callee ? callee->getAttrOfType<SymbolRefAttr>(cta::kKernelAttr)
                       : SymbolRefAttr();
  auto kernel =
      symbol ? SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(op, symbol)
             : gpu::GPUFuncOp();
  if (!kernel)
    return op.emitError("calls no kernel (run --map-warps first)");

  // 2. Its run.
  SmallVector<Argument> arguments;
  for (Value operand : op.getOperands()) {
    FailureOr<Argument> argument = argumentOf(operand);
    if (failed(argument))
      return op.emitError("the simulator does not know a value that the "
                          "kernel is called with");
    arguments.push_back(*argument);
  }
  FailureOr<Statistics> taken = simulate(kernel, arguments, options);
  if (failed(taken))
    return failure();
  statistics.push_back({kernel.getName().str(), *taken});

  // 3. What it wrote.
  for (OpResult result : op.getResults())
    tensors[result] = tensors.lookup(cta::getDestination(result));
  return success();
}

LogicalResult PlanRunner::runOp(Operation &op) {
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](func::CallOp o) { return runCall(o); })
      .Case([&](scf::ForOp o) { return runLoop(o); })
      .Case([&](tensor::EmptyOp o) { return allocate(o); })
      .Case([&](tensor::DimOp o) { return askSize(o); })
      .Case([&](tensor::CastOp o) {
        tensors[o.getResult()] = tensors.lookup(o.getSource());
        return success();
      })
      .Default([&](Operation *o) { return runFolded(*o); });
}

LogicalResult PlanRunner::runBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(runOp(op)))
      return failure();
  return success();
}

FailureOr<std::vector<LaunchStatistics>>
PlanRunner::run(ArrayRef<Argument> arguments) {
  unsigned inputs = plan.getNumArguments();
  if (arguments.size() != inputs + plan.getNumResults())
    return plan.emitError("the launch plan has ")
           << inputs << " arguments and " << plan.getNumResults()
           << " results, but got " << arguments.size() << " values";
  for (auto [value, argument] : llvm::zip(plan.getArguments(), arguments))
    bind(value, argument);
  Block &body = plan.getBody().front();
  if (failed(runBlock(body)) ||
      failed(storeResults(cast<func::ReturnOp>(body.getTerminator()),
                          arguments.drop_front(inputs))))
    return failure();
  return statistics;
}

bool fa::sim::isLaunchPlan(func::FuncOp function) {
  return function
      .walk([](func::CallOp call) {
        auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
            call, call.getCalleeAttr());
        return callee && callee->hasAttr(cta::kKernelAttr)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

FailureOr<std::vector<LaunchStatistics>>
fa::sim::simulatePlan(func::FuncOp plan, ArrayRef<Argument> arguments,
                      const Options &options) {
  return PlanRunner(plan, options).run(arguments);
}
