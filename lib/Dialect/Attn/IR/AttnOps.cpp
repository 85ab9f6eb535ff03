//===- AttnOps.cpp - Parsing and verification of attention operations -----===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/IR/AttnDialect.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace fa::attn;

//===----------------------------------------------------------------------===//
// Assembly of the score and mask regions
//===----------------------------------------------------------------------===//

/// The arguments that a region of this kind takes: (s,) b, h, i, j.
static SmallVector<Type> regionArgTypes(MLIRContext *context, bool isScore) {
  SmallVector<Type> types(isScore ? 5 : 4, IndexType::get(context));
  if (isScore)
    types.front() = Float32Type::get(context);
  return types;
}

/// Parses `keyword (%a, %b, ...) { ... }` where the keyword comes next.
static ParseResult parseVariantRegion(OpAsmParser &parser, Region &region,
                                      StringRef keyword, bool isScore) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  SmallVector<OpAsmParser::Argument> args;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseArgumentList(args, AsmParser::Delimiter::Paren))
    return failure();
  SmallVector<Type> types = regionArgTypes(parser.getContext(), isScore);
  if (args.size() != types.size())
    return parser.emitError(loc)
           << "the " << keyword << " region takes " << types.size()
           << " arguments, found " << args.size();
  for (auto [arg, type] : llvm::zip_equal(args, types))
    arg.type = type;
  return parser.parseRegion(region, args);
}

static void printVariantRegion(OpAsmPrinter &printer, Region &region,
                               StringRef keyword) {
  if (region.empty())
    return;
  printer << keyword << '(';
  llvm::interleaveComma(region.getArguments(), printer, [&](BlockArgument arg) {
    printer.printRegionArgument(arg, /*argAttrs=*/{}, /*omitType=*/true);
  });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
  printer << ' ';
}

static ParseResult parseVariantRegions(OpAsmParser &parser, Region &score,
                                       Region &mask) {
  return failure(parseVariantRegion(parser, score, "score", true) ||
                 parseVariantRegion(parser, mask, "mask", false));
}

static void printVariantRegions(OpAsmPrinter &printer, Operation *,
                                Region &score, Region &mask) {
  printVariantRegion(printer, score, "score");
  printVariantRegion(printer, mask, "mask");
}

static ParseResult parseMaskRegion(OpAsmParser &parser, Region &mask) {
  return parseVariantRegion(parser, mask, "mask", false);
}

static void printMaskRegion(OpAsmPrinter &printer, Operation *, Region &mask) {
  printVariantRegion(printer, mask, "mask");
}

#define GET_OP_CLASSES
#include "fa/Dialect/Attn/IR/AttnOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Shared rules
//===----------------------------------------------------------------------===//

/// Two static sizes that differ.
static bool differ(int64_t lhs, int64_t rhs) {
  return !ShapedType::isDynamic(lhs) && !ShapedType::isDynamic(rhs) &&
         lhs != rhs;
}

/// The name of dimension `dim` of a matrix of `rank` dimensions.
static StringRef dimName(unsigned rank, unsigned dim) {
  static constexpr StringLiteral names[] = {"partial state", "batch", "head",
                                            "sequence", "head dimension"};
  return names[5 - rank + dim];
}

/// Checks that dimension `dim` of two tensors of one rank agrees.
static LogicalResult sameDim(Operation *op, StringRef lhsName, Value lhs,
                             StringRef rhsName, Value rhs, unsigned dim) {
  auto lhsType = cast<RankedTensorType>(lhs.getType());
  auto rhsType = cast<RankedTensorType>(rhs.getType());
  if (!differ(lhsType.getDimSize(dim), rhsType.getDimSize(dim)))
    return success();
  return op->emitOpError(lhsName)
         << " and " << rhsName << " must have the same "
         << dimName(lhsType.getRank(), dim) << " size, found "
         << lhsType.getDimSize(dim) << " and " << rhsType.getDimSize(dim);
}

/// Checks q, k and v against each other: element types, batch, head counts,
/// key lengths and head dimensions; for whole tensors and for tiles.
static LogicalResult verifyQKV(Operation *op, Value q, Value k, Value v) {
  auto qType = cast<RankedTensorType>(q.getType());
  auto kType = cast<RankedTensorType>(k.getType());
  auto vType = cast<RankedTensorType>(v.getType());
  Type element = qType.getElementType();
  if (kType.getElementType() != element || vType.getElementType() != element)
    return op->emitOpError("q, k and v must have one element type, found ")
           << element << ", " << kType.getElementType() << " and "
           << vType.getElementType();
  unsigned rank = qType.getRank();
  if (kType.getRank() != rank || vType.getRank() != rank)
    return op->emitOpError("q, k and v must have one rank, found ")
           << rank << ", " << kType.getRank() << " and " << vType.getRank();
  unsigned headDim = rank - 1, sequence = rank - 2;
  if (qType.isDynamicDim(headDim) || vType.isDynamicDim(headDim))
    return op->emitOpError("the head dimensions of q and v must be static");
  if (qType.getDimSize(headDim) < 1 || vType.getDimSize(headDim) < 1)
    return op->emitOpError("the head dimensions must be positive, found ")
           << qType.getDimSize(headDim) << " and " << vType.getDimSize(headDim);
  if (failed(sameDim(op, "q", q, "k", k, headDim)) ||
      failed(sameDim(op, "k", k, "v", v, sequence)))
    return failure();
  if (rank == 2)
    return success();
  unsigned head = rank - 3;
  if (rank == 4 && (failed(sameDim(op, "q", q, "k", k, 0)) ||
                    failed(sameDim(op, "k", k, "v", v, 0))))
    return failure();
  if (failed(sameDim(op, "k", k, "v", v, head)))
    return failure();
  int64_t headsQ = qType.getDimSize(head), headsKV = kType.getDimSize(head);
  if (!ShapedType::isDynamic(headsQ) && !ShapedType::isDynamic(headsKV) &&
      (headsKV == 0 || headsQ % headsKV != 0))
    return op->emitOpError("the query heads must be a multiple of the "
                           "key/value heads, found ")
           << headsQ << " and " << headsKV;
  return success();
}

/// Checks a row tensor ([B, H, S] or [Br]) against a matrix ([B, H, S, D] or
/// [Br, D]): the same but for the last dimension.
static LogicalResult verifyRows(Operation *op, StringRef matrixName,
                                Value matrix, StringRef rowsName, Value rows) {
  auto matrixType = cast<RankedTensorType>(matrix.getType());
  auto rowsType = cast<RankedTensorType>(rows.getType());
  if (rowsType.getRank() != matrixType.getRank() - 1)
    return op->emitOpError(rowsName)
           << " must have one dimension less than " << matrixName << ", found "
           << rowsType.getRank() << " and " << matrixType.getRank();
  for (int64_t dim = 0; dim < rowsType.getRank(); ++dim)
    if (differ(matrixType.getDimSize(dim), rowsType.getDimSize(dim)))
      return op->emitOpError(matrixName)
             << " and " << rowsName << " must have the same "
             << dimName(matrixType.getRank(), dim) << " size, found "
             << matrixType.getDimSize(dim) << " and "
             << rowsType.getDimSize(dim);
  return success();
}

/// Checks a matrix of rows of q against q and v: q's leading sizes, v's width.
static LogicalResult verifyOutput(Operation *op, Value q, Value v,
                                  StringRef name, Value output) {
  auto qType = cast<RankedTensorType>(q.getType());
  auto outType = cast<RankedTensorType>(output.getType());
  if (outType.getRank() != qType.getRank())
    return op->emitOpError(name)
           << " must have the rank of q, found " << outType.getRank() << " and "
           << qType.getRank();
  for (unsigned dim = 0; dim + 1 < qType.getRank(); ++dim)
    if (failed(sameDim(op, "q", q, name, output, dim)))
      return failure();
  return sameDim(op, "v", v, name, output, qType.getRank() - 1);
}

/// Checks that a score or mask region ends in an `attn.yield` of its type.
static LogicalResult verifyVariantRegion(Operation *op, Region &region,
                                         bool isScore) {
  if (region.empty())
    return success();
  StringRef name = isScore ? "score" : "mask";
  SmallVector<Type> types = regionArgTypes(op->getContext(), isScore);
  if (!llvm::equal(region.getArgumentTypes(), types))
    return op->emitOpError("the ")
           << name << " region must take (" << types << "), found ("
           << region.getArgumentTypes() << ")";
  auto yield = dyn_cast_if_present<YieldOp>(
      region.front().empty() ? nullptr : &region.front().back());
  if (!yield)
    return op->emitOpError("the ") << name << " region must end in attn.yield";
  Type wanted = isScore ? Type(Float32Type::get(op->getContext()))
                        : Type(IntegerType::get(op->getContext(), 1));
  if (yield.getValue().getType() != wanted)
    return yield.emitOpError("must yield ")
           << wanted << " from a " << name << " region, found "
           << yield.getValue().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// ForwardOp
//===----------------------------------------------------------------------===//

/// Checks the operands that say how long sequences are.
static LogicalResult verifyLengths(ForwardOp op) {
  int64_t rank = op.getQ().getType().getRank();
  if (op.isPacked() && rank != 3)
    return op.emitOpError("cu_seqlens is for packed tensors, which have three "
                          "dimensions, found ")
           << rank;
  if (op.isPacked() && differ(op.getCuSeqlensQ().getType().getDimSize(0),
                              op.getCuSeqlensKV().getType().getDimSize(0)))
    return op.emitOpError("cu_seqlens of q and of k must have one size, found ")
           << op.getCuSeqlensQ().getType().getDimSize(0) << " and "
           << op.getCuSeqlensKV().getType().getDimSize(0);
  if (op.isPacked() && op.getCuSeqlensQ().getType().getDimSize(0) == 0)
    return op.emitOpError("cu_seqlens must have an entry more than there are "
                          "sequences, found none");
  if (!op.getKvLens())
    return success();
  if (rank != 4)
    return op.emitOpError("kv_lens is for tensors with a batch dimension, "
                          "which have four, found ")
           << rank;
  if (differ(op.getKvLens().getType().getDimSize(0),
             op.getK().getType().getDimSize(0)))
    return op.emitOpError("kv_lens must have a length for each batch, found ")
           << op.getKvLens().getType().getDimSize(0) << " and "
           << op.getK().getType().getDimSize(0);
  return success();
}

LogicalResult ForwardOp::verify() {
  if (failed(verifyQKV(*this, getQ(), getK(), getV())) ||
      failed(verifyOutput(*this, getQ(), getV(), "o", getO())) ||
      failed(verifyRows(*this, "o", getO(), "lse", getLse())) ||
      failed(verifyLengths(*this)))
    return failure();
  Type element = getQ().getType().getElementType();
  if (getO().getType().getElementType() != element)
    return emitOpError("o must have q's element type, found ")
           << getO().getType().getElementType() << " and " << element;
  if (ArrayAttr variants = getVariantsAttr())
    for (Attribute variant : variants)
      if (!isa<VariantAttrInterface>(variant))
        return emitOpError("'using' takes attention variants, found ")
               << variant;
  return success();
}

LogicalResult ForwardOp::verifyRegions() {
  return failure(failed(verifyVariantRegion(*this, getScoreRegion(), true)) ||
                 failed(verifyVariantRegion(*this, getMaskRegion(), false)));
}

//===----------------------------------------------------------------------===//
// InitOp, UpdateOp, MergeOp, FinalizeOp
//===----------------------------------------------------------------------===//

LogicalResult InitOp::verify() {
  return failure(
      failed(verifyRows(*this, "acc", getAccInit(), "max", getMaxInit())) ||
      failed(verifyRows(*this, "acc", getAccInit(), "sum", getSumInit())));
}

LogicalResult UpdateOp::verify() {
  return failure(
      failed(verifyQKV(*this, getQ(), getK(), getV())) ||
      failed(verifyOutput(*this, getQ(), getV(), "acc", getAccInit())) ||
      failed(verifyRows(*this, "acc", getAccInit(), "max", getMaxInit())) ||
      failed(verifyRows(*this, "acc", getAccInit(), "sum", getSumInit())));
}

LogicalResult UpdateOp::verifyRegions() {
  return failure(failed(verifyVariantRegion(*this, getScoreRegion(), true)) ||
                 failed(verifyVariantRegion(*this, getMaskRegion(), false)));
}

/// Checks that `partial` is `state` with a dimension in front.
static LogicalResult verifyPartial(Operation *op, StringRef name, Value partial,
                                   Value state) {
  auto partialType = cast<RankedTensorType>(partial.getType());
  auto stateType = cast<RankedTensorType>(state.getType());
  if (partialType.getRank() != stateType.getRank() + 1)
    return op->emitOpError("the partial ")
           << name << " must have one dimension more than the state's, found "
           << partialType.getRank() << " and " << stateType.getRank();
  for (int64_t dim = 0; dim < stateType.getRank(); ++dim)
    if (differ(partialType.getDimSize(dim + 1), stateType.getDimSize(dim)))
      return op->emitOpError("the partial ")
             << name << " and the state's must have the same size behind the "
             << "leading dimension, found " << partialType << " and "
             << stateType;
  return success();
}

LogicalResult MergeOp::verify() {
  if (differ(getPartialAcc().getType().getDimSize(0),
             getPartialMax().getType().getDimSize(0)) ||
      differ(getPartialAcc().getType().getDimSize(0),
             getPartialSum().getType().getDimSize(0)))
    return emitOpError("the partial acc, max and sum must be of as many "
                       "states, found ")
           << getPartialAcc().getType().getDimSize(0) << ", "
           << getPartialMax().getType().getDimSize(0) << " and "
           << getPartialSum().getType().getDimSize(0);
  return failure(
      failed(verifyPartial(*this, "acc", getPartialAcc(), getAccInit())) ||
      failed(verifyPartial(*this, "max", getPartialMax(), getMaxInit())) ||
      failed(verifyPartial(*this, "sum", getPartialSum(), getSumInit())) ||
      failed(verifyRows(*this, "acc", getAccInit(), "max", getMaxInit())) ||
      failed(verifyRows(*this, "acc", getAccInit(), "sum", getSumInit())));
}

LogicalResult FinalizeOp::verify() {
  return failure(
      failed(verifyRows(*this, "acc", getAcc(), "max", getMax())) ||
      failed(verifyRows(*this, "acc", getAcc(), "sum", getSum())) ||
      failed(verifyOutput(*this, getAcc(), getAcc(), "o", getOInit())) ||
      failed(verifyRows(*this, "o", getOInit(), "lse", getLseInit())));
}

//===----------------------------------------------------------------------===//
// BlockListOp
//===----------------------------------------------------------------------===//

LogicalResult BlockListOp::verify() {
  if (getCounts().getType().getDimSize(3) != 2)
    return emitOpError("the counts must be two for each block of queries, "
                       "found ")
           << getCounts().getType();
  for (int64_t dim = 0; dim < 3; ++dim)
    if (differ(getBlocks().getType().getDimSize(dim),
               getCounts().getType().getDimSize(dim)))
      return emitOpError("blocks and counts must have the same leading sizes, "
                         "found ")
             << getBlocks().getType() << " and " << getCounts().getType();
  return success();
}

LogicalResult BlockListOp::verifyRegions() {
  return verifyVariantRegion(*this, getMaskRegion(), /*isScore=*/false);
}
