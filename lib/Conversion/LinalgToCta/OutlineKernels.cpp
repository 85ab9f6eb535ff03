//===- OutlineKernels.cpp - The pass --outline-kernels --------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each outermost forall becomes a function that writes to tensors which its
// caller gives. What is left calls them one after another: the launch plan.
//
//===----------------------------------------------------------------------===//

#include "fa/Conversion/LinalgToCta/LinalgToCta.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"
#include "fa/Dialect/Cta/IR/LaunchPlan.h"
#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fa;

namespace fa {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "fa/Conversion/LinalgToCta/Passes.h.inc"
} // namespace fa

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The `tensor.empty` that `tensor` began as, through the calls that write it;
/// null where it is another tensor.
static tensor::EmptyOp originOf(Value tensor) {
  while (tensor.getDefiningOp<func::CallOp>())
    tensor = cta::getDestination(cast<OpResult>(tensor));
  return tensor.getDefiningOp<tensor::EmptyOp>();
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

namespace {
/// Moves one forall into a function of its own.
class KernelOutliner {
public:
  KernelOutliner(RewriterBase &rewriter, scf::ForallOp loop)
      : rewriter(rewriter), loop(loop) {}

  func::FuncOp run(func::FuncOp host, const Twine &name);

private:
  void separateDestinations();
  void collectCaptures();
  void collect(Value value);
  void noteSizes(Value tensor);
  bool isRebuilt(Operation *op);
  Value rebuild(Value value);

  RewriterBase &rewriter;
  scf::ForallOp loop;
  SmallVector<Value> captures;
  llvm::SetVector<Value> arguments; ///< of the kernel but its destinations
  /// Indices that are a size of a tensor which the kernel has.
  llvm::SmallDenseMap<Value, std::pair<Value, int64_t>> sizes;
  llvm::SmallPtrSet<Operation *, 4> destinations;
  IRMapping mapping; ///< from the host to the kernel
};
} // namespace

/// Gives each output a tensor of its own: outputs of one shape may have shared
/// the one `tensor.empty`, which holds nothing.
void KernelOutliner::separateDestinations() {
  rewriter.setInsertionPoint(loop);
  for (OpOperand &output : loop.getOutputsMutable())
    if (auto empty = output.get().getDefiningOp<tensor::EmptyOp>()) {
      Operation *own = rewriter.clone(*empty);
      rewriter.modifyOpInPlace(loop, [&] { output.set(own->getResult(0)); });
      destinations.insert(own);
    }
}

/// Remembers which indices are sizes of `tensor`.
void KernelOutliner::noteSizes(Value tensor) {
  tensor::EmptyOp empty = originOf(tensor);
  if (!empty)
    return;
  for (auto [dim, size] : llvm::enumerate(empty.getMixedSizes()))
    if (auto value = dyn_cast<Value>(size))
      sizes.try_emplace(value, tensor, dim);
}

/// Whether the kernel makes the results of `op` anew: scalars, and tensors that
/// are no memory yet.
bool KernelOutliner::isRebuilt(Operation *op) {
  if (!op || destinations.contains(op))
    return false;
  if (isa<tensor::DimOp, tensor::EmptyOp, linalg::FillOp>(op))
    return true;
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  return isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         llvm::none_of(op->getOperandTypes(), isTensor) &&
         llvm::none_of(op->getResultTypes(), isTensor);
}

/// Finds the arguments that the kernel needs for `value`.
void KernelOutliner::collect(Value value) {
  auto known = sizes.find(value);
  if (known != sizes.end())
    return;
  Operation *op = value.getDefiningOp();
  if (!isRebuilt(op)) {
    arguments.insert(value);
    return;
  }
  for (Value operand : op->getOperands())
    collect(operand);
}

void KernelOutliner::collectCaptures() {
  // 1. What the forall uses from outside but its outputs.
  llvm::SetVector<Value> used;
  for (OpFoldResult ofr : llvm::concat<OpFoldResult>(loop.getMixedLowerBound(),
                                                     loop.getMixedUpperBound(),
                                                     loop.getMixedStep()))
    if (auto value = dyn_cast<Value>(ofr))
      used.insert(value);
  getUsedValuesDefinedAbove(loop.getRegion(), used);
  captures = used.takeVector();

  // 2. Sizes are asked of the tensors that are there anyway.
  for (Value output : loop.getOutputs())
    noteSizes(output);
  for (Value value : captures)
    if (isa<TensorType>(value.getType()) && !isRebuilt(value.getDefiningOp()))
      noteSizes(value);

  // 3. What is left are arguments.
  for (Value value : captures)
    collect(value);
}

/// `value` in the kernel, whose arguments are mapped.
Value KernelOutliner::rebuild(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  auto size = sizes.find(value);
  if (size != sizes.end()) {
    auto [tensor, dim] = size->second;
    Value result = tensor::DimOp::create(rewriter, value.getLoc(),
                                         mapping.lookup(tensor), dim);
    mapping.map(value, result);
    return result;
  }
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    rebuild(operand);
  rewriter.clone(*op, mapping);
  return mapping.lookup(value);
}

func::FuncOp KernelOutliner::run(func::FuncOp host, const Twine &name) {
  OpBuilder::InsertionGuard guard(rewriter);
  separateDestinations();
  collectCaptures();

  // 1. The kernel's signature: what it reads, then what it writes to.
  SmallVector<Value> operands(arguments.begin(), arguments.end());
  llvm::append_range(operands, loop.getOutputs());
  rewriter.setInsertionPoint(host);
  auto kernel = func::FuncOp::create(
      rewriter, loop.getLoc(), name.str(),
      rewriter.getFunctionType(TypeRange(ValueRange(operands)),
                               loop.getResultTypes()));
  kernel.setPrivate();
  kernel->setAttr(cta::kPlanAttr, rewriter.getStringAttr(host.getName()));

  // 2. Its body: what it makes anew, and the loop.
  Block *body = kernel.addEntryBlock();
  for (auto [operand, argument] :
       llvm::zip_equal(operands, body->getArguments())) {
    argument.setLoc(operand.getLoc());
    mapping.map(operand, argument);
  }
  rewriter.setInsertionPointToStart(body);
  for (Value value : captures)
    rebuild(value);
  Operation *copy = rewriter.clone(*loop, mapping);
  if (Attribute schedule = copy->removeAttr(attn::kScheduleAttrName))
    kernel->setAttr(attn::kScheduleAttrName, schedule);
  if (Attribute prepares = copy->removeAttr(attn::kPreparesAttrName))
    kernel->setAttr(cta::kPreparesAttr, prepares);
  func::ReturnOp::create(rewriter, loop.getLoc(), copy->getResults());

  // 3. The call.
  rewriter.setInsertionPoint(loop);
  auto call = func::CallOp::create(rewriter, loop.getLoc(), kernel, operands);
  rewriter.replaceOp(loop, call);
  return kernel;
}

//===----------------------------------------------------------------------===//
// A function
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<func::FuncOp>> fa::outlineKernels(RewriterBase &rewriter,
                                                        func::FuncOp host) {
  // 1. The loops, none of which may depend on another loop of the host.
  SmallVector<scf::ForallOp> loops;
  WalkResult result =
      host.walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) -> WalkResult {
        if (loop->getParentOp() != host)
          return loop.emitError("--outline-kernels: a kernel's loop is inside "
                                "another op of the host, '")
                 << loop->getParentOp()->getName()
                 << "': launch plans are straight lines";
        loops.push_back(loop);
        return WalkResult::skip();
      });
  if (result.wasInterrupted())
    return failure();
  for (scf::ForallOp loop : loops)
    for (OpFoldResult step : loop.getMixedStep())
      if (loop.getNumResults() == 0 || !getConstantIntValue(step))
        return loop.emitError("--outline-kernels: a kernel's loop has results "
                              "and constant steps");

  // 2. A kernel for each.
  SmallVector<func::FuncOp> kernels;
  for (auto [number, loop] : llvm::enumerate(loops))
    kernels.push_back(KernelOutliner(rewriter, loop)
                          .run(host, host.getName() + "_" + Twine(number)));

  // 3. The schedule is the kernels', but of those that have their own.
  for (func::FuncOp kernel : kernels)
    if (Attribute schedule = host->getAttr(attn::kScheduleAttrName);
        schedule && !kernel->hasAttr(attn::kScheduleAttrName))
      kernel->setAttr(attn::kScheduleAttrName, schedule);
  if (!kernels.empty())
    host->removeAttr(attn::kScheduleAttrName);
  return kernels;
}

/// Erases the ops of `host` that nothing uses any more.
static void eliminateDeadCode(RewriterBase &rewriter, func::FuncOp host) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(host.getBody().front())))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

namespace {
struct OutlineKernelsPass
    : public fa::impl::OutlineKernelsBase<OutlineKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<func::FuncOp> hosts(getOperation().getOps<func::FuncOp>());
    bool hasKernels = false;
    for (func::FuncOp host : hosts) {
      if (host.isExternal())
        continue;
      auto loops = host.getOps<scf::ForallOp>();
      if (onlySeveral && llvm::hasNItemsOrLess(loops, 1))
        continue;
      FailureOr<SmallVector<func::FuncOp>> kernels =
          outlineKernels(rewriter, host);
      if (failed(kernels))
        return signalPassFailure();
      numKernels += kernels->size();
      hasKernels |= !kernels->empty();
      if (!kernels->empty())
        remarkDecision(host, "outline-kernels", "plan")
            << remark::metric("kernels", kernels->size())
            << remark::reason("one for each parallel loop of the function");
      // What the kernels compute for themselves the plan need not.
      eliminateDeadCode(rewriter, host);
    }
    if (!hasKernels && !onlySeveral)
      getOperation().emitWarning("--outline-kernels found no scf.forall (run "
                                 "--interchange first)");
  }
};
} // namespace
