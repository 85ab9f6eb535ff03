//===- Spec.cpp - One kernel to make -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Spec.h"

#include "Extras.h"
#include "Program.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"
#include "fa/Support/ArgumentNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace fa;

/// "bf16" and so on.
static std::string nameOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

/// The scale as an argument of the function: the runtime passes it.
static LogicalResult makeScaleAnArgument(func::FuncOp function,
                                         attn::ForwardOp op) {
  if (op.getScale()) {
    if (isa<BlockArgument>(op.getScale()))
      return success();
    return op.emitOpError("the scale of a kernel is an argument of its "
                          "function, or left out; found a computed one");
  }
  unsigned index = function.getNumArguments();
  Type f32 = Float32Type::get(op.getContext());
  if (failed(function.insertArgument(index, f32, {}, op.getLoc())))
    return failure();
  op.getScaleMutable().assign(function.getArgument(index));
  return success();
}

/// The manifest's entry of an argument that the runtime knows: tensors of the
/// rank of q, lse of one less, and the scale.
static llvm::json::Object describeKnown(StringRef name, int64_t rank) {
  if (name == "scale")
    return llvm::json::Object{{"kind", "f32"}, {"name", name.str()}};
  return llvm::json::Object{{"kind", "tensor"},
                            {"name", name.str()},
                            {"rank", name == "lse" ? rank - 1 : rank}};
}

std::optional<Lengths> fa::parseLengths(StringRef name) {
  return llvm::StringSwitch<std::optional<Lengths>>(name)
      .Case("any", Lengths::Any)
      .Case("short", Lengths::Short)
      .Case("decode", Lengths::Decode)
      .Default(std::nullopt);
}

/// The manifest's entry of the sequences' lengths or starts: an extra argument
/// of a fixed name.
static llvm::json::Object describeLengths(StringRef name, StringRef size) {
  return llvm::json::Object{
      {"kind", "tensor"},
      {"name", name.str()},
      {"dtype", "i32"},
      {"rank", 1},
      {"sizes", llvm::json::Array{llvm::json::Array{size.str()}}}};
}

/// What the manifest says of each argument and result.
static LogicalResult nameParams(func::FuncOp function, attn::ForwardOp op,
                                KernelSpec &spec) {
  spec.params.assign(function.getNumArguments(), "");
  auto name = [&](Value value, const char *text) -> LogicalResult {
    auto arg = dyn_cast<BlockArgument>(value);
    if (!arg)
      return op.emitOpError("operand ")
             << text << " is not an argument of the function";
    if (!spec.params[arg.getArgNumber()].empty())
      return op.emitOpError("operands ")
             << spec.params[arg.getArgNumber()] << " and " << text
             << " are one argument: a kernel takes one of its own for each";
    spec.params[arg.getArgNumber()] = text;
    return success();
  };
  if (failed(name(op.getQ(), "q")) || failed(name(op.getK(), "k")) ||
      failed(name(op.getV(), "v")) || failed(name(op.getScale(), "scale")))
    return failure();
  std::vector<llvm::json::Object> extras(spec.params.size());
  for (auto [value, text, size] :
       {std::tuple(op.getKvLens(), "kv_lens", "batch"),
        std::tuple(op.getCuSeqlensQ(), "cu_seqlens_q", "sequence_starts"),
        std::tuple(op.getCuSeqlensKV(), "cu_seqlens_kv", "sequence_starts")}) {
    if (!value)
      continue;
    if (failed(name(value, text)))
      return failure();
    extras[cast<BlockArgument>(value).getArgNumber()] =
        describeLengths(text, size);
  }
  for (auto [index, param] : llvm::enumerate(spec.params)) {
    if (!param.empty())
      continue;
    FailureOr<llvm::json::Object> extra =
        describeExtra(function.getArgument(index), op);
    if (failed(extra))
      return failure();
    param = extra->getString("name")->str();
    extras[index] = std::move(*extra);
  }
  Operation *ret = function.getBody().front().getTerminator();
  if (ret->getNumOperands() != 2 || ret->getOperand(0) != op.getO() ||
      ret->getOperand(1) != op.getLse())
    return ret->emitOpError("must return o and lse of the attention");
  spec.params.push_back("o");
  spec.params.push_back("lse");
  extras.resize(spec.params.size());
  llvm::StringSet<> names;
  for (auto [name, extra] : llvm::zip_equal(spec.params, extras)) {
    if (!names.insert(name).second)
      return function.emitError("two arguments have the name ") << name;
    spec.entries.push_back(
        extra.empty() ? describeKnown(name, op.getQ().getType().getRank())
                      : std::move(extra));
  }
  return success();
}

/// The variant's name: that of the sugar alone, or the given one.
static std::string variantName(attn::ForwardOp op, StringRef fallback) {
  ArrayAttr variants = op.getVariantsAttr();
  bool hasRegions = !op.getMaskRegion().empty() || !op.getScoreRegion().empty();
  if (op.isRagged())
    return fallback.str();
  if (!hasRegions && (!variants || variants.empty()))
    return "full";
  if (!hasRegions && variants.size() == 1 && isa<attn::CausalAttr>(variants[0]))
    return "causal";
  return fallback.str();
}

void fa::printFunction(func::FuncOp function, KernelSpec &spec) {
  auto print = [&](std::string &text, bool hasLocations) {
    OpPrintingFlags flags;
    flags.enableDebugInfo(hasLocations).useLocalScope();
    llvm::raw_string_ostream os(text);
    os << "module {\n";
    function.print(os, flags);
    os << "\n}\n";
  };
  print(spec.source, /*hasLocations=*/false);
  print(spec.located, /*hasLocations=*/true);
}

/// Why there are no kernels of head dimensions; empty where there are.
static std::string whyNoHeadDims(HeadDims dims) {
  constexpr int64_t most = 256, unit = 16;
  for (int64_t dim : {dims.qk, dims.v})
    if (dim < unit || dim > most || dim % unit != 0)
      return "head dimensions are multiples of 16 from 16 to 256, found " +
             std::to_string(dim);
  return "";
}

/// A spec of `function`, in a module of its own.
static FailureOr<KernelSpec> specOf(func::FuncOp function, StringRef fallback) {
  SmallVector<attn::ForwardOp> ops;
  function.walk([&](attn::ForwardOp op) { ops.push_back(op); });
  if (ops.size() != 1)
    return function.emitError("a kernel's function holds one attn.forward, "
                              "found ")
           << ops.size();
  attn::ForwardOp op = ops.front();
  KernelSpec spec;
  spec.variant = variantName(op, fallback);
  bool isOwn = op.isRagged() || !op.getMaskRegion().empty() ||
               !op.getScoreRegion().empty();
  if (isOwn && (spec.variant == "full" || spec.variant == "causal"))
    return op.emitOpError(
               "a variant of one's own takes its name from its file, "
               "which must not be '")
           << spec.variant << "'";
  spec.function = function.getName().str();
  spec.dtype = nameOf(op.getQ().getType().getElementType());
  spec.headDim = op.getHeadDim();
  spec.headDimV = op.getHeadDimV();
  spec.problem = attn::getProblem(op);
  spec.rescale = attn::chooseRescale(op);
  if (!op.isBatched() && !op.isPacked())
    return op.emitOpError("kernels take q, k and v of [B, H, S, D], or packed "
                          "sequences of [H, T, D] with cu_seqlens: write one "
                          "sequence as a batch of one");
  if (spec.dtype == "f32")
    return op.emitOpError("kernels take bf16 and f16, found f32");
  std::string reason = whyNoHeadDims({spec.headDim, spec.headDimV});
  if (!reason.empty())
    return emitError(op.getLoc(), reason);
  if (failed(makeScaleAnArgument(function, op)) ||
      failed(nameParams(function, op, spec)))
    return failure();
  printFunction(function, spec);
  return spec;
}

std::optional<HeadDims> fa::parseHeadDims(StringRef text) {
  auto [qk, v] = text.split('/');
  HeadDims dims;
  if (qk.getAsInteger(10, dims.qk))
    return std::nullopt;
  dims.v = dims.qk;
  if (text.contains('/') && v.getAsInteger(10, dims.v))
    return std::nullopt;
  return dims;
}

FailureOr<KernelSpec> fa::makeSpec(MLIRContext &context, HeadDims dims,
                                   StringRef dtype, StringRef mask) {
  Location loc = UnknownLoc::get(&context);
  if (dtype != "bf16" && dtype != "f16")
    return emitError(loc, "unknown element type '")
           << dtype << "', expected bf16 or f16";
  if (mask != "none" && mask != "causal")
    return emitError(loc, "unknown mask '")
           << mask << "', expected none or causal";
  std::string reason = whyNoHeadDims(dims);
  if (!reason.empty())
    return emitError(loc, reason);
  context.loadDialect<attn::AttnDialect, func::FuncDialect>();
  OpBuilder builder(&context);
  // What a diagnostic on this kernel points at.
  loc = NameLoc::get(builder.getStringAttr(
      dtype + " D " + llvm::Twine(dims.qk) + ", mask " + mask));
  Type element = dtype == "bf16" ? Type(builder.getBF16Type())
                                 : Type(builder.getF16Type());
  int64_t dynamic = ShapedType::kDynamic;
  auto makeTensor = [&](int64_t dim) {
    return RankedTensorType::get({dynamic, dynamic, dynamic, dim}, element);
  };
  RankedTensorType q = makeTensor(dims.qk), v = makeTensor(dims.v);
  auto rows =
      RankedTensorType::get({dynamic, dynamic, dynamic}, builder.getF32Type());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(
      builder, loc, "attention",
      builder.getFunctionType({q, q, v, builder.getF32Type()}, {v, rows}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  ArrayAttr variants;
  if (mask == "causal")
    variants = builder.getArrayAttr({attn::CausalAttr::get(&context)});
  auto op = attn::ForwardOp::create(
      builder, loc, TypeRange{v, rows}, body->getArgument(0),
      body->getArgument(1), body->getArgument(2), /*cuSeqlensQ=*/Value(),
      /*cuSeqlensKV=*/Value(), /*kvLens=*/Value(), body->getArgument(3),
      variants);
  func::ReturnOp::create(builder, loc, op->getResults());
  return specOf(function, "");
}

FailureOr<std::vector<KernelSpec>> fa::readSpecs(MLIRContext &context,
                                                 StringRef path) {
  std::string problem;
  auto buffer = openInputFile(path, &problem);
  if (!buffer)
    return emitError(UnknownLoc::get(&context), problem);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  StringRef text = buffer->getBuffer();
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return failure();
  std::vector<KernelSpec> specs;
  for (auto function : module->getOps<func::FuncOp>()) {
    bool hasAttention =
        function.walk([](attn::ForwardOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (!hasAttention && !isProgram(function))
      continue;
    nameArguments(function.getBody().front(), text);
    FailureOr<KernelSpec> spec =
        hasAttention ? specOf(function, llvm::sys::path::stem(path))
                     : makeProgramSpec(function);
    if (failed(spec))
      return failure();
    specs.push_back(*spec);
  }
  if (specs.empty())
    return module->emitError("no function holds an attn.forward, or has a "
                             "schedule of its own (attn.schedule)");
  return specs;
}
