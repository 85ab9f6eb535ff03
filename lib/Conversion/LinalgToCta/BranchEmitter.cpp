//===- BranchEmitter.cpp - Branches that any row of a tile takes ----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A flag for each row, their disjunction, and a branch on it: at level D each
// team branches on its own rows (`cta.if_any`), without asking the others. The
// branch says by `attn.any_row` that this is as good.
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

bool KernelEmitter::isAnyOfRows(linalg::GenericOp op) {
  if (op.getNumLoops() != 1 || op.getNumDpsInits() != 1 ||
      op.getIteratorTypesArray().front() != utils::IteratorType::reduction)
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto fill = op.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  return type && type.getRank() == 0 && type.getElementType().isInteger(1) &&
         fill && matchPattern(fill.getInputs().front(), m_Zero()) &&
         op.getBody()
             ->getTerminator()
             ->getOperand(0)
             .getDefiningOp<arith::OrIOp>();
}

LogicalResult KernelEmitter::emitAnyOfRows(linalg::GenericOp op) {
  // 1. The flag that joins the disjunction.
  auto combiner = op.getBody()
                      ->getTerminator()
                      ->getOperand(0)
                      .getDefiningOp<arith::OrIOp>();
  BlockArgument soFar = op.getRegionOutputArgs().front();
  Value flag =
      combiner.getLhs() == soFar ? combiner.getRhs() : combiner.getLhs();
  if ((combiner.getLhs() == soFar) == (combiner.getRhs() == soFar) ||
      !soFar.hasOneUse())
    return op.emitOpError("reduces its flags by something else than one "
                          "disjunction");

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

LogicalResult KernelEmitter::emitBranch(scf::IfOp op) {
  Value predicate = mapping.lookupOrNull(op.getCondition());
  if (!predicate || !isa<VectorType>(predicate.getType()))
    return op.emitOpError("branches on something else than flags of rows");
  if (!op->hasAttr(attn::kAnyRowAttrName))
    return op.emitOpError("branches on all rows of a tile, which teams do not "
                          "share: only a branch with attn.any_row has a form "
                          "in a thread block's program");

  // 1. The branch, and what it gives.
  SmallVector<Type> types;
  for (Value result : op.getResults())
    types.push_back(isa<RankedTensorType>(result.getType())
                        ? Type(fragmentType(result))
                        : result.getType());
  auto branch = cta::IfAnyOp::create(builder, op.getLoc(), types, predicate);
  mapping.map(op.getResults(), branch.getResults());

  // 2. Its regions.
  for (auto [source, target] :
       {std::pair(&op.getThenRegion(), &branch.getThenRegion()),
        std::pair(&op.getElseRegion(), &branch.getElseRegion())}) {
    if (source->empty())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(target);
    if (failed(emitBlock(source->front())))
      return failure();
    SmallVector<Value> yielded;
    for (auto [value, type] : llvm::zip_equal(
             source->front().getTerminator()->getOperands(), types)) {
      FailureOr<Value> part = branchValue(value, type);
      if (failed(part))
        return failure();
      yielded.push_back(*part);
    }
    cta::YieldOp::create(builder, op.getLoc(), yielded);
  }
  return success();
}
