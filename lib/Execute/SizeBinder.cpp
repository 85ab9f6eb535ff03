//===- SizeBinder.cpp - Fixes the sizes of a problem -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeBinder.h"

#include "Extents.h"

#include "fa/Execute/Binding.h"
#include "fa/Execute/Lengths.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace fa;
using namespace fa::execute;

/// The most that an entry of cu_seqlens or kv_lens can be.
static constexpr int64_t kMaxLength = std::numeric_limits<int32_t>::max();

SmallVector<Dim> fa::execute::getQueryDims(attn::ForwardOp forward) {
  if (forward.isBatched())
    return {Dim::B, Dim::Hq, Dim::Sq};
  return {Dim::Hq, forward.isPacked() ? Dim::Tq : Dim::Sq};
}

SmallVector<Dim> fa::execute::getKeyDims(attn::ForwardOp forward) {
  if (forward.isBatched())
    return {Dim::B, Dim::Hkv, Dim::Skv};
  return {Dim::Hkv, forward.isPacked() ? Dim::Tkv : Dim::Skv};
}

static std::vector<int64_t> readIntegers(const HostTensor &tensor) {
  std::vector<int64_t> values(tensor.getNumElements());
  for (auto [i, value] : llvm::enumerate(values))
    value = tensor.loadInteger(i);
  return values;
}

/// Fixes one dimension. `source` is what fixes it, with its verb.
LogicalResult SizeBinder::fix(Dim dim, int64_t size, const Twine &source) {
  if (sizes.isGiven(dim) && sizes[dim] != size)
    return forward.emitError() << source << " " << getName(dim) << " to "
                               << size << ", found " << sizes[dim];
  set(dim, size);
  return success();
}

void SizeBinder::set(Dim dim, int64_t size) {
  sizes[dim] = size;
  sizes.given[unsigned(dim)] = true;
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

/// The tensor that a file gives `argument`; null where none does.
const GivenTensor *SizeBinder::findFile(Value argument) const {
  if (!argument)
    return nullptr;
  auto found = options.tensors.find(problem.getArgumentNumber(argument));
  return found == options.tensors.end() ? nullptr : &found->second;
}

/// Takes the sizes of an argument's file over.
LogicalResult SizeBinder::fixFile(Value argument, ArrayRef<Dim> dims) {
  const GivenTensor *given = findFile(argument);
  if (!given)
    return success();
  for (auto [dim, size] : llvm::zip(dims, given->tensor.getShape()))
    if (failed(fix(dim, size, "'" + given->file + "' fixes")))
      return failure();
  return success();
}

LogicalResult SizeBinder::fixFiles() {
  SmallVector<Dim> queries = getQueryDims(forward), keys = getKeyDims(forward);
  if (failed(fixFile(forward.getQ(), queries)) ||
      failed(fixFile(forward.getK(), keys)) ||
      failed(fixFile(forward.getV(), keys)) ||
      failed(fixFile(forward.getKvLens(), {Dim::B})))
    return failure();
  for (Value starts : {forward.getCuSeqlensQ(), forward.getCuSeqlensKV()}) {
    const GivenTensor *given = findFile(starts);
    if (!given)
      continue;
    int64_t entries = given->tensor.getNumElements();
    if (entries == 0)
      return forward.emitError("'")
             << given->file << "' must have an entry more than there are "
             << "sequences, found none";
    if (failed(fix(Dim::B, entries - 1, "'" + given->file + "' fixes")))
      return failure();
  }
  return success();
}

/// Takes the sizes that nothing else fixes from the file of a tensor that is
/// read at b, h, i or j; where `isShared`, at several of them: it is as long as
/// the longest. A file may have more than is read.
void SizeBinder::fixRegionFile(BlockArgument argument, const GivenTensor &given,
                               bool isShared) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(argument.getType()).getShape();
  for (auto [fixedSize, extent, size] : llvm::zip(
           shape, inferExtents(forward, argument), given.tensor.getShape())) {
    llvm::SmallSetVector<Dim, 2> dims(extent.dims.begin(), extent.dims.end());
    if (!ShapedType::isDynamic(fixedSize) || !extent.isKnown() ||
        (dims.size() > 1) != isShared)
      continue;
    for (Dim dim : dims)
      if (!sizes.isGiven(dim))
        set(dim, size);
  }
}

/// The same of all tensors that only regions read. Sequences of different
/// lengths have no one length that a file could fix.
void SizeBinder::fixRegionFiles() {
  func::FuncOp function = problem.function;
  if (forward.isRagged())
    return;
  Value operands[] = {forward.getQ(), forward.getK(), forward.getV()};
  for (bool isShared : {false, true})
    for (BlockArgument argument : function.getArguments())
      if (const GivenTensor *given = findFile(argument))
        if (!llvm::is_contained(operands, argument))
          fixRegionFile(argument, *given, isShared);
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

/// Where the sequences of one side begin: from a file, from the user's lengths,
/// or drawn.
LogicalResult SizeBinder::chooseStarts(const Side &side,
                                       std::vector<int64_t> &starts) {
  if (const GivenTensor *given = findFile(side.starts)) {
    if (side.lengths)
      return forward.emitError() << side.option << " and '" << given->file
                                 << "' both say where sequences begin";
    starts = readIntegers(given->tensor);
    if (starts.front() < 0 || !llvm::is_sorted(starts))
      return forward.emitError("'")
             << given->file << "' must begin at 0 or more and not decrease";
    return success();
  }
  std::vector<int64_t> lengths;
  uint64_t stream = getStream(side.starts);
  if (side.lengths)
    lengths = *side.lengths;
  else if (sizes.isGiven(side.total))
    lengths = drawParts(stream, sizes[Dim::B], sizes[side.total]);
  else
    lengths = drawLengths(stream, sizes[Dim::B], sizes[side.longest]);
  int64_t total = 0;
  for (int64_t length : lengths)
    if (llvm::AddOverflow(total, length, total) || total > kMaxLength)
      return forward.emitError("the lengths must have a sum of at most ")
             << kMaxLength;
  starts = getStarts(lengths);
  return success();
}

/// The sizes of one side whose sequences begin at `starts`.
LogicalResult SizeBinder::applyStarts(const Side &side,
                                      ArrayRef<int64_t> starts) {
  if (!sizes.isGiven(side.total))
    sizes[side.total] = starts.back();
  if (sizes[side.total] < starts.back())
    return forward.emitError("the sequences end at row ")
           << starts.back() << ", which is more than " << getName(side.total)
           << ", " << sizes[side.total];
  int64_t longest = 0;
  for (auto [start, end] : llvm::zip(starts, starts.drop_front()))
    longest = std::max(longest, end - start);
  return setLongest(side.longest, longest);
}

LogicalResult SizeBinder::bindPacked() {
  Side queries{forward.getCuSeqlensQ(), Dim::Tq, Dim::Sq, options.queryLengths,
               "--q-lens"};
  Side keys{forward.getCuSeqlensKV(), Dim::Tkv, Dim::Skv, options.keyLengths,
            "--kv-lens"};
  if (failed(chooseStarts(queries, sizes.startsQ)) ||
      failed(applyStarts(queries, sizes.startsQ)))
    return failure();
  // One packed tensor, or one tensor of starts, may serve both sides.
  bool isShared =
      forward.getQ() == forward.getK() || forward.getQ() == forward.getV();
  if (isShared &&
      failed(fix(Dim::Tkv, sizes[Dim::Tq], "q, which is k or v, fixes")))
    return failure();
  if (queries.starts != keys.starts &&
      failed(chooseStarts(keys, sizes.startsKV)))
    return failure();
  if (queries.starts == keys.starts)
    sizes.startsKV = sizes.startsQ;
  if (keys.lengths && getStarts(*keys.lengths) != sizes.startsKV)
    return forward.emitError("--q-lens and --kv-lens must be the same for one "
                             "tensor of cu_seqlens");
  return applyStarts(keys, sizes.startsKV);
}

/// The lengths of kv_lens.
LogicalResult SizeBinder::bindKeyLengths() {
  const GivenTensor *given = findFile(forward.getKvLens());
  if (given && options.keyLengths)
    return forward.emitError("--kv-lens and '")
           << given->file << "' both say how many keys there are";
  if (given)
    sizes.keyLengths = readIntegers(given->tensor);
  else if (options.keyLengths)
    sizes.keyLengths = *options.keyLengths;
  else
    sizes.keyLengths = drawLengths(getStream(forward.getKvLens()),
                                   sizes[Dim::B], sizes[Dim::Skv]);
  int64_t longest = 0;
  for (int64_t length : sizes.keyLengths) {
    if (length < 0 || length > kMaxLength)
      return forward.emitError("a length must be from 0 to ")
             << kMaxLength << ", found " << length;
    longest = std::max(longest, length);
  }
  return setLongest(Dim::Skv, longest);
}

LogicalResult SizeBinder::bind() {
  if (failed(checkOptions()) || failed(fixTypes()) || failed(fixFiles()) ||
      failed(fixBatch()))
    return failure();
  fixRegionFiles();
  if (forward.isPacked())
    return bindPacked();
  return forward.getKvLens() ? bindKeyLengths() : success();
}
