//===- Builders.cpp - Small IR builders -----------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fa;

Value I32Builder::constant(int64_t value) {
  return arith::ConstantIntOp::create(b, b.getI32Type(), value);
}
Value I32Builder::add(Value a, Value c) {
  return b.createOrFold<arith::AddIOp>(a, c);
}
Value I32Builder::add(Value a, int64_t c) {
  return c ? add(a, constant(c)) : a;
}
Value I32Builder::mul(Value a, int64_t c) {
  return b.createOrFold<arith::MulIOp>(a, constant(c));
}
Value I32Builder::shr(Value a, int64_t c) {
  return b.createOrFold<arith::ShRUIOp>(a, constant(c));
}
Value I32Builder::bitAnd(Value a, int64_t c) {
  return b.createOrFold<arith::AndIOp>(a, constant(c));
}
Value I32Builder::bitXor(Value a, Value c) {
  return b.createOrFold<arith::XOrIOp>(a, c);
}
Value I32Builder::bitXor(Value a, int64_t c) {
  return c ? bitXor(a, constant(c)) : a;
}
Value I32Builder::fromIndex(Value index) {
  auto cast = index.getDefiningOp<arith::IndexCastOp>();
  if (cast && cast.getIn().getType() == b.getI32Type())
    return cast.getIn();
  auto unsignedCast = index.getDefiningOp<arith::IndexCastUIOp>();
  if (unsignedCast && unsignedCast.getIn().getType() == b.getI32Type())
    return unsignedCast.getIn();
  return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), index);
}

Value fa::sharedPointer(ImplicitLocOpBuilder &b, Value address,
                        int64_t offset) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), 3);
  Value pointer = LLVM::IntToPtrOp::create(b, type, address);
  if (!offset)
    return pointer;
  return LLVM::GEPOp::create(
      b, type, b.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

void fa::fenceAsyncProxy(ImplicitLocOpBuilder &b) {
  NVVM::FenceProxyOp::create(
      b, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

void fa::buildGuarded(ImplicitLocOpBuilder &b, Value condition,
                      function_ref<void(ImplicitLocOpBuilder &)> build) {
  auto guard = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  auto inner =
      ImplicitLocOpBuilder::atBlockTerminator(b.getLoc(), guard.thenBlock());
  build(inner);
}

SmallVector<Value> fa::toElements(ImplicitLocOpBuilder &b, Value vector) {
  return llvm::to_vector_of<Value>(
      vector::ToElementsOp::create(b, vector).getResults());
}

Operation *fa::growBranch(RewriterBase &rewriter, Operation *op,
                          ValueRange otherwise) {
  rewriter.setInsertionPoint(op);
  OperationState state(op->getLoc(), op->getName(), op->getOperands(),
                       op->getResultTypes(), op->getAttrs());
  for (size_t n = 0; n < op->getNumRegions(); ++n)
    state.addRegion();
  state.types.append(otherwise.size(), rewriter.getI32Type());
  Operation *branch = rewriter.create(state);
  for (auto [from, to] : llvm::zip(op->getRegions(), branch->getRegions()))
    to.takeBody(from);
  Region &orElse = branch->getRegion(1);
  if (orElse.empty()) {
    rewriter.createBlock(&orElse);
    OperationState yield(
        op->getLoc(), branch->getRegion(0).front().getTerminator()->getName(),
        otherwise, {});
    rewriter.create(yield);
  }
  rewriter.replaceOp(op, branch->getResults().take_front(op->getNumResults()));
  return branch;
}

Value fa::pack(ImplicitLocOpBuilder &b, Value low, Value high) {
  auto pair = VectorType::get(2, low.getType());
  return LLVM::BitcastOp::create(b, b.getI32Type(),
                                 fromElements(b, pair, {low, high}));
}

Value fa::fromElements(ImplicitLocOpBuilder &b, Type type,
                       ArrayRef<Value> elements) {
  return vector::FromElementsOp::create(b, cast<VectorType>(type), elements);
}
