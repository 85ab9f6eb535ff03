//===- CtaOps.cpp - Assembly forms of the cta dialect's operations --------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Cta/IR/Cta.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fa::cta;

#define GET_OP_CLASSES
#include "fa/Dialect/Cta/IR/CtaOps.cpp.inc"

//===----------------------------------------------------------------------===//
// WorkOp
//===----------------------------------------------------------------------===//

/// Parses `iter_args(%a = %init, ...) -> (types)`, if it is there: the
/// arguments go to `arguments`, the rest to `result`. Returns how many there
/// are.
static FailureOr<int32_t>
parseCarried(OpAsmParser &parser, OperationState &result,
             SmallVectorImpl<OpAsmParser::Argument> &arguments) {
  if (failed(parser.parseOptionalKeyword("iter_args")))
    return 0;
  SmallVector<OpAsmParser::Argument> carried;
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAssignmentList(carried, inits) ||
      parser.parseArrowTypeList(result.types) ||
      parser.resolveOperands(inits, result.types, loc, result.operands))
    return failure();
  for (auto [argument, type] : llvm::zip_equal(carried, result.types))
    argument.type = type;
  llvm::append_range(arguments, carried);
  return carried.size();
}

ParseResult WorkOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> extents;
  OrderAttr order;
  Type index = parser.getBuilder().getIndexType();
  if (succeeded(parser.parseOptionalKeyword("marked")))
    result.addAttribute("marked", parser.getBuilder().getUnitAttr());
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("in") ||
      parser.parseOperandList(extents, OpAsmParser::Delimiter::Paren) ||
      parser.resolveOperands(extents, index, result.operands) ||
      parser.parseKeyword("order") || parser.parseLParen() ||
      parser.parseAttribute(order, "order", result.attributes) ||
      parser.parseRParen())
    return failure();
  for (OpAsmParser::Argument &coordinate : arguments)
    coordinate.type = index;
  FailureOr<int32_t> carried = parseCarried(parser, result, arguments);
  if (failed(carried) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  llvm::copy(
      ArrayRef<int32_t>({int32_t(extents.size()), *carried}),
      result.getOrAddProperties<Properties>().operandSegmentSizes.begin());
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void WorkOp::print(OpAsmPrinter &printer) {
  printer << (getMarked() ? " marked (" : " (");
  printer.printOperands(getCoordinates());
  printer << ") in (";
  printer.printOperands(getExtents());
  printer << ") order(" << getOrder() << ')';
  if (!getInits().empty()) {
    printer << " iter_args(";
    llvm::interleaveComma(
        llvm::zip_equal(getCarried(), getInits()), printer, [&](auto pair) {
          printer << std::get<0>(pair) << " = " << std::get<1>(pair);
        });
    printer << ") -> (" << getResultTypes() << ')';
  }
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {"order", "marked", getOperandSegmentSizeAttr()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/getNumResults() != 0);
}

//===----------------------------------------------------------------------===//
// RoleOp
//===----------------------------------------------------------------------===//

/// Parses `keyword(integer)` into the attribute `keyword`.
static ParseResult parseCount(OpAsmParser &parser, OperationState &result,
                              StringRef keyword) {
  int64_t value;
  if (parser.parseLParen() || parser.parseInteger(value) ||
      parser.parseRParen())
    return failure();
  result.addAttribute(keyword, parser.getBuilder().getI64IntegerAttr(value));
  return success();
}

ParseResult RoleOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  OpAsmParser::Argument team;
  int64_t teams;
  Builder &builder = parser.getBuilder();
  if (parser.parseAttribute(name, "name", result.attributes) ||
      parser.parseKeyword("teams") || parser.parseLParen() ||
      parser.parseArgument(team) || parser.parseKeyword("in") ||
      parser.parseInteger(teams) || parser.parseRParen() ||
      parser.parseKeyword("warps") || parseCount(parser, result, "warps"))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("regs")) &&
      parseCount(parser, result, "regs"))
    return failure();
  result.addAttribute("teams", builder.getI64IntegerAttr(teams));
  team.type = builder.getIndexType();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, team))
    return failure();
  ensureTerminator(*body, builder, result.location);
  return success();
}

void RoleOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNameAttr() << " teams(";
  printer.printOperand(getTeam());
  printer << " in " << getTeams() << ") warps(" << getWarps() << ')';
  if (std::optional<uint64_t> regs = getRegs())
    printer << " regs(" << *regs << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"name", "teams", "warps", "regs"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

//===----------------------------------------------------------------------===//
// MmaOp
//===----------------------------------------------------------------------===//

ParseResult MmaOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand a, b, acc;
  Type aType, bType;
  FlightType flight;
  if (parser.parseOperand(a) || parser.parseComma())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("transpose")))
    result.addAttribute("transpose", parser.getBuilder().getUnitAttr());
  if (parser.parseOperand(b))
    return failure();
  bool hasAcc = succeeded(parser.parseOptionalKeyword("into"));
  if ((hasAcc && parser.parseOperand(acc)) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.parseType(aType) || parser.parseComma() ||
      parser.parseType(bType) || parser.parseArrow() ||
      parser.parseType(flight) ||
      parser.resolveOperand(a, aType, result.operands) ||
      parser.resolveOperand(b, bType, result.operands) ||
      (hasAcc &&
       parser.resolveOperand(acc, flight.getFragmentType(), result.operands)))
    return failure();
  result.addTypes(flight);
  return success();
}

void MmaOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getA() << ", ";
  if (getTranspose())
    printer << "transpose ";
  printer << getB();
  if (getAcc())
    printer << " into " << getAcc();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"transpose"});
  printer << " : " << getA().getType() << ", " << getB().getType() << " -> "
          << getFlight().getType();
}

int64_t MmaOp::getDepth() {
  if (auto tile = dyn_cast<TileType>(getA().getType()))
    return tile.getCols();
  return cast<VectorType>(getA().getType()).getDimSize(1);
}
