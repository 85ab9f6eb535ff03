//===- Simulator.cpp - Runs level D on the CPU ----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Simulator/Simulator.h"

#include "ThreadBlock.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fa;
using namespace fa::sim;

/// Whether the kernel stores to its argument.
static bool isWritten(Value argument) {
  return llvm::any_of(argument.getUsers(), [&](Operation *user) {
    if (isa<memref::StoreOp>(user))
      return true;
    auto store = dyn_cast<cta::StoreOp>(user);
    return store && store.getDestination() == argument;
  });
}

/// Makes the values of the kernel's arguments. Fails with a diagnostic where
/// they do not have its types.
static FailureOr<SmallVector<Datum>>
bindArguments(gpu::GPUFuncOp func, ArrayRef<Argument> arguments,
              std::vector<std::unique_ptr<GlobalTensor>> &tensors) {
  if (arguments.size() != func.getNumArguments())
    return func.emitError("the kernel has ")
           << func.getNumArguments() << " arguments, but got "
           << arguments.size();
  SmallVector<Datum> data;
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    BlockArgument value = func.getArgument(number);
    auto type = dyn_cast<MemRefType>(value.getType());
    auto *memref = std::get_if<MemRefArgument>(&argument);
    auto *integer = std::get_if<int64_t>(&argument);
    bool fits = type ? memref && int64_t(memref->sizes.size()) == type.getRank()
                : value.getType().isIntOrIndex()
                    ? integer != nullptr
                    : std::holds_alternative<float>(argument);
    if (fits && type)
      for (auto [size, known] : llvm::zip_equal(memref->sizes, type.getShape()))
        fits &= ShapedType::isDynamic(known) || known == size;
    if (!fits)
      return func.emitError("the value of argument ")
             << number << " does not have the type " << value.getType();
    if (!type) {
      if (integer)
        data.push_back(wrapInteger(*integer, getIntegerBits(value.getType())));
      else
        data.push_back(*std::get_if<float>(&argument));
      continue;
    }
    tensors.push_back(std::make_unique<GlobalTensor>(
        number, type.getElementType(), *memref, isWritten(value)));
    data.push_back(tensors.back().get());
  }
  return data;
}

/// The thread blocks that the host starts for the kernel's extents, or nothing
/// where it has none.
static FailureOr<std::optional<int64_t>> getGrid(gpu::GPUFuncOp func,
                                                 ArrayRef<Argument> arguments) {
  auto extents = func->getAttrOfType<ArrayAttr>(cta::kExtentsAttr);
  if (!extents)
    return std::optional<int64_t>();
  int64_t grid = 1;
  auto sizeOf = [&](int64_t arg, int64_t dim) -> std::optional<int64_t> {
    if (arg >= int64_t(arguments.size()))
      return std::nullopt;
    auto *tensor = std::get_if<MemRefArgument>(&arguments[arg]);
    if (!tensor || dim >= int64_t(tensor->sizes.size()))
      return std::nullopt;
    return tensor->sizes[dim];
  };
  for (Attribute attr : extents) {
    auto extent = dyn_cast<cta::ExtentAttr>(attr);
    std::optional<int64_t> size, more = 0;
    if (extent)
      size = sizeOf(extent.getArg(), extent.getDim());
    if (extent && extent.getPlusArg() != cta::ExtentAttr::kNone)
      more = sizeOf(extent.getPlusArg(), extent.getPlusDim());
    if (!size || !more)
      return func.emitError("cta.extents names no dimension of an argument: ")
             << attr;
    grid *= llvm::divideCeil(*size, extent.getTile()) + *more;
  }
  return std::optional<int64_t>(grid);
}

/// Whether a thread block of the kernel runs many work items.
static bool isPersistent(gpu::GPUFuncOp func) {
  return func
      .walk([](cta::WorkOp work) {
        return work.getOrder().getPersistence() == cta::Persistence::None
                   ? WalkResult::advance()
                   : WalkResult::interrupt();
      })
      .wasInterrupted();
}

FailureOr<Statistics> fa::sim::simulate(gpu::GPUFuncOp func,
                                        ArrayRef<Argument> arguments,
                                        const Options &given) {
  Options options = given;
  if (!options.target)
    options.target = Target::lookup("sm_90a");
  if (!options.blocks && isPersistent(func))
    options.blocks = options.target->numSMs;

  // 1. The kernel, and what the host knows of its launch.
  FailureOr<Kernel> kernel = Kernel::build(func);
  if (failed(kernel) || failed(checkLimits(*kernel, *options.target)))
    return failure();
  std::vector<std::unique_ptr<GlobalTensor>> tensors;
  FailureOr<SmallVector<Datum>> data = bindArguments(func, arguments, tensors);
  if (failed(data))
    return failure();
  FailureOr<std::optional<int64_t>> grid = getGrid(func, arguments);
  if (failed(grid))
    return failure();

  // 2. The blocks. Without extents the first one knows how many there are.
  Statistics statistics;
  int64_t count = grid->value_or(1);
  if (options.blocks)
    count = std::min(count, options.blocks);
  for (int64_t number = 0; number < count; ++number) {
    ThreadBlock block(*kernel, options, *data, number);
    if (failed(block.run()))
      return failure();
    std::optional<int64_t> items = block.getItems();
    if (number == 0 && !*grid && items)
      count = options.blocks ? std::min(options.blocks, *items) : *items;
    if (*grid && items && *items != **grid)
      return func.emitError("cta.extents makes a grid of ")
             << **grid << " blocks, but cta.work has " << *items << " items";
    ++statistics.blocks;
    statistics.longestBlock =
        std::max(statistics.longestBlock, block.getTime());
  }
  return statistics;
}
