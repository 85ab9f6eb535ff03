//===- ElementwisePatterns.cpp - Arithmetic on fragments ------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise operations keep their name and change their types only; the
// functions that the hardware approximates become its instructions.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Lowering.h"
#include "fa/Support/Conjuncts.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fa;

/// One PTX instruction without side effects.
static Value buildInstruction(ImplicitLocOpBuilder &b, StringRef instruction,
                              StringRef constraints, Type type,
                              ValueRange operands) {
  return LLVM::InlineAsmOp::create(b, type, operands, instruction, constraints,
                                   /*has_side_effects=*/false,
                                   /*is_align_stack=*/false,
                                   LLVM::TailCallKind::None,
                                   LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

namespace {
/// Any elementwise operation on fragments of one shape.
struct ConvertElementwise : ConversionPattern {
  ConvertElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1,
                          context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op))
      return rewriter.notifyMatchFailure(op, "not elementwise");
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, "result types not convertible");
    SmallVector<Value> values(operands);
    if (auto select = dyn_cast<arith::SelectOp>(op))
      broadcastCondition(select, types.front(), values, rewriter);
    OperationState state(op->getLoc(), op->getName(), values, types,
                         op->getAttrs());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }

private:
  /// A scalar condition is made a vector, as LLVM's arrays of vectors need it.
  static void broadcastCondition(arith::SelectOp select, Type type,
                                 SmallVectorImpl<Value> &operands,
                                 OpBuilder &builder) {
    auto vector = dyn_cast<VectorType>(type);
    if (!vector || isa<VectorType>(select.getCondition().getType()))
      return;
    operands[0] = vector::BroadcastOp::create(builder, select.getLoc(),
                                              vector.clone(builder.getI1Type()),
                                              operands[0]);
  }
};

/// A splat constant.
struct ConvertConstant : OpConversionPattern<arith::ConstantOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    auto type = dyn_cast_or_null<VectorType>(
        getTypeConverter()->convertType(op.getType()));
    if (!splat || !type)
      return rewriter.notifyMatchFailure(op, "not a splat");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, splat.resizeSplat(type));
    return success();
  }
};

/// A select by a conjunction of masks, element by element. LLVM would take it
/// apart into one select after another, as for targets with one condition
/// register; an `and.pred` that it does not look into ptxas folds into the
/// comparison before it, and selects once.
struct ConvertMaskedSelect : OpConversionPattern<arith::SelectOp> {
  ConvertMaskedSelect(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(arith::SelectOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(adaptor.getTrueValue().getType());
    SmallVector<Value> conjuncts;
    collectConjuncts(op.getCondition(), conjuncts);
    if (!type || conjuncts.size() < 2 ||
        !isa<VectorType>(conjuncts[0].getType()))
      return rewriter.notifyMatchFailure(op, "not by a conjunction of masks");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<SmallVector<Value>> masks;
    for (Value conjunct : conjuncts)
      masks.push_back(toElements(b, rewriter.getRemappedValue(conjunct)));
    SmallVector<Value> elements;
    for (auto [n, yes, no] :
         llvm::enumerate(toElements(b, adaptor.getTrueValue()),
                         toElements(b, adaptor.getFalseValue()))) {
      Value mask = masks.front()[n];
      for (ArrayRef<Value> other : ArrayRef(masks).drop_front())
        mask = buildInstruction(b, "and.pred $0, $1, $2;", "=b,b,b",
                                b.getI1Type(), {mask, other[n]});
      elements.push_back(arith::SelectOp::create(b, mask, yes, no));
    }
    rewriter.replaceOp(op, fromElements(b, type, elements));
    return success();
  }
};

/// bf16 into f32. A bf16 is the upper half of the f32, and a register has two:
/// one operation each. A conversion instruction takes a 16-bit register, which
/// costs another operation for every second one.
struct ConvertExtend : OpConversionPattern<arith::ExtFOp> {
  ConvertExtend(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(arith::ExtFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto source = dyn_cast<VectorType>(adaptor.getIn().getType());
    auto type = dyn_cast_or_null<VectorType>(
        getTypeConverter()->convertType(op.getType()));
    if (!source || !type || !source.getElementType().isBF16() ||
        !type.getElementType().isF32() || source.getNumElements() % 2)
      return rewriter.notifyMatchFailure(op, "no pairs of bf16 into f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto pairType = VectorType::get(2, b.getBF16Type());
    Value half = arith::ConstantOp::create(b, b.getI32IntegerAttr(16));
    Value upper =
        arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(0xffff0000u)));
    SmallVector<Value> narrow = toElements(b, adaptor.getIn()), wide;
    for (size_t n = 0; n < narrow.size(); n += 2) {
      Value pair = fromElements(b, pairType, ArrayRef(narrow).slice(n, 2));
      Value bits = LLVM::BitcastOp::create(b, b.getI32Type(), pair);
      for (Value word : {arith::ShLIOp::create(b, bits, half).getResult(),
                         arith::AndIOp::create(b, bits, upper).getResult()})
        wide.push_back(LLVM::BitcastOp::create(b, b.getF32Type(), word));
    }
    rewriter.replaceOp(op, fromElements(b, type, wide));
    return success();
  }
};

/// Builds a function's value of one f32.
using BuildFunction = Value (*)(ImplicitLocOpBuilder &, Value);

/// An f32 function that is an instruction or two, on a fragment or a scalar.
template <typename OpTy> struct ConvertFunction : OpConversionPattern<OpTy> {
  ConvertFunction(const TypeConverter &converter, MLIRContext *context,
                  BuildFunction build)
      : OpConversionPattern<OpTy>(converter, context, /*benefit=*/2),
        build(build) {}

  LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value operand = adaptor.getOperand();
    if (!isa<VectorType>(operand.getType())) {
      rewriter.replaceOp(op, build(b, operand));
      return success();
    }
    SmallVector<Value> elements = toElements(b, operand);
    for (Value &element : elements)
      element = build(b, element);
    rewriter.replaceOp(op, fromElements(b, operand.getType(), elements));
    return success();
  }

  BuildFunction build;
};
} // namespace

/// Calls the NVVM intrinsic `name` on one f32.
static Value callIntrinsic(ImplicitLocOpBuilder &b, StringRef name,
                           Value operand) {
  return LLVM::CallIntrinsicOp::create(b, b.getF32Type(), b.getStringAttr(name),
                                       operand)
      ->getResult(0);
}

static Value multiply(ImplicitLocOpBuilder &b, Value operand, float factor) {
  Value constant =
      arith::ConstantFloatOp::create(b, b.getF32Type(), APFloat(factor));
  return arith::MulFOp::create(b, operand, constant);
}

static Value buildExp2(ImplicitLocOpBuilder &b, Value x) {
  return callIntrinsic(b, "llvm.nvvm.ex2.approx.ftz", x);
}

static Value buildLog2(ImplicitLocOpBuilder &b, Value x) {
  return callIntrinsic(b, "llvm.nvvm.lg2.approx.ftz.f", x);
}

static Value buildExp(ImplicitLocOpBuilder &b, Value x) {
  return buildExp2(b, multiply(b, x, llvm::numbers::log2ef));
}

static Value buildLog(ImplicitLocOpBuilder &b, Value x) {
  return multiply(b, buildLog2(b, x), llvm::numbers::ln2f);
}

static Value buildTanh(ImplicitLocOpBuilder &b, Value x) {
  return buildInstruction(b, "tanh.approx.f32 $0, $1;", "=f,f", b.getF32Type(),
                          x);
}

static Value buildAbs(ImplicitLocOpBuilder &b, Value x) {
  return callIntrinsic(b, "llvm.fabs.f32", x);
}

static Value buildFloor(ImplicitLocOpBuilder &b, Value x) {
  return callIntrinsic(b, "llvm.floor.f32", x);
}

static Value buildCeil(ImplicitLocOpBuilder &b, Value x) {
  return callIntrinsic(b, "llvm.ceil.f32", x);
}

static Value buildSqrt(ImplicitLocOpBuilder &b, Value x) {
  return callIntrinsic(b, "llvm.sqrt.f32", x);
}

static Value buildRsqrt(ImplicitLocOpBuilder &b, Value x) {
  return callIntrinsic(b, "llvm.nvvm.rsqrt.approx.f", x);
}

void fa::populateElementwisePatterns(const FragmentTypeConverter &converter,
                                     RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ConvertElementwise, ConvertConstant, ConvertMaskedSelect,
               ConvertExtend>(converter, context);
  patterns.add<ConvertFunction<math::Exp2Op>>(converter, context, buildExp2);
  patterns.add<ConvertFunction<math::Log2Op>>(converter, context, buildLog2);
  patterns.add<ConvertFunction<math::ExpOp>>(converter, context, buildExp);
  patterns.add<ConvertFunction<math::LogOp>>(converter, context, buildLog);
  patterns.add<ConvertFunction<math::TanhOp>>(converter, context, buildTanh);
  patterns.add<ConvertFunction<math::RsqrtOp>>(converter, context, buildRsqrt);
  patterns.add<ConvertFunction<math::AbsFOp>>(converter, context, buildAbs);
  patterns.add<ConvertFunction<math::FloorOp>>(converter, context, buildFloor);
  patterns.add<ConvertFunction<math::CeilOp>>(converter, context, buildCeil);
  patterns.add<ConvertFunction<math::SqrtOp>>(converter, context, buildSqrt);
}
