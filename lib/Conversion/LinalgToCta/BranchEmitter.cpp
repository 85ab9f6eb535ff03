//===- BranchEmitter.cpp - Branches on flags of a tile's rows -------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A flag for each row, their disjunction or conjunction, and a branch on it. At
// level D each team branches on its own rows (`cta.if_any`), without asking the
// others, where the branch says by `attn.any_row` that this is as good; else
// all teams ask each other (`cta.any`) and branch together.
//
//===----------------------------------------------------------------------===//

#include "FragmentVectorizer.h"
#include "KernelEmitter.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Dialect/Cta/IR/Cta.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fa;

/// The op that joins the flags of a reduction to one: a disjunction that begins
/// with false, or a conjunction that begins with true; else null.
static Operation *findFlagCombiner(linalg::GenericOp op) {
  if (op.getNumLoops() != 1 || op.getNumDpsInits() != 1 ||
      op.getIteratorTypesArray().front() != utils::IteratorType::reduction)
    return nullptr;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto fill = op.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  if (!type || type.getRank() != 0 || !type.getElementType().isInteger(1) ||
      !fill)
    return nullptr;
  Operation *combiner =
      op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  Value start = fill.getInputs().front();
  bool isKnown = (isa_and_nonnull<arith::OrIOp>(combiner) &&
                  matchPattern(start, m_Zero())) ||
                 (isa_and_nonnull<arith::AndIOp>(combiner) &&
                  matchPattern(start, m_One()));
  return isKnown ? combiner : nullptr;
}

bool KernelEmitter::reducesFlags(linalg::GenericOp op) {
  return findFlagCombiner(op);
}

/// Whether a branch's condition is that the flags of all rows are true, and not
/// that any is.
static bool isAboutAllRows(Value condition) {
  auto extract = condition.getDefiningOp<tensor::ExtractOp>();
  auto reduction = extract
                       ? extract.getTensor().getDefiningOp<linalg::GenericOp>()
                       : linalg::GenericOp();
  return reduction &&
         isa_and_nonnull<arith::AndIOp>(findFlagCombiner(reduction));
}

LogicalResult KernelEmitter::emitFlagsOfRows(linalg::GenericOp op) {
  // 1. The flag that joins the others.
  Operation *combiner = findFlagCombiner(op);
  BlockArgument soFar = op.getRegionOutputArgs().front();
  Value lhs = combiner->getOperand(0), rhs = combiner->getOperand(1);
  Value flag = lhs == soFar ? rhs : lhs;
  if ((lhs == soFar) == (rhs == soFar) || !soFar.hasOneUse())
    return op.emitOpError("reduces its flags by something else than one "
                          "disjunction or conjunction");

  // 2. The flags of this team's rows.
  FragmentDomain domain;
  domain.rows =
      teamSize(op.getStaticLoopRanges().front(), classes.isDivided(op, 0));
  FragmentVectorizer vectorizer(builder, domain, mapping);
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!op.getMatchingIndexingMap(input).isIdentity())
      return op.emitOpError("reads its flags in another order than rows");
    FailureOr<Value> value = fragment(input->get(), {domain.rows});
    if (failed(value))
      return failure();
    vectorizer.bind(op.getMatchingBlockArgument(input), *value);
  }
  for (Operation &nested : op.getBody()->without_terminator())
    if (&nested != combiner && failed(vectorizer.emit(nested)))
      return failure();
  mapping.map(op->getResult(0), vectorizer.get(flag, /*isFragment=*/false));
  return success();
}

/// The value that a branch yields, as a fragment where it is a tile.
FailureOr<Value> KernelEmitter::branchValue(Value value, Type type) {
  auto fragmentType = dyn_cast<VectorType>(type);
  if (!fragmentType)
    return mapping.lookupOrDefault(value);
  return fragment(value, fragmentType.getShape());
}

/// Emits `source`, a region of a branch, into `target`, which yields its values
/// as `types` by a terminator of kind `Yield`.
template <typename Yield>
LogicalResult KernelEmitter::emitBranchRegion(Region &source, Region &target,
                                              TypeRange types) {
  if (source.empty())
    return success();
  OpBuilder::InsertionGuard guard(builder);
  target.getBlocks().clear();
  builder.createBlock(&target);
  if (failed(emitBlock(source.front())))
    return failure();
  Operation *terminator = source.front().getTerminator();
  SmallVector<Value> yielded;
  for (auto [value, type] : llvm::zip_equal(terminator->getOperands(), types)) {
    FailureOr<Value> part = branchValue(value, type);
    if (failed(part))
      return failure();
    yielded.push_back(*part);
  }
  Yield::create(builder, terminator->getLoc(), yielded);
  return success();
}

/// A branch that each team takes for its own rows.
LogicalResult KernelEmitter::emitBranchOfTeam(scf::IfOp op, Value flags,
                                              TypeRange types) {
  if (isAboutAllRows(op.getCondition()))
    return op.emitOpError("branches with attn.any_row on a flag of all rows, "
                          "not of any");
  auto branch = cta::IfAnyOp::create(builder, op.getLoc(), types, flags);
  mapping.map(op.getResults(), branch.getResults());
  return failure(failed(emitBranchRegion<cta::YieldOp>(
                     op.getThenRegion(), branch.getThenRegion(), types)) ||
                 failed(emitBranchRegion<cta::YieldOp>(
                     op.getElseRegion(), branch.getElseRegion(), types)));
}

/// A branch that all teams take together, on the flags of all their rows.
LogicalResult KernelEmitter::emitBranchOfAll(scf::IfOp op, Value flags,
                                             TypeRange types) {
  Location loc = op.getLoc();
  Region *taken = &op.getThenRegion(), *otherwise = &op.getElseRegion();
  // Not all are true where any is false.
  if (isAboutAllRows(op.getCondition())) {
    Value allTrue = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(cast<VectorType>(flags.getType()), true));
    flags = arith::XOrIOp::create(builder, loc, flags, allTrue);
    std::swap(taken, otherwise);
  }
  Value any = cta::AnyOp::create(builder, loc, builder.getI1Type(), flags);
  noteMeeting();
  auto branch = scf::IfOp::create(builder, loc, types, any,
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/!otherwise->empty());
  mapping.map(op.getResults(), branch.getResults());
  return failure(failed(emitBranchRegion<scf::YieldOp>(
                     *taken, branch.getThenRegion(), types)) ||
                 failed(emitBranchRegion<scf::YieldOp>(
                     *otherwise, branch.getElseRegion(), types)));
}

LogicalResult KernelEmitter::emitBranch(scf::IfOp op) {
  Value flags = mapping.lookupOrNull(op.getCondition());
  if (!flags || !isa<VectorType>(flags.getType()))
    return op.emitOpError("branches on something else than flags of rows");
  SmallVector<Type> types;
  for (Value result : op.getResults())
    types.push_back(isa<RankedTensorType>(result.getType())
                        ? Type(fragmentType(result))
                        : result.getType());
  return op->hasAttr(attn::kAnyRowAttrName) ? emitBranchOfTeam(op, flags, types)
                                            : emitBranchOfAll(op, flags, types);
}
