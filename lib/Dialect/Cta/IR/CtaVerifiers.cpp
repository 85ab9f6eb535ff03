//===- CtaVerifiers.cpp - Verifiers of the cta dialect's operations -------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Cta/IR/Cta.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fa::cta;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// The work in front of `work` in the same block, if there is one.
static WorkOp getWorkBefore(WorkOp work) {
  Operation *before = work->getPrevNode();
  while (before && !isa<WorkOp>(before))
    before = before->getPrevNode();
  return dyn_cast_if_present<WorkOp>(before);
}

/// Checks what `work` carries from item to item.
static LogicalResult verifyCarried(WorkOp work) {
  TypeRange types = work.getResultTypes();
  TypeRange yielded = work.getBody().front().getTerminator()->getOperandTypes();
  if (TypeRange(work.getInits()) != types || yielded != types ||
      TypeRange(ValueRange(work.getCarried())) != types)
    return work.emitOpError("expects to carry and to yield its result types (")
           << types << "), but carries (" << work.getInits().getTypes()
           << ") and yields (" << yielded << ")";
  if (types.empty())
    return success();
  if (work.getMarked())
    return work.emitOpError(
        "expects to carry nothing where it is marked, since "
        "it leaves out items");
  if (work.getOrder().getPersistence() == Persistence::None)
    return work.emitOpError("expects a persistent order where it carries "
                            "values, but found ")
           << work.getOrder();
  if (!isa_and_present<RoleOp>(work->getParentOp()))
    return work.emitOpError("expects to stand in a cta.role where it carries "
                            "values, which are a team's");
  return success();
}

LogicalResult WorkOp::verify() {
  size_t carried = getInits().size();
  if (getBody().getNumArguments() != getExtents().size() + carried)
    return emitOpError("expects one coordinate for each extent, but found ")
           << int64_t(getBody().getNumArguments()) - int64_t(carried)
           << " coordinates and " << getExtents().size() << " extents";
  for (Type type : getCoordinates().getTypes())
    if (!type.isIndex())
      return emitOpError("expects coordinates of type index, but found ")
             << type;
  if (getExtents().empty())
    return emitOpError("expects at least one extent");
  if ((*this)->getParentOfType<WorkOp>())
    return emitOpError("must not stand inside another cta.work");
  if (failed(verifyCarried(*this)))
    return failure();
  if (!getMarked())
    return success();
  WorkOp first = getWorkBefore(*this);
  if (!isa<RoleOp>((*this)->getParentOp()) || !first || first.getMarked() ||
      ValueRange(first.getExtents()) != ValueRange(getExtents()) ||
      first.getOrder() != getOrder())
    return emitOpError("expects a cta.work that is not marked in front of it, "
                       "in the same role, of the same extents and order");
  for (WorkOp before = first; before; before = getWorkBefore(before))
    if (before.getMarked())
      return emitOpError("expects to be the role's only one that is marked");
  return success();
}

LogicalResult MarkOp::verify() {
  auto work = (*this)->getParentOfType<WorkOp>();
  Operation *after = work ? work->getNextNode() : nullptr;
  while (after && !isa<WorkOp>(after))
    after = after->getNextNode();
  auto again = dyn_cast_if_present<WorkOp>(after);
  if (!again || !again.getMarked() || work.getMarked())
    return emitOpError("must stand inside a cta.work that has a marked one "
                       "behind it");
  return success();
}

/// The largest block that the hardware starts.
static constexpr int64_t kMaxThreads = 1024;

LogicalResult RoleOp::verify() {
  if (getBody().getNumArguments() != 1 ||
      !getBody().getArgument(0).getType().isIndex())
    return emitOpError("expects the team's number as its one index argument");
  if (static_cast<int64_t>(getTeams()) < 1 ||
      static_cast<int64_t>(getWarps()) < 1)
    return emitOpError("expects at least one team and one warp, but found ")
           << static_cast<int64_t>(getTeams()) << " and "
           << static_cast<int64_t>(getWarps());
  // Each by itself first: their product may be over 64 bits.
  if (getTeams() > kMaxThreads || getWarps() > kMaxThreads ||
      getThreads() > kMaxThreads)
    return emitOpError("expects at most ")
           << kMaxThreads << " threads, but found " << getTeams()
           << " teams of " << getWarps() << " warps";
  std::optional<uint64_t> regs = getRegs();
  if (regs && (*regs < 24 || *regs > 256 || *regs % 8))
    return emitOpError("expects a register budget from 24 to 256 in steps of "
                       "8, but found ")
           << *regs;
  if ((*this)->getParentOfType<RoleOp>())
    return emitOpError("must not stand inside another cta.role");
  return success();
}

LogicalResult IfAnyOp::verify() {
  if (getNumResults() && getElseRegion().empty())
    return emitOpError("expects an else region where it has results");
  return success();
}

LogicalResult IfAnyOp::verifyRegions() {
  for (Region *region : {&getThenRegion(), &getElseRegion()}) {
    if (region->empty())
      continue;
    TypeRange found = region->front().getTerminator()->getOperandTypes();
    if (found != getResultTypes())
      return emitOpError("expects regions that yield its result types, but "
                         "found (")
             << found << ")";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Checks that `tile` can be read from `source` at `indices`.
static LogicalResult verifyTileOf(Operation *op, MemRefType source,
                                  size_t indices, TileType tile) {
  if (static_cast<size_t>(source.getRank()) != indices)
    return op->emitOpError("expects one index for each dimension of ")
           << source << ", but found " << indices;
  if (source.getRank() < 2)
    return op->emitOpError("expects a memref of at least 2 dimensions, but "
                           "found ")
           << source;
  if (source.getElementType() != tile.getElementType())
    return op->emitOpError("expects memref and tile of one element type, but "
                           "found ")
           << source.getElementType() << " and " << tile.getElementType();
  int64_t cols = source.getShape().back();
  if (!ShapedType::isDynamic(cols) && cols < tile.getCols())
    return op->emitOpError("expects a tile of at most the memref's ")
           << cols << " columns, but found " << tile.getCols();
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyTileOf(*this, cast<MemRefType>(getSource().getType()),
                      getIndices().size(), getTile().getType());
}

LogicalResult RingOp::verify() {
  std::optional<uint64_t> teams = getTeams();
  if (teams && (*teams < 1 || *teams > kMaxThreads))
    return emitOpError("expects to be each of 1 to ")
           << kMaxThreads << " teams', but found "
           << static_cast<int64_t>(*teams);
  return success();
}

LogicalResult AcquireOp::verify() {
  auto ring = getRing().getDefiningOp<RingOp>();
  if (ring && ring.getTeams() && !getTeam())
    return emitOpError("expects a team, since its ring is each team's");
  if (ring && !ring.getTeams() && getTeam())
    return emitOpError("expects no team, since its ring is all teams'");
  APInt team;
  if (ring && getTeam() && matchPattern(getTeam(), m_ConstantInt(&team)) &&
      team.uge(*ring.getTeams()))
    return emitOpError("expects a team below ")
           << *ring.getTeams() << ", but found " << team.getSExtValue();
  return success();
}

LogicalResult ConsumeOp::verify() {
  auto ring = getRing().getDefiningOp<RingOp>();
  auto role = (*this)->getParentOfType<RoleOp>();
  if (ring && role && ring.getTeams() && *ring.getTeams() != role.getTeams())
    return emitOpError("expects a ring of each of its role's ")
           << role.getTeams() << " teams, but found one of "
           << *ring.getTeams();
  return success();
}

LogicalResult CopyOp::verify() {
  auto acquire = getTile().getDefiningOp<AcquireOp>();
  if (!acquire)
    return emitOpError("expects a tile that cta.acquire gives");
  return verifyTileOf(*this, cast<MemRefType>(getSource().getType()),
                      getIndices().size(), getTile().getType());
}

LogicalResult ReleaseOp::verify() {
  if (!getTile().getDefiningOp<ConsumeOp>())
    return emitOpError("expects a tile that cta.consume gives");
  return success();
}

LogicalResult ReadOp::verify() {
  TileType tile = getTile().getType();
  auto expected =
      VectorType::get({tile.getRows(), tile.getCols()}, tile.getElementType());
  if (getFragment().getType() != expected)
    return emitOpError("expects the fragment ")
           << expected << ", but found " << getFragment().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Gives the shape and element type of a product's operand, a tile or a 2-D
/// fragment.
static FailureOr<VectorType> getMatrix(Type type) {
  if (auto tile = dyn_cast<TileType>(type))
    return VectorType::get({tile.getRows(), tile.getCols()},
                           tile.getElementType());
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.getRank() != 2 || vector.isScalable())
    return failure();
  return vector;
}

LogicalResult MmaOp::verify() {
  FailureOr<VectorType> a = getMatrix(getA().getType());
  if (failed(a))
    return emitOpError("expects a to be a tile or a 2-D fragment, but found ")
           << getA().getType();
  VectorType b = *getMatrix(getB().getType());
  if (a->getElementType() != b.getElementType())
    return emitOpError("expects a and b of one element type, but found ")
           << a->getElementType() << " and " << b.getElementType();
  if (!isa<FloatType>(b.getElementType()) || b.getElementTypeBitWidth() > 16)
    return emitOpError("expects operands of at most 16 bits, but found ")
           << b.getElementType();
  FlightType flight = getFlight().getType();
  int64_t depth = b.getDimSize(getTranspose() ? 1 : 0);
  int64_t cols = b.getDimSize(getTranspose() ? 0 : 1);
  if (a->getDimSize(1) != depth)
    return emitOpError("expects a of b's depth ")
           << depth << ", but found " << a->getDimSize(1);
  if (flight.getRows() != a->getDimSize(0) || flight.getCols() != cols)
    return emitOpError("expects a product of ")
           << a->getDimSize(0) << "x" << cols << ", but found "
           << flight.getRows() << "x" << flight.getCols();
  if (getAcc() && getAcc().getType() != flight.getFragmentType())
    return emitOpError("expects an accumulator of type ")
           << flight.getFragmentType() << ", but found " << getAcc().getType();
  return success();
}

LogicalResult WaitOp::verify() {
  if (static_cast<int64_t>(getPending()) < 0)
    return emitOpError("expects pending of at least 0, but found ")
           << static_cast<int64_t>(getPending());
  return success();
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Checks that a fragment or row vector of type `value` can lie in `memref` at
/// `numIndices` indices.
static LogicalResult verifyInMemory(Operation *op, VectorType value,
                                    MemRefType memref, size_t numIndices) {
  if (value.getRank() > 2)
    return op->emitOpError("expects a fragment or a row vector, but found ")
           << value;
  if (memref.getRank() < value.getRank())
    return op->emitOpError("expects a memref of at least ")
           << value.getRank() << " dimensions, but found " << memref;
  if (static_cast<size_t>(memref.getRank()) != numIndices)
    return op->emitOpError("expects one index for each dimension of ")
           << memref << ", but found " << numIndices;
  if (value.getElementType() != memref.getElementType())
    return op->emitOpError("expects value and memref of one element type, but "
                           "found ")
           << value.getElementType() << " and " << memref.getElementType();
  int64_t cols = memref.getShape().back();
  if (value.getRank() == 2 && !ShapedType::isDynamic(cols) &&
      cols < value.getDimSize(1))
    return op->emitOpError("expects a fragment of at most the memref's ")
           << cols << " columns, but found " << value.getDimSize(1);
  return success();
}

LogicalResult StoreOp::verify() {
  return verifyInMemory(*this, cast<VectorType>(getValue().getType()),
                        cast<MemRefType>(getDestination().getType()),
                        getIndices().size());
}

LogicalResult FetchOp::verify() {
  return verifyInMemory(*this, cast<VectorType>(getValue().getType()),
                        cast<MemRefType>(getSource().getType()),
                        getIndices().size());
}

/// Checks that `op`, at which teams meet, has teams.
static LogicalResult verifyInRole(Operation *op) {
  if (!op->getParentOfType<RoleOp>())
    return op->emitOpError("expects to stand in a cta.role, whose teams meet");
  return success();
}

LogicalResult CombineOp::verify() {
  using vector::CombiningKind;
  switch (getKind()) {
  case CombiningKind::ADD:
  case CombiningKind::MUL:
  case CombiningKind::MINNUMF:
  case CombiningKind::MAXNUMF:
  case CombiningKind::MINIMUMF:
  case CombiningKind::MAXIMUMF:
    break;
  default:
    return emitOpError("expects a kind of floats, but found ")
           << vector::stringifyCombiningKind(getKind());
  }
  return verifyInRole(*this);
}

LogicalResult FoldOp::verify() {
  VectorType value = getValue().getType(), acc = getAcc().getType();
  if (value.getDimSize(0) != acc.getDimSize(0))
    return emitOpError("expects as many rows as the accumulator's ")
           << acc.getDimSize(0) << ", but found " << value.getDimSize(0);
  if (value.getDimSize(1) % acc.getDimSize(1))
    return emitOpError("expects columns in multiples of the accumulator's ")
           << acc.getDimSize(1) << ", but found " << value.getDimSize(1);
  return success();
}

LogicalResult MeetOp::verify() { return verifyInRole(*this); }

/// The shape that holds all of `indices`: [R], [1, C] or [R, C]; empty where
/// all are scalars. Fails where they hold no common one.
static FailureOr<SmallVector<int64_t>> joinIndexShapes(TypeRange indices) {
  std::optional<int64_t> rows, columns;
  auto meet = [](std::optional<int64_t> &size, int64_t found) {
    if (size && *size != found)
      return false;
    size = found;
    return true;
  };
  for (Type type : indices) {
    auto vector = dyn_cast<VectorType>(type);
    if (!vector)
      continue;
    if (vector.getRank() != 1 && vector.getRank() != 2)
      return failure();
    bool isRow = vector.getRank() == 1;
    bool onRows = isRow || vector.getDimSize(0) != 1;
    if ((onRows && !meet(rows, vector.getDimSize(0))) ||
        (!isRow && !meet(columns, vector.getDimSize(1))))
      return failure();
  }
  SmallVector<int64_t> shape;
  if (rows || columns)
    shape.push_back(rows.value_or(1));
  if (columns)
    shape.push_back(*columns);
  return shape;
}

LogicalResult LookupOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  VectorType result = getResult().getType();
  if (static_cast<size_t>(source.getRank()) != getIndices().size())
    return emitOpError("expects one index for each dimension of ")
           << source << ", but found " << getIndices().size();
  if (source.getElementType() != result.getElementType())
    return emitOpError("expects memref and result of one element type, but "
                       "found ")
           << source.getElementType() << " and " << result.getElementType();
  FailureOr<SmallVector<int64_t>> shape =
      joinIndexShapes(getIndices().getTypes());
  if (failed(shape))
    return emitOpError("expects indices of rows <R>, columns <1xC> and "
                       "elements <RxC> of one fragment, but found (")
           << getIndices().getTypes() << ")";
  if (shape->empty())
    return emitOpError("expects an index that differs from element to element, "
                       "but found (")
           << getIndices().getTypes() << ")";
  if (ArrayRef(*shape) != result.getShape())
    return emitOpError("expects a result of the indices' shape ")
           << VectorType::get(*shape, result.getElementType()) << ", but found "
           << result;
  return success();
}

/// Checks the type of `cta.row` or `cta.col`: at most 2 dimensions.
static LogicalResult verifyIota(Operation *op, Type type) {
  if (cast<VectorType>(type).getRank() < 1 ||
      cast<VectorType>(type).getRank() > 2)
    return op->emitOpError("expects a result of 1 or 2 dimensions, but found ")
           << type;
  return success();
}

LogicalResult RowOp::verify() {
  return verifyIota(*this, getResult().getType());
}

LogicalResult ColOp::verify() {
  if (failed(verifyIota(*this, getResult().getType())))
    return failure();
  if (cast<VectorType>(getResult().getType()).getRank() != 2)
    return emitOpError("expects a result of 2 dimensions, but found ")
           << getResult().getType();
  return success();
}
