//===- Binding.cpp - What the dimensions of arguments are -----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Binding.h"

#include "fa/Execute/Lengths.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace fa;
using namespace fa::execute;

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// What the leading dimensions of q (and o and lse) are.
static SmallVector<Dim> getQueryDims(attn::ForwardOp forward) {
  if (forward.isBatched())
    return {Dim::B, Dim::Hq, Dim::Sq};
  return {Dim::Hq, forward.isPacked() ? Dim::Tq : Dim::Sq};
}

/// What the leading dimensions of k and v are.
static SmallVector<Dim> getKeyDims(attn::ForwardOp forward) {
  if (forward.isBatched())
    return {Dim::B, Dim::Hkv, Dim::Skv};
  return {Dim::Hkv, forward.isPacked() ? Dim::Tkv : Dim::Skv};
}

/// What the four indexes that a score or mask region takes run over.
static constexpr Dim kIndexDims[] = {Dim::B, Dim::Hq, Dim::Sq, Dim::Skv};

namespace {
/// What is known of the size of one dimension of an argument.
struct Extent {
  /// It is, or is at least, `more` and the largest of these.
  SmallVector<Dim> dims;
  int64_t more = 0;
  /// It is at least this.
  int64_t least = 0;
  /// Whether something reads it at an index that says nothing.
  bool isUnknown = false;

  bool isKnown() const { return !isUnknown && (!dims.empty() || least > 0); }
  int64_t getSize(const Sizes &sizes) const {
    int64_t size = least;
    for (Dim dim : dims)
      size = std::max(size, sizes[dim] + more);
    return size;
  }
};
} // namespace

/// `index` before casts between integer types, which keep it what it is.
static Value stripCasts(Value index) {
  while (Operation *op = index.getDefiningOp())
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>(op))
      index = op->getOperand(0);
    else
      break;
  return index;
}

/// Adds that a region whose last four arguments are `indexes` reads the
/// dimension at `index`.
static void addRead(ValueRange indexes, Value index, Extent &extent) {
  index = stripCasts(index);
  APInt constant;
  auto found = llvm::find(indexes, index);
  if (found != indexes.end())
    extent.dims.push_back(kIndexDims[found - indexes.begin()]);
  else if (matchPattern(index, m_ConstantInt(&constant)))
    extent.least = std::max(extent.least, constant.getSExtValue() + 1);
  else
    extent.isUnknown = true;
}

/// What the dimensions of `argument` are: from its place in attn.forward, or
/// from the indexes with which the score or mask region reads it.
static SmallVector<Extent> inferExtents(attn::ForwardOp forward,
                                        BlockArgument argument) {
  SmallVector<Extent> extents(
      cast<RankedTensorType>(argument.getType()).getRank());
  auto set = [&](Value operand, ArrayRef<Dim> dims, int64_t more = 0) {
    if (operand != argument)
      return;
    for (auto [extent, dim] : llvm::zip(extents, dims)) {
      extent.dims.push_back(dim);
      extent.more = more;
    }
  };
  set(forward.getQ(), getQueryDims(forward));
  set(forward.getK(), getKeyDims(forward));
  set(forward.getV(), getKeyDims(forward));
  set(forward.getCuSeqlensQ(), Dim::B, /*more=*/1);
  set(forward.getCuSeqlensKV(), Dim::B, /*more=*/1);
  set(forward.getKvLens(), Dim::B);
  for (Region *region : {&forward.getScoreRegion(), &forward.getMaskRegion()}) {
    if (region->empty())
      continue;
    ValueRange indexes = region->getArguments().take_back(4);
    region->walk([&](tensor::ExtractOp op) {
      if (op.getTensor() == argument)
        for (auto [extent, index] : llvm::zip_equal(extents, op.getIndices()))
          addRead(indexes, index, extent);
    });
  }
  return extents;
}

FailureOr<SmallVector<int64_t>>
fa::execute::getArgumentShape(const AttentionFunction &problem,
                              BlockArgument argument, const Sizes &sizes) {
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [number, size, extent] :
       llvm::enumerate(shape, inferExtents(problem.forward, argument))) {
    bool isDynamic = ShapedType::isDynamic(size);
    if (isDynamic && !extent.isKnown())
      return emitError(argument.getLoc(), "dimension ")
             << number << " of argument " << argument.getArgNumber()
             << " has an unknown size: it is dynamic, and not every index at "
                "which a region reads it is b, h, i, j or a constant";
    int64_t needed = extent.getSize(sizes);
    if (!isDynamic && size < needed)
      return emitError(argument.getLoc(), "dimension ")
             << number << " of argument " << argument.getArgNumber() << " is "
             << size << ", which is too small: indexes go up to " << needed - 1;
    if (isDynamic)
      size = needed;
  }
  return shape;
}

SmallVector<int64_t> fa::execute::getLseShape(const AttentionFunction &problem,
                                              const Sizes &sizes) {
  return llvm::map_to_vector(getQueryDims(problem.forward),
                             [&](Dim dim) { return sizes[dim]; });
}

//===----------------------------------------------------------------------===//
// Sizes that are fixed, and lengths
//===----------------------------------------------------------------------===//

/// The most that an entry of cu_seqlens or kv_lens can be.
static constexpr int64_t kMaxLength = std::numeric_limits<int32_t>::max();

namespace {
/// Fixes the sizes of one problem.
class SizeBinder {
public:
  SizeBinder(const AttentionFunction &problem, Sizes &sizes,
             const InputOptions &options)
      : forward(problem.forward), problem(problem), sizes(sizes),
        options(options) {}

  LogicalResult bind();

private:
  /// One of the two sides of packed tensors.
  struct Side {
    Value starts;
    Dim total, longest;
    const std::optional<std::vector<int64_t>> &given;
    StringRef option;
  };

  LogicalResult fix(Dim dim, int64_t size, StringRef source);
  LogicalResult fixType(Type type, ArrayRef<Dim> dims);
  LogicalResult fixTypes();
  LogicalResult fixBatch();
  LogicalResult checkOptions();
  LogicalResult setLongest(Dim longest, int64_t length);
  LogicalResult drawStarts(const Side &side, std::vector<int64_t> &starts);
  LogicalResult bindPacked();
  LogicalResult bindKeyLengths();
  uint64_t getStream(Value argument) const;

  attn::ForwardOp forward;
  const AttentionFunction &problem;
  Sizes &sizes;
  const InputOptions &options;
};
} // namespace

/// Fixes one dimension. `source` is what fixes it, with its verb.
LogicalResult SizeBinder::fix(Dim dim, int64_t size, StringRef source) {
  if (sizes.isGiven(dim) && sizes[dim] != size)
    return forward.emitError() << source << " " << getName(dim) << " to "
                               << size << ", found " << sizes[dim];
  sizes[dim] = size;
  sizes.given[unsigned(dim)] = true;
  return success();
}

/// Takes the static sizes of `type` over.
LogicalResult SizeBinder::fixType(Type type, ArrayRef<Dim> dims) {
  for (auto [dim, size] :
       llvm::zip(dims, cast<RankedTensorType>(type).getShape()))
    if (!ShapedType::isDynamic(size) && failed(fix(dim, size, "the types fix")))
      return failure();
  return success();
}

LogicalResult SizeBinder::fixTypes() {
  SmallVector<Dim> queries = getQueryDims(forward), keys = getKeyDims(forward);
  if (failed(fixType(forward.getQ().getType(), queries)) ||
      failed(fixType(forward.getO().getType(), queries)) ||
      failed(fixType(forward.getLse().getType(), queries)) ||
      failed(fixType(forward.getK().getType(), keys)) ||
      failed(fixType(forward.getV().getType(), keys)))
    return failure();
  for (Value starts : {forward.getCuSeqlensQ(), forward.getCuSeqlensKV()})
    if (starts) {
      int64_t entries = cast<RankedTensorType>(starts.getType()).getDimSize(0);
      if (!ShapedType::isDynamic(entries) &&
          failed(fix(Dim::B, entries - 1, "the types fix")))
        return failure();
    }
  return forward.getKvLens() ? fixType(forward.getKvLens().getType(), {Dim::B})
                             : success();
}

/// Fixes how many sequences there are.
LogicalResult SizeBinder::fixBatch() {
  if (!forward.isBatched() && !forward.isPacked())
    return fix(Dim::B, 1, "q without a batch dimension fixes");
  if (options.queryLengths &&
      failed(fix(Dim::B, options.queryLengths->size(), "--q-lens fixes")))
    return failure();
  if (options.keyLengths &&
      failed(fix(Dim::B, options.keyLengths->size(), "--kv-lens fixes")))
    return failure();
  if (forward.isRagged() && !sizes.isGiven(Dim::B))
    sizes[Dim::B] = kRaggedBatch;
  if (forward.isRagged() && sizes[Dim::B] > kMaxRaggedBatch)
    return forward.emitError("there may be at most ")
           << kMaxRaggedBatch << " sequences of different lengths, found "
           << sizes[Dim::B];
  return success();
}

/// Checks that the problem has what options speak of.
LogicalResult SizeBinder::checkOptions() {
  for (Dim dim : {Dim::Tq, Dim::Tkv})
    if (sizes.isGiven(dim) && !forward.isPacked())
      return forward.emitError()
             << getName(dim)
             << " is a size of packed tensors, which need cu_seqlens";
  if (options.queryLengths && !forward.isPacked())
    return forward.emitError("--q-lens is for cu_seqlens");
  if (options.keyLengths && !forward.isRagged())
    return forward.emitError("--kv-lens is for cu_seqlens and kv_lens");
  return success();
}

/// The stream of random numbers of an argument.
uint64_t SizeBinder::getStream(Value argument) const {
  return fa::execute::getStream(options, problem.getArgumentNumber(argument));
}

/// Takes over that the longest sequence has `length` rows.
LogicalResult SizeBinder::setLongest(Dim longest, int64_t length) {
  if (sizes.isGiven(longest) && sizes[longest] < length)
    return forward.emitError("a sequence of ")
           << length << " rows is longer than " << getName(longest) << ", "
           << sizes[longest];
  if (!sizes.isGiven(longest))
    sizes[longest] = length;
  return success();
}

/// The most of `lengths`, or 0.
static int64_t getLongest(ArrayRef<int64_t> lengths) {
  return lengths.empty() ? 0 : *llvm::max_element(lengths);
}

/// Where the sequences of one side begin, and its sizes.
LogicalResult SizeBinder::drawStarts(const Side &side,
                                     std::vector<int64_t> &starts) {
  std::vector<int64_t> lengths;
  uint64_t stream = getStream(side.starts);
  if (side.given)
    lengths = *side.given;
  else if (sizes.isGiven(side.total))
    lengths = drawParts(stream, sizes[Dim::B], sizes[side.total]);
  else
    lengths = drawLengths(stream, sizes[Dim::B], sizes[side.longest]);
  int64_t total = 0;
  for (int64_t length : lengths)
    if (llvm::AddOverflow(total, length, total) || total > kMaxLength)
      return forward.emitError("the lengths must have a sum of at most ")
             << kMaxLength;
  if (sizes.isGiven(side.total) && sizes[side.total] < total)
    return forward.emitError()
           << side.option << " has " << total
           << " rows together, which is more than " << getName(side.total)
           << ", " << sizes[side.total];
  if (!sizes.isGiven(side.total))
    sizes[side.total] = total;
  starts = getStarts(lengths);
  return setLongest(side.longest, getLongest(lengths));
}

LogicalResult SizeBinder::bindPacked() {
  Side queries{forward.getCuSeqlensQ(), Dim::Tq, Dim::Sq, options.queryLengths,
               "--q-lens"};
  Side keys{forward.getCuSeqlensKV(), Dim::Tkv, Dim::Skv, options.keyLengths,
            "--kv-lens"};
  if (failed(drawStarts(queries, sizes.startsQ)))
    return failure();
  // One tensor of starts, or one packed tensor, serves both sides.
  bool isShared =
      forward.getQ() == forward.getK() || forward.getQ() == forward.getV();
  if (isShared &&
      failed(fix(Dim::Tkv, sizes[Dim::Tq], "q, which is k or v, fixes")))
    return failure();
  if (queries.starts != keys.starts)
    return drawStarts(keys, sizes.startsKV);
  if (keys.given && getStarts(*keys.given) != sizes.startsQ)
    return forward.emitError("--q-lens and --kv-lens must be the same for one "
                             "tensor of cu_seqlens");
  sizes.startsKV = sizes.startsQ;
  if (!sizes.isGiven(Dim::Tkv))
    sizes[Dim::Tkv] = sizes.startsKV.back();
  if (sizes[Dim::Tkv] < sizes.startsKV.back())
    return forward.emitError("cu_seqlens ends at ")
           << sizes.startsKV.back() << ", which is more than Tkv, "
           << sizes[Dim::Tkv];
  return setLongest(Dim::Skv, sizes[Dim::Sq]);
}

LogicalResult SizeBinder::bindKeyLengths() {
  sizes.keyLengths = options.keyLengths
                         ? *options.keyLengths
                         : drawLengths(getStream(forward.getKvLens()),
                                       sizes[Dim::B], sizes[Dim::Skv]);
  if (getLongest(sizes.keyLengths) > kMaxLength)
    return forward.emitError("a length must be at most ") << kMaxLength;
  return setLongest(Dim::Skv, getLongest(sizes.keyLengths));
}

LogicalResult SizeBinder::bind() {
  if (failed(checkOptions()) || failed(fixTypes()) || failed(fixBatch()))
    return failure();
  if (forward.isPacked())
    return bindPacked();
  return forward.getKvLens() ? bindKeyLengths() : success();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Adds the bytes of a tensor of `shape` to `total`. Fails where that
/// overflows. A dimension of 0 counts as 1, so that strides cannot overflow
/// either.
static LogicalResult addBytes(Type element, ArrayRef<int64_t> shape,
                              int64_t &total) {
  int64_t bytes = HostTensor(element, {0}).getElementBytes();
  for (int64_t size : shape)
    if (llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes))
      return failure();
  return failure(llvm::AddOverflow(total, bytes, total));
}

/// Checks that the tensors of a run are not larger than they may be.
static LogicalResult checkBytes(const AttentionFunction &problem,
                                const Sizes &sizes) {
  attn::ForwardOp forward = problem.forward;
  func::FuncOp function = problem.function;
  int64_t total = 0;
  bool fits = true;
  auto add = [&](Type element, ArrayRef<int64_t> shape) {
    if (isHostElement(element))
      fits = fits && succeeded(addBytes(element, shape, total));
  };
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    FailureOr<SmallVector<int64_t>> shape =
        getArgumentShape(problem, argument, sizes);
    if (failed(shape))
      return failure();
    add(type.getElementType(), *shape);
  }
  SmallVector<int64_t> outShape = getLseShape(problem, sizes);
  add(forward.getLse().getType().getElementType(), outShape);
  outShape.push_back(forward.getHeadDimV());
  add(forward.getO().getType().getElementType(), outShape);
  if (fits && total <= kMaxTensorBytes)
    return success();
  return forward.emitError("the tensors of a run may take ")
         << (kMaxTensorBytes >> 30) << " GiB together, which is too little for "
         << sizes.str();
}

FailureOr<Sizes> fa::execute::bindSizes(const AttentionFunction &problem,
                                        Sizes sizes,
                                        const InputOptions &options) {
  attn::ForwardOp forward = problem.forward;
  if (failed(SizeBinder(problem, sizes, options).bind()))
    return failure();
  if (sizes[Dim::Hkv] < 1 || sizes[Dim::Hq] % sizes[Dim::Hkv] != 0)
    return forward.emitError("Hq must be a multiple of Hkv, found ")
           << sizes[Dim::Hq] << " and " << sizes[Dim::Hkv];
  bool isShared =
      forward.getQ() == forward.getK() || forward.getQ() == forward.getV();
  bool isSame = forward.isPacked() || sizes[Dim::Sq] == sizes[Dim::Skv];
  if (isShared && (sizes[Dim::Hq] != sizes[Dim::Hkv] || !isSame))
    return forward.emitError(
               "q is k or v, so Hq must be Hkv and Sq Skv, found ")
           << sizes.str();
  if (failed(checkBytes(problem, sizes)))
    return failure();
  return sizes;
}
