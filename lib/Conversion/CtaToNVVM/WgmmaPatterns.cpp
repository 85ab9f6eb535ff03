//===- WgmmaPatterns.cpp - Products to wgmma ------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product is one group of wgmma.mma_async, one instruction for each 64 rows
// and step of 16 along the depth, issued by one text of inline PTX: upstream's
// op has no form with A in registers, and between instructions of a product
// nothing may touch the accumulators. A wait passes the accumulators through
// itself, so that nobody can use them earlier, and holds the registers of A.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Hopper.h"
#include "fa/Conversion/CtaToNVVM/WgmmaDescriptor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fa;

/// Runs `text` on `operands`, of which the last `results` are replaced: outputs
/// $0 on are tied to them. The constraints of the others are `constraints`.
static SmallVector<Value> runTied(ImplicitLocOpBuilder &b, const Twine &text,
                                  ArrayRef<std::string> constraints,
                                  ArrayRef<Value> operands, int64_t results,
                                  bool areTied) {
  SmallVector<std::string> all(results, "=f");
  all.append(constraints.begin(), constraints.end());
  for (int64_t n = 0; areTied && n < results; ++n)
    all.push_back(std::to_string(n));
  all.push_back("~{memory}");
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(results, b.getF32Type()));
  Value packed =
      LLVM::InlineAsmOp::create(
          b, type, operands, text.str(), llvm::join(all, ","),
          /*has_side_effects=*/true, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  SmallVector<Value> values;
  for (int64_t n = 0; n < results; ++n)
    values.push_back(LLVM::ExtractValueOp::create(b, packed, n));
  return values;
}

/// "{$4,$5}" for `count` operands from `first` on.
static std::string listOperands(int64_t first, int64_t count) {
  std::string text = "{";
  for (int64_t n = 0; n < count; ++n)
    text += (n ? ",$" : "$") + std::to_string(first + n);
  return text + "}";
}

/// The low half of the descriptor of the tile at `address` (i32).
static Value buildDescriptor(ImplicitLocOpBuilder &b,
                             const WgmmaDescriptor &descriptor, Value address) {
  I32Builder i{b};
  return i.add(i.shr(address, llvm::Log2_64(kDescriptorUnit)),
               descriptor.lowBits());
}

/// The registers of A that a fragment's slab gives to all steps: 4 for each.
static SmallVector<Value> packSlab(ImplicitLocOpBuilder &b,
                                   ArrayRef<Value> elements,
                                   const FragmentLayout &layout, int64_t slab) {
  SmallVector<Value> registers;
  for (int64_t block = 0; block < layout.blocks(); ++block)
    for (int64_t e = 0; e < 4; e += 2)
      registers.push_back(pack(b, elements[layout.index(slab, block, e)],
                               elements[layout.index(slab, block, e + 1)]));
  return registers;
}

static SwizzledTile getSwizzled(cta::TileType type) {
  return {type.getRows(), type.getCols()};
}

namespace {
/// Issues the instructions of one product for one slab of 64 rows.
class ProductText {
public:
  ProductText(cta::MmaOp op, int64_t cols, bool isFirst)
      : type(op.getB().getType().getElementType().isBF16() ? "bf16" : "f16"),
        cols(cols), accumulators(listOperands(0, cols / 2)), isFirst(isFirst) {
    text = "{\n.reg .pred p, q;\n.reg .b64 da, db;\n.reg .b32 ta, tb;\n"
           "setp.ne.b32 p, 0, 0;\nsetp.eq.b32 q, 0, 0;\n"
           "wgmma.fence.sync.aligned;\n";
  }

  /// Makes `name` the descriptor whose low half is operand `operand` plus
  /// `offset`.
  void makeDescriptor(char name, int64_t operand, int64_t offset) {
    std::string letter(1, name);
    text += "add.s32 t" + letter + ", $" + std::to_string(operand) + ", " +
            std::to_string(offset) + ";\nmov.b64 d" + letter + ", {t" + letter +
            ", " + std::to_string(WgmmaDescriptor::highBits()) + "};\n";
  }
  /// Multiplies `a`, which is "da" or registers, by the descriptor db.
  void multiply(StringRef a, StringRef transposition) {
    text += ("wgmma.mma_async.sync.aligned.m64n" + Twine(cols) + "k16.f32." +
             type + "." + type + " " + accumulators + ", " + a + ", db, " +
             (isFirst ? "p" : "q") + ", 1, 1, " + transposition + ";\n")
                .str();
    isFirst = false;
  }
  std::string finish(bool commit) {
    return text + (commit ? "wgmma.commit_group.sync.aligned;\n}" : "}");
  }

private:
  std::string text;
  StringRef type;
  int64_t cols;
  std::string accumulators;
  bool isFirst; ///< nothing has been written to the accumulators yet
};

struct ConvertMma : OpConversionPattern<cta::MmaOp> {
  ConvertMma(const FragmentTypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context), converter(converter) {}

  LogicalResult
  matchAndRewrite(cta::MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = op.getFlight().getType();
    std::optional<FragmentLayout> layout = converter.getLayout(type);
    if (!layout || layout->kind != FragmentKind::Matrix)
      return rewriter.notifyMatchFailure(op, "no fragment of a warpgroup");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    bool hasAcc = op.getAcc() && !matchPattern(op.getAcc(), m_AnyZeroFloat());
    SmallVector<Value> acc, results;
    if (hasAcc)
      acc = toElements(b, adaptor.getAcc());
    int64_t count = layout->blocks() * 4;
    for (int64_t slab = 0; slab < layout->slabs(); ++slab)
      llvm::append_range(
          results,
          multiplySlab(b, op, adaptor, *layout, slab,
                       hasAcc ? ArrayRef<Value>(acc).slice(slab * count, count)
                              : ArrayRef<Value>()));
    rewriter.replaceOp(op,
                       fromElements(b, converter.convertType(type), results));
    return success();
  }

private:
  /// Issues a slab's instructions on its accumulators, which are empty where
  /// there is nothing to add to.
  SmallVector<Value> multiplySlab(ImplicitLocOpBuilder &b, cta::MmaOp op,
                                  OpAdaptor adaptor,
                                  const FragmentLayout &layout, int64_t slab,
                                  ArrayRef<Value> acc) const {
    int64_t results = layout.blocks() * 4;
    ProductText text(op, layout.cols, /*isFirst=*/acc.empty());
    WgmmaDescriptor right{getSwizzled(op.getB().getType()), op.getTranspose()};
    SmallVector<Value> operands = {buildDescriptor(b, right, adaptor.getB())};
    int64_t steps = op.getDepth() / kStepDepth;
    if (auto tile = dyn_cast<cta::TileType>(op.getA().getType())) {
      WgmmaDescriptor left{getSwizzled(tile), /*isKMajor=*/true};
      operands.push_back(buildDescriptor(b, left, adaptor.getA()));
      int64_t rows = WgmmaDescriptor::rowOffset(slab * kWgmmaRows);
      for (int64_t step = 0; step < steps; ++step) {
        text.makeDescriptor('a', results + 1, rows + left.stepOffset(step));
        text.makeDescriptor('b', results, right.stepOffset(step));
        text.multiply("da", op.getTranspose() ? "0, 0" : "0, 1");
      }
    } else {
      FragmentLayout left{FragmentKind::Matrix, layout.rows, op.getDepth(),
                          layout.warps};
      llvm::append_range(
          operands, packSlab(b, toElements(b, adaptor.getA()), left, slab));
      for (int64_t step = 0; step < steps; ++step) {
        text.makeDescriptor('b', results, right.stepOffset(step));
        text.multiply(listOperands(results + 1 + 4 * step, 4),
                      op.getTranspose() ? "0" : "1");
      }
    }
    SmallVector<std::string> constraints(operands.size(), "r");
    llvm::append_range(operands, acc);
    return runTied(b, text.finish(slab + 1 == layout.slabs()), constraints,
                   operands, results, !acc.empty());
  }

  const FragmentTypeConverter &converter;
};

struct ConvertWait : OpConversionPattern<cta::WaitOp> {
  ConvertWait(const FragmentTypeConverter &converter, MLIRContext *context,
              const HopperKernel &kernel)
      : OpConversionPattern(converter, context), converter(converter),
        kernel(kernel) {}

  LogicalResult
  matchAndRewrite(cta::WaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto mma = op.getFlight().getDefiningOp<cta::MmaOp>();
    SmallVector<Value> operands;
    if (std::optional<FragmentLayout> a =
            converter.getLayout(mma.getA().getType())) {
      SmallVector<Value> elements =
          toElements(b, rewriter.getRemappedValue(mma.getA()));
      for (int64_t slab = 0; slab < a->slabs(); ++slab)
        llvm::append_range(operands, packSlab(b, elements, *a, slab));
    }
    SmallVector<std::string> constraints(operands.size(), "r");
    SmallVector<Value> acc = toElements(b, adaptor.getFlight());
    llvm::append_range(operands, acc);
    std::string text = "wgmma.wait_group.sync.aligned " +
                       std::to_string(kernel.pending.lookup(op)) + ";";
    SmallVector<Value> results =
        runTied(b, text, constraints, operands, acc.size(), /*areTied=*/true);
    rewriter.replaceOp(op,
                       fromElements(b, adaptor.getFlight().getType(), results));
    return success();
  }

  const FragmentTypeConverter &converter;
  const HopperKernel &kernel;
};
} // namespace

void fa::populateWgmmaPatterns(const FragmentTypeConverter &converter,
                               const HopperKernel &kernel,
                               RewritePatternSet &patterns) {
  patterns.add<ConvertMma>(converter, patterns.getContext());
  patterns.add<ConvertWait>(converter, patterns.getContext(), kernel);
}
